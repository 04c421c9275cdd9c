"""The far side of the wire, for every flow test: a scripted upstream, a scripted NLI model, a real HTTP server.

In: scripts (what to answer, byte by byte) and any ASGI app. Out: recorded calls, and base URLs on loopback.
They stand apart because the product is tested against what it sends and receives, never against its insides.
"""

from fakes.call import AnyTask, Call
from fakes.forwarder import Forwarder
from fakes.gate import Gate
from fakes.llm import Ask, FakeLlm
from fakes.nli import FakeNli, compare_words, contradicts, entails, neutral, probabilities, signed
from fakes.replies import (
    chunk,
    claims_by_sentence,
    claims_reply,
    completion,
    corrections,
    error,
    html,
    sse,
    talk,
)
from fakes.script import F, R, Script, T
from fakes.server import connect, serve
from fakes.step import CLOSE, HANG, Step, raw
from fakes.upstream import ScriptedUpstream, by_instruction

__all__ = [
    "CLOSE",
    "HANG",
    "AnyTask",
    "Ask",
    "Call",
    "F",
    "FakeLlm",
    "FakeNli",
    "Forwarder",
    "Gate",
    "R",
    "Script",
    "ScriptedUpstream",
    "Step",
    "T",
    "by_instruction",
    "chunk",
    "claims_by_sentence",
    "claims_reply",
    "compare_words",
    "completion",
    "connect",
    "contradicts",
    "corrections",
    "entails",
    "error",
    "html",
    "neutral",
    "probabilities",
    "raw",
    "serve",
    "signed",
    "sse",
    "talk",
]
