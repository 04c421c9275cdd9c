"""Replies of a model, recorded once and played back, so that a measure can be repeated without the model.

In: a file that names the model and holds its replies by the hash of what was asked. Out: an `Llm` that plays them, or
one that asks a server and keeps what it answers. A reply belongs to its prompt: where the wording of a prompt changes,
its hash does, and the replies have to be recorded anew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from evaluation.labels import DATA
from proxy.errors import LlmCallFailed
from proxy.services import Llm, Reply, Task

REPLIES: Final = DATA / "replies"


@dataclass(frozen=True)
class Recording:
    """The replies of one model."""

    model: str
    replies: dict[str, Reply] = field(default_factory=dict)
    """By the hash of instruction and text."""
    asked: set[str] = field(default_factory=set)
    """What was asked for and is not here."""

    async def ask(self, task: Task, instruction: str, text: str) -> Reply:
        """Play back a reply; see `services.Llm`."""
        key = hash_prompt(instruction, text)
        if key not in self.replies:
            self.asked.add(key)
            raise LlmCallFailed(f"No {task} reply of {self.model} is recorded for this prompt.")
        return self.replies[key]


@dataclass(frozen=True)
class Recorder:
    """Asks a model what is not known yet, and keeps its replies."""

    llm: Llm
    known: Recording
    """An earlier recording; what it holds is not asked again."""
    recording: Recording
    """What is asked now, and nothing else."""

    async def ask(self, task: Task, instruction: str, text: str) -> Reply:
        """Ask once; a call that fails is recorded as an empty reply, which no reader can use."""
        key = hash_prompt(instruction, text)
        reply = self.known.replies.get(key)
        if reply is None:
            try:
                reply = await self.llm.ask(task, instruction, text)
            except LlmCallFailed:
                reply = Reply("", complete=False)
        self.recording.replies[key] = reply
        return reply


def hash_prompt(instruction: str, text: str) -> str:
    """Return the key of a prompt: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(f"{instruction}\n\n{text}".encode()).hexdigest()[:16]


def read_recordings(folder: Path = REPLIES) -> list[Recording]:
    """Return all recordings of a folder by the name of their model."""
    return [_read_recording(path) for path in sorted(folder.glob("*.json"))]


def _read_recording(path: Path) -> Recording:
    content = json.loads(path.read_text(encoding="utf-8"))
    return Recording(content["model"], {key: Reply(**reply) for key, reply in content["replies"].items()})


def write_recording(recording: Recording, folder: Path = REPLIES) -> Path:
    """Write a recording into the file of its model, and return the file."""
    path = folder / f"{recording.model.replace('/', '--')}.json"
    replies = {key: asdict(reply) for key, reply in sorted(recording.replies.items())}
    content = {"model": recording.model, "replies": replies}
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path
