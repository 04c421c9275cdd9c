"""Decomposition replies are read however the model dresses them up, and fail in one way only."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.claims.replies import ReadReply, drop_reasoning, read_reply
from proxy.errors import LlmCallFailed


def claims_in(text: str) -> list[str]:
    return [claim for _, claim in read_reply(text).claims]


def test_the_form_that_the_prompt_asks_for() -> None:
    """Claims come with the number of their sentence, and the sentences without one are listed."""
    reply = read_reply('{"claims": [{"sentence": 1, "text": "A"}, {"sentence": 3, "text": "B"}], "none": [2]}')
    assert reply == ReadReply(((1, "A"), (3, "B")), frozenset({2}), cut=False)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"claims":["A",]}\n```',
        'Sure {see below}: ["A"]',
        '<think>{x}</think>{"claims":["A"]}',
        '["A"]',
        '{"claims":[{"text":"A"}]}',
        'The claims [see the text above] are: {"claims": ["A"]}. Anything else?',
        '[Note: the JSON follows. {"claims": ["A"]}',
        'Sentences [1] and [2] {so far}\n["A"]',
        '{"claims":[{"text":"A",},],"none":[],}',
        '{"claims": ["A",, ]}',
        '<thinking>["B"] would be wrong.</thinking>\n\n["A"]',
        '{"thoughts": {"about": ["x"]}, "claims": ["A"]}',
        '{"answer": 1} {"claims": ["A"]}',
        '{"claims": [3, null, "A", {"claim": "B"}]}',
        '{"claims": ["\\n A "]}',
        '{"claims": ["\nA"]}',
    ],
)
def test_dressed_up_replies(text: str) -> None:
    """Fences, prose, reasoning, bare lists, missing numbers and needless commas are all read over (C25)."""
    reply = read_reply(text)
    assert [claim for _, claim in reply.claims] == ["A"]
    assert not reply.cut


def test_a_claim_may_hold_what_surrounds_replies() -> None:
    """Fences, brackets, tags, commas and quotation marks inside a claim are text (C25)."""
    said = 'A contains ``` inside, [1], }, <think> and "x",]'
    assert claims_in(f"```\n{json.dumps({'claims': [said]})}\n```") == [said]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ('{"claims":["A","B', ["A"]),
        ('{"claims":["A",', ["A"]),
        ('{"claims":["A"', ["A"]),
        ('{"claims":["A"]', ["A"]),
        ('{"claims":["A"], "no', ["A"]),
        ('{"claims":["A"}', ["A"]),
        ('["A", "B\\', ["A"]),
        ('```json\n{"claims":[{"sentence":1,"text":"A"},{"sentence":2,"text":"B', ["A"]),
        ('{"claims":[{"sentence":1,"text":"A [x"},{"sentence":2', ["A [x"]),
        ('{"claims":[{"sentence":1,"text":"A"},{"sentence":1,"text":"B"}', ["A", "B"]),
    ],
)
def test_what_is_whole_of_a_cut_reply(text: str, claims: list[str]) -> None:
    """A cut reply gives its whole claims and says that it was cut (C25)."""
    reply = read_reply(text)
    assert [claim for _, claim in reply.claims] == claims
    assert reply.cut


def test_a_cut_list_of_sentences_without_claims() -> None:
    """Of a cut `none` nothing is taken, so that its sentences stand as unresolved rather than as checked."""
    assert read_reply('{"claims":[{"sentence":1,"text":"A"}],"none":[2, 1').none == frozenset()


@pytest.mark.parametrize("text", ["[]", '{"claims": []}', '[""]', '{"claims": ["  "]}', '{"claims": [{"text": ""}]}'])
def test_no_claims(text: str) -> None:
    """An empty list and blank claims say that there is nothing to check (C26)."""
    assert read_reply(text) == ReadReply((), None, cut=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "{}",
        "[1, 2]",
        '{"claims": "A"}',
        '{"claims": [{"claim": "A"}]}',
        '{"claims":',
        '{"claims":[',
        '{"claims":[{"sentence":1,"te',
        "<html><body>Bad gateway</body></html>",
        "<think>I should answer {claims}",
        '<think>{"claims": ["A"]}',
        "[" * 5_000,
        '{"a":' * 5_000,
    ],
    ids=lambda text: text[:20],
)
def test_unreadable_replies_fail(text: str) -> None:
    """Whatever cannot be read is one failed call."""
    with pytest.raises(LlmCallFailed):
        read_reply(text)


@pytest.mark.parametrize(
    ("number", "read"),
    [(2, 2), ("2", 2), (" 2 ", 2), (True, None), (1.5, None), ("two", None), ("²", None), (None, None), ([2], None)],
    ids=repr,
)
def test_sentence_numbers(number: object, read: int | None) -> None:
    """A number may come as a string; what is no number is left out, and the claim kept."""
    text = json.dumps({"claims": [{"sentence": number, "text": "A"}], "none": [number, 5]})
    assert read_reply(text) == ReadReply(((read, "A"),), frozenset({5} | ({read} if read else set())), cut=False)


def test_half_a_character() -> None:
    """A lone surrogate, which JSON can escape but no answer of ours can carry, becomes a question mark."""
    assert claims_in('["A \\ud83d", "\\ud83c\\udf09"]') == ["A ?", "🌉"]


def test_reasoning_is_dropped_only_in_front() -> None:
    """Reasoning stands before a reply; a tag further on is what the reply speaks of."""
    assert drop_reasoning(" <think>a</think> b") == " b"
    assert drop_reasoning("The tag <think> opens it.") == "The tag <think> opens it."


@pytest.mark.parametrize("unit", ['["', '[{"', '"a ', '{"claims":[', '["a",', "[]", '"\\', "{ "])
def test_a_reply_that_repeats_itself_costs_little(unit: str) -> None:
    """A model stuck in a loop must not hold up everybody else: 20,000 characters are read in well under a second."""
    text = ('{"claims":["' + unit * 20_000)[:20_000]
    started = time.process_time()
    with suppress(LlmCallFailed):
        read_reply(text)
    assert time.process_time() - started < 1.0


TEXTS = st.text().filter(lambda text: bool(text.split()))
PROSE = st.text(st.characters(codec="utf-8", exclude_characters='{}[]"<>'))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 60), TEXTS), min_size=1), PROSE, PROSE, st.booleans())
def test_any_claims_in_any_prose(stated: list[tuple[int, str]], before: str, after: str, ascii_only: bool) -> None:
    """All claims come back in order, with their numbers, whatever they say and whatever stands around them."""
    claims = [{"sentence": number, "text": text} for number, text in stated]
    text = before + json.dumps({"claims": claims, "none": []}, ensure_ascii=ascii_only) + after
    expected = [(number, " ".join(said.split())) for number, said in stated]
    assert read_reply(text) == ReadReply(tuple(expected), frozenset(), cut=False)


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=5), st.data())
def test_a_reply_cut_anywhere(texts: list[str], data: st.DataObject) -> None:
    """Wherever it is cut, what is read is a beginning of what was said, and the cut is reported."""
    whole = json.dumps({"claims": [{"sentence": 1, "text": text} for text in texts], "none": [2]})
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    try:
        reply = read_reply(cut)
    except LlmCallFailed:
        assert cut.count("}") == 0 or "}" in "".join(texts)
        return
    assert reply.cut
    said = [claim for _, claim in reply.claims]
    assert said == [" ".join(text.split()) for text in texts][: len(said)]


@settings(deadline=None)
@given(st.text(st.sampled_from('{}[]"\\,:claims1 <think>/\n')))
def test_nothing_else_is_raised(text: str) -> None:
    """Any text is a reply or a failed call."""
    try:
        reply = read_reply(text)
    except LlmCallFailed:
        return
    assert all(claim.strip() for _, claim in reply.claims)
