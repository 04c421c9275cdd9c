"""A client that takes no unknown member finds exactly one: the report, at the top (C19)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat.players import LIMIT_S, Client

pytestmark = pytest.mark.timeout(LIMIT_S)

ONE_MEMBER = ["$", "Additional properties are not allowed ('verification' was unexpected)"]


@pytest.fixture(params=["schema"])
def strict(client_of: Callable[[str], Client], request: pytest.FixtureRequest) -> Client:
    """The strict client after its run."""
    return client_of(request.param)


@pytest.mark.parametrize("scene", ["plain", "tools"])
def test_a_verified_reply_has_one_member_more(strict: Client, scene: str) -> None:
    """Choices, messages, tool calls and usage hold nothing that OpenAI's schema does not."""
    assert strict.outcome(scene) == [ONE_MEMBER]


def test_an_unverified_reply_has_none(strict: Client) -> None:
    """With `off` there is nothing to object to."""
    assert strict.outcome("switched_off") == []


@pytest.mark.parametrize("scene", ["stream", "stream_async", "stream_choices", "stream_tools"])
def test_one_chunk_of_a_stream_has_one_member_more(strict: Client, scene: str) -> None:
    """All chunks are valid ones, and one carries the report beside valid choices."""
    objections = [chunk for chunk in strict.outcome(scene) if chunk]
    assert objections == [[ONE_MEMBER]]
