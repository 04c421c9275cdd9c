"""What `/schema/openapi.json` says of the verifying route, beyond what the framework reads off the handler.

In: the controls. Out: an operation with its body, its headers and its answers. The body is OpenAI's; only what this
proxy reads of it, and the one member that it adds, is spelled out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from litestar.openapi.spec import (
    OpenAPIHeader,
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Parameter,
    RequestBody,
    Schema,
)

from proxy.controls import HEADERS, Controls
from proxy.errors import ANSWERS

_ANY = Schema(type=OpenAPIType.OBJECT)
_REPORT_HEADERS = ("X-Verify-Status", "X-Verify-Id", "X-Verify-Overhead-Ms", "X-Verify-Reason")


@dataclass
class ChatCompletionOperation(Operation):
    """`POST /v1/chat/completions`."""

    def __post_init__(self) -> None:
        """Add what the handler's signature does not tell."""
        properties: dict[str, Any] = Controls.model_json_schema()["properties"]
        self.request_body = RequestBody(
            required=True, content={"application/json": OpenAPIMediaType(schema=_describe_body(properties))}
        )
        self.parameters = [
            Parameter(name=header, param_in="header", schema=_describe_control(properties[key]))
            for header, key in HEADERS.items()
        ]
        self.responses = {"200": _describe_answer()}
        for status, _, code in sorted(ANSWERS.values()):
            self.responses[str(status)] = OpenAPIResponse(description=code.replace("_", " "))


def _describe_body(controls: dict[str, Any]) -> Schema:
    message = Schema(type=OpenAPIType.OBJECT, required=["role"])
    verify = Schema(
        type=OpenAPIType.OBJECT,
        properties={key: _describe_control(control) for key, control in controls.items()},
        additional_properties=False,
        description="Cut out before the request goes upstream.",
    )
    return Schema(
        type=OpenAPIType.OBJECT,
        description="OpenAI's chat completion request; members not named here pass through.",
        required=["model", "messages"],
        properties={
            "model": Schema(type=OpenAPIType.STRING),
            "messages": Schema(type=OpenAPIType.ARRAY, items=message),
            "stream": Schema(type=OpenAPIType.BOOLEAN),
            "n": Schema(type=OpenAPIType.INTEGER, minimum=1),
            "verify": verify,
        },
    )


def _describe_control(control: dict[str, Any]) -> Schema:
    return Schema(
        type=OpenAPIType(control["type"]),
        enum=control.get("enum"),
        minimum=control.get("minimum"),
        maximum=control.get("maximum"),
        default=control.get("default"),
        items=_describe_control(control["items"]) if "items" in control else None,
    )


def _describe_answer() -> OpenAPIResponse:
    whole = Schema(
        type=OpenAPIType.OBJECT,
        description="The upstream's completion and one more member, `verification`; none where verification is off.",
        properties={"verification": _ANY},
    )
    return OpenAPIResponse(
        description="The answer, verified",
        headers={name: OpenAPIHeader(schema=Schema(type=OpenAPIType.STRING)) for name in _REPORT_HEADERS},
        content={
            "application/json": OpenAPIMediaType(schema=whole),
            "text/event-stream": OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING)),
        },
    )
