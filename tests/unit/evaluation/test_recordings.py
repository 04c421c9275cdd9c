"""Replies kept and played back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evaluation.recordings import Recorder, Recording, hash_prompt, read_recordings, write_recording
from fakes import FakeLlm
from proxy.errors import LlmCallFailed
from proxy.services import Reply


def test_recorded_replies_are_played_back(tmp_path: Path) -> None:
    """What was asked once is answered from the file, by the name of the model."""
    recording = Recording("maker/model")
    recorder = Recorder(FakeLlm({"claims": "[]"}), Recording("maker/model"), recording)
    asked = asyncio.run(recorder.ask("claims", "Split.", "1. 다리는 길다."))
    path = write_recording(recording, tmp_path)
    assert path.name == "maker--model.json"
    (played,) = read_recordings(tmp_path)
    assert played.model == "maker/model"
    assert asyncio.run(played.ask("claims", "Split.", "1. 다리는 길다.")) == asked == Reply("[]")


def test_what_is_known_is_not_asked_again() -> None:
    """A second recording asks for new prompts only, and drops those that nobody asks for now."""
    known = Recording("m", {hash_prompt("Split.", "A"): Reply("[1]"), hash_prompt("Split.", "old"): Reply("[2]")})
    llm, recording = FakeLlm({"claims": "[]"}), Recording("m")
    recorder = Recorder(llm, known, recording)
    assert asyncio.run(recorder.ask("claims", "Split.", "A")) == Reply("[1]")
    asyncio.run(recorder.ask("claims", "Split.", "B"))
    assert llm.texts("claims") == ["B"]
    assert recording.replies.keys() == {hash_prompt("Split.", "A"), hash_prompt("Split.", "B")}


def test_a_failed_call_is_recorded_as_failed() -> None:
    """What the model could not answer counts as an answer that cannot be read."""
    recording = Recording("m")

    def fail(_: object) -> str:
        raise LlmCallFailed("no")

    asyncio.run(Recorder(FakeLlm({"claims": fail}), Recording("m"), recording).ask("claims", "Split.", "A"))
    assert list(recording.replies.values()) == [Reply("", complete=False)]


def test_an_unknown_prompt_fails() -> None:
    """A prompt that changed has no reply, and that is noted."""
    recording = Recording("m")
    with pytest.raises(LlmCallFailed, match="recorded"):
        asyncio.run(recording.ask("claims", "Split.", "A"))
    assert recording.asked == {hash_prompt("Split.", "A")}
