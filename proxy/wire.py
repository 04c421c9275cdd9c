"""OpenAI's shapes, in and out, as far as verification needs to understand them (contract, sections 2 to 4).

In: the bytes of a request or of a completion. Out: `ChatRequest` and `Completion`, views that name what the
stages read and keep every member's own bytes for the way out, so that unknown fields, number formats and escapes
survive. The table of what is not verified, and why, stands here too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw

Skipped = Literal[
    "no_claims",
    "not_factual",
    "tool_calls",
    "json_response",
    "refusal",
    "no_user_text",
    "empty",
    "content_filter",
]
"""Why there was nothing to verify."""

_JSON_FORMATS: Final = frozenset({"json_object", "json_schema"})
_INSTRUCTING_ROLES: Final = frozenset({"system", "developer", "tool", "function"})


@dataclass(frozen=True)
class ChatRequest:
    """A chat completion request; odd values are left for the upstream to refuse."""

    members: Mapping[str, Any]
    """The whole body, decoded."""
    raw: bytes
    """The body as it came."""

    @property
    def model(self) -> str:
        """The model's name, empty where the request has none."""
        return _text(self.members.get("model"))

    @property
    def verify(self) -> object:
        """The `verify` member, None where absent."""
        return self.members.get("verify")

    @property
    def streamed(self) -> bool:
        """Whether the client wants server-sent events."""
        return self.members.get("stream") is True

    @property
    def n(self) -> int:
        """How many choices the client asked for."""
        n = self.members.get("n")
        return n if isinstance(n, int) and not isinstance(n, bool) and n > 0 else 1

    @property
    def wants_usage_chunk(self) -> bool:
        """Whether a streaming client asked for a usage chunk."""
        options = self.members.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def wants_json(self) -> bool:
        """Whether the answer is to be JSON."""
        wanted = self.members.get("response_format")
        return isinstance(wanted, dict) and _text(wanted.get("type")) in _JSON_FORMATS

    @cached_property
    def user_texts(self) -> tuple[str, ...]:
        """The texts of the user turns, blank ones left out."""
        return tuple(_texts_of(self._turns({"user"})))

    @cached_property
    def given_texts(self) -> tuple[str, ...]:
        """What the operator or a tool told the model: system, developer and tool texts."""
        return tuple(_texts_of(self._turns(_INSTRUCTING_ROLES)))

    @cached_property
    def has_unseen_input(self) -> bool:
        """Whether a user turn has a part that a recall by text cannot see (image, audio, file)."""
        return any(
            not isinstance(part, dict) or part.get("type") != "text"
            for turn in self._turns({"user"})
            for part in _parts_of(turn)
        )

    def _turns(self, roles: frozenset[str] | set[str]) -> Iterator[dict[str, Any]]:
        messages = self.members.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict) and _text(message.get("role")) in roles:
                yield message


@dataclass(frozen=True)
class Choice:
    """One choice of a completion; its text is that of its text parts joined."""

    index: int
    members: Mapping[str, Raw]
    message: Mapping[str, Raw]
    content: str | list[Any] | None
    finish_reason: str | None

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The text parts in order; one for content given as a string."""
        if isinstance(self.content, str):
            return (self.content,)
        return tuple(_text(part.get("text")) for part in self.content or () if _is_text(part))

    def is_text_part(self, position: int) -> bool:
        """Whether the content's part at that position is one of `parts`."""
        return isinstance(self.content, list) and _is_text(self.content[position])

    @property
    def text(self) -> str:
        """The draft: what the claims' spans count in."""
        return "".join(self.parts)

    def is_within_part(self, span: tuple[int, int]) -> bool:
        """Whether a span of `text` lies inside one text part, the only place where it can be edited."""
        bounds = [0, *itertools.accumulate(map(len, self.parts))]
        return any(start <= span[0] and span[1] <= end for start, end in itertools.pairwise(bounds))

    def has(self, name: str) -> bool:
        """Whether the message has a member that says something."""
        return name in self.message and not _is_nothing(self.message[name])

    @property
    def has_logprobs(self) -> bool:
        """Whether the choice reports its tokens' probabilities."""
        return "logprobs" in self.members and not _is_nothing(self.members["logprobs"])


@dataclass(frozen=True)
class Completion:
    """A chat completion: its members' own bytes, and its choices."""

    members: Mapping[str, Raw]
    choices: tuple[Choice, ...]


def read_request(body: bytes) -> ChatRequest | None:
    """Return the request, or None where the body is no JSON object (the upstream will refuse it)."""
    try:
        members = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None
    return ChatRequest(members, body) if isinstance(members, dict) else None


def forwarded_body(request: ChatRequest) -> bytes:
    """Return the body for the upstream: as it came, less `verify`."""
    if "verify" not in request.members:
        return request.raw
    members = msgspec.json.decode(request.raw, type=dict[str, Raw])
    return msgspec.json.encode({name: value for name, value in members.items() if name != "verify"})


def read_completion(body: bytes) -> Completion | None:
    """Return the completion, or None where it has no usable `choices` list."""
    try:
        members = msgspec.json.decode(body, type=dict[str, Raw])
        choices = msgspec.json.decode(members["choices"], type=list[dict[str, Raw]])
        read = tuple(_read_choice(position, choice) for position, choice in enumerate(choices))
    except (msgspec.DecodeError, KeyError, RecursionError):
        return None
    return Completion(members, read) if read else None


def skip_reason(request: ChatRequest, choice: Choice) -> Skipped | None:
    """Return why the choice is not to be verified, or None where it is (contract, section 4: `skipped`)."""
    table: tuple[tuple[bool, Skipped], ...] = (
        (choice.finish_reason == "content_filter", "content_filter"),
        (choice.has("tool_calls") or choice.has("function_call"), "tool_calls"),
        (choice.has("refusal"), "refusal"),
        (not choice.text.strip(), "empty"),
        (request.wants_json or _is_json(choice.text), "json_response"),
        (not request.user_texts, "no_user_text"),
    )
    return next((reason for holds, reason in table if holds), None)


def _read_choice(position: int, members: dict[str, Raw]) -> Choice:
    message = msgspec.json.decode(members.get("message", b"{}"), type=dict[str, Raw] | None) or {}
    content = msgspec.json.decode(message.get("content", b"null"))
    index = msgspec.json.decode(members.get("index", b"null"))
    finish_reason = msgspec.json.decode(members.get("finish_reason", b"null"))
    return Choice(
        index=index if isinstance(index, int) else position,
        members=members,
        message=message,
        content=content if isinstance(content, str | list) else None,
        finish_reason=finish_reason if isinstance(finish_reason, str) else None,
    )


def _is_nothing(value: Raw) -> bool:
    """Return whether a member is null or empty; by its bytes, since decoding what we do not use could fail."""
    return bytes(value).translate(None, b" \t\r\n") in {b"null", b'""', b"[]", b"{}"}


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return True


def _texts_of(turns: Iterator[dict[str, Any]]) -> Iterator[str]:
    """Yield each turn's text, its text parts joined by line breaks; blank ones are left out."""
    for turn in turns:
        content = turn.get("content")
        parts = [content] if isinstance(content, str) else [p.get("text") for p in _parts_of(turn) if _is_text(p)]
        text = "\n".join(part for part in parts if isinstance(part, str))
        if text.strip():
            yield text


def _parts_of(turn: dict[str, Any]) -> list[Any]:
    content = turn.get("content")
    return content if isinstance(content, list) else []


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
