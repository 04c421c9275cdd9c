"""One request as the scripted upstream received it: the raw bytes, what they say, and when things happened."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from proxy.services import Task

JsonObject = dict[str, Any]
AnyTask = Task | Literal["draft", "other"]
"""What a request is for: `draft` is the user's own chat call, `other` anything but a chat completion."""


@dataclass(eq=False, slots=True, kw_only=True)
class Call:
    """A recorded request. The upstream's thread fills in the last two fields; the others never change."""

    method: str
    target: str
    """The request target as sent: path and query, nothing decoded."""
    headers: tuple[tuple[str, str], ...]
    """As sent: order, case and repeats."""
    body: bytes
    json: JsonObject | None
    """The body where it is a JSON object."""
    task: AnyTask
    entered_s: float
    """Monotonic time at which the whole request had been read."""
    answered_s: float | None = None
    """Monotonic time just before the first byte of the answer (or the close in its place)."""
    peer_closed: bool = False
    """The client hung up before the answer was complete."""

    @property
    def model(self) -> str | None:
        """The model asked for."""
        model = (self.json or {}).get("model")
        return model if isinstance(model, str) else None

    @property
    def prompt(self) -> str:
        """The text of the last user message."""
        messages = (self.json or {}).get("messages") or []
        return next((str(m["content"]) for m in reversed(messages) if m.get("role") == "user"), "")

    def header(self, name: str) -> list[str]:
        """Return all values of one header, in any case of its name."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


def parse_object(body: bytes) -> JsonObject | None:
    """Return the JSON object that `body` holds, or None."""
    try:
        parsed = json.loads(body)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None
