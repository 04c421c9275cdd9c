"""The SDK's clients as the scenes use them, and the conversation that they begin with."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from compat.clients.outcomes import KEY, ORGANIZATION, PROJECT, QUESTION

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam

ASK: Final[list[ChatCompletionMessageParam]] = [{"role": "user", "content": QUESTION}]


@cache
def connect(url: str) -> OpenAI:
    """Return a client that takes no reply whose known fields have a wrong type; one a proxy, as they start slowly."""
    return OpenAI(
        base_url=url, api_key=KEY, organization=ORGANIZATION, project=PROJECT, _strict_response_validation=True
    )


def connect_async(url: str) -> AsyncOpenAI:
    """Return the same for asyncio, for one event loop."""
    return AsyncOpenAI(
        base_url=url, api_key=KEY, organization=ORGANIZATION, project=PROJECT, _strict_response_validation=True
    )


def dump(model: BaseModel) -> Any:  # noqa: ANN401 - JSON
    """Return the members that a reply really had, under their own names."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)
