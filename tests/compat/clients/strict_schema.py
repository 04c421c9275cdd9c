"""A client that validates every reply against a JSON schema and takes no member that the schema does not name.

In: where the proxy listens (command line). Out: what its validator objects to in each scene, as one line of JSON.
The schema is that of the official SDK's own types, which are generated from OpenAI's specification.
"""

from __future__ import annotations

import json
from typing import Any, Final

from jsonschema import Draft202012Validator
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from compat.clients.openai_python.session import ASK, connect
from compat.clients.outcomes import Scene, Stage, report_outcomes


def close(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the schema with every object closed to members that it does not name."""
    if isinstance(schema, list):
        return [close(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: close(value) for name, value in schema.items()}
    return closed | {"additionalProperties": False} if "properties" in schema else closed


def open_validator(model: type[BaseModel]) -> Draft202012Validator:
    """Return the validator of a type of the SDK."""
    return Draft202012Validator(close(model.model_json_schema()))


WHOLE: Final = open_validator(ChatCompletion)
CHUNK: Final = open_validator(ChatCompletionChunk)


def object_to(validator: Draft202012Validator, value: object) -> list[tuple[str, str]]:
    """Return where and what the validator objects to."""
    return [(error.json_path, error.message) for error in validator.iter_errors(value)]


def check_whole(stage: Stage, scene: str, **asked: Any) -> object:  # noqa: ANN401 - members of a request
    """Return the objections to a completion."""
    create = connect(stage.proxy_url).chat.completions.with_raw_response.create
    reply = create(model=stage.model(scene), messages=ASK, **asked)
    return object_to(WHOLE, reply.http_response.json())


def check_stream(stage: Stage, scene: str, **asked: Any) -> object:  # noqa: ANN401 - members of a request
    """Return the objections to each chunk of a stream."""
    create = connect(stage.proxy_url).chat.completions.with_raw_response.create
    reply = create(model=stage.model(scene), messages=ASK, stream=True, **asked)
    events = [line.removeprefix("data: ") for line in reply.http_response.iter_lines() if line]
    return [object_to(CHUNK, json.loads(event)) for event in events if event != "[DONE]"]


def plain(stage: Stage) -> object:
    """Check a corrected answer."""
    return check_whole(stage, "plain")


def tools(stage: Stage) -> object:
    """Check an answer that calls tools."""
    return check_whole(stage, "tools")


def switched_off(stage: Stage) -> object:
    """Check an answer that was not verified."""
    return check_whole(stage, "switched_off", extra_body={"verify": False})


def stream(stage: Stage) -> object:
    """Check a corrected stream."""
    return check_stream(stage, "stream")


def stream_async(stage: Stage) -> object:
    """Check a corrected stream with its usage."""
    return check_stream(stage, "stream_async", stream_options={"include_usage": True})


def stream_choices(stage: Stage) -> object:
    """Check a stream of two choices."""
    return check_stream(stage, "stream_choices", n=2)


def stream_tools(stage: Stage) -> object:
    """Check a stream that calls tools."""
    return check_stream(stage, "stream_tools")


SCENES: Final[tuple[Scene, ...]] = (plain, tools, switched_off, stream, stream_async, stream_choices, stream_tools)

report_outcomes(*SCENES)
