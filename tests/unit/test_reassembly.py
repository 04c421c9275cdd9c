"""Edits go into their spans and nothing else moves, down to the bytes of the completion."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.claims.claim import Sentence
from proxy.correction import Edit
from proxy.reassembly import AppliedEdit, EditedText, apply_edits, rebuild_completion
from proxy.wire import Choice, Completion, read_completion


def completion(*contents: object, **choice: object) -> Completion:
    choices = [
        {"index": index, "message": {"role": "assistant", "content": content}} | choice
        for index, content in enumerate(contents)
    ]
    read = read_completion(json.dumps({"id": "chatcmpl-1", "choices": choices}).encode())
    assert read is not None
    return read


def choice_of(*parts: str) -> Choice:
    content = parts[0] if len(parts) == 1 else [{"type": "text", "text": part} for part in parts]
    return completion(content).choices[0]


def edit(text: str, before: str, after: str, index: int = 0) -> Edit:
    start = text.index(before)
    return Edit(Sentence(index, (start, start + len(before)), before), after)


def test_repeated_phrases_and_shifted_offsets() -> None:
    """Spans are resolved on the draft: the second of two like phrases changes, whatever the first edit did (C38)."""
    draft = "The span is 30 m. The deck is 30 m. The toll is 30 crowns."
    edited = apply_edits(
        choice_of(draft),
        [
            edit(draft, "The toll is 30 crowns.", "The toll is 3 crowns.", 2),
            edit(draft, "The deck is 30 m.", "The deck is 45 m.", 1),
        ],
    )
    assert edited.parts == ("The span is 30 m. The deck is 45 m. The toll is 3 crowns.",)
    assert edited.edits == (
        AppliedEdit("The deck is 30 m.", "The deck is 45 m.", (18, 35), (18, 35)),
        AppliedEdit("The toll is 30 crowns.", "The toll is 3 crowns.", (36, 58), (36, 57)),
    )


def test_spans_count_code_points() -> None:
    """An emoji before an edit counts as one, whatever it takes in bytes or in UTF-16."""
    draft = "🌉 é\u0301 It opened in 1931."
    edited = apply_edits(choice_of(draft), [edit(draft, "It opened in 1931.", "It opened in 1913.")])
    assert edited.parts == ("🌉 é\u0301 It opened in 1913.",)
    assert edited.edits[0].span == (5, 23)


def test_edits_in_several_parts() -> None:
    """Offsets run over the parts joined; each edit changes the one part that it lies in (contract, section 4)."""
    parts = ("A is 1. ", "", "B is 2.", " C is 3.")
    text = "".join(parts)
    edits = [edit(text, "B is 2.", "B is twenty-two."), edit(text, "C is 3.", "C is 4.")]
    edited = apply_edits(choice_of(*parts), edits)
    assert edited.parts == ("A is 1. ", "", "B is twenty-two.", " C is 4.")
    assert [e.span for e in edited.edits] == [(8, 24), (25, 32)]


def test_an_edit_over_a_seam_is_a_fault() -> None:
    """Nothing may be edited over the seam of two parts, so that asking for it is an error, not a wrong text."""
    with pytest.raises(ValueError, match="within one text part"):
        apply_edits(choice_of("It opened ", "in 1931."), [Edit(Sentence(0, (0, 18), "It opened in 1931."), "x")])


def test_the_bytes_of_a_completion() -> None:
    """Unknown fields, number formats, escapes and order survive; one member is added, an old one of its name goes."""
    body = (
        b'{"id": "x", "created": 1.70e9, "verification": {"old": true}, "choices": [{"index": 0, "finish_reason":'
        b' "stop", "x_vendor": {"a": [1.0]}, "message": {"role": "assistant", "reasoning": "\\u00e9", "content":'
        b' "It is 1."}}], "usage": {"total_tokens": 3e0}}'
    )
    read = read_completion(body)
    assert read is not None
    assert rebuild_completion(read, {}, {"version": 1}) == (
        b'{"id":"x","created":1.70e9,"choices":[{"index": 0, "finish_reason": "stop", "x_vendor": {"a": [1.0]}, '
        b'"message": {"role": "assistant", "reasoning": "\\u00e9", "content": "It is 1."}}],'
        b'"usage":{"total_tokens": 3e0},"verification":{"version":1}}'
    )
    edited = rebuild_completion(read, {0: ("It is 2 🌉.",)}, {"version": 1})
    assert json.loads(edited)["choices"][0]["message"] == {
        "role": "assistant",
        "reasoning": "é",
        "content": "It is 2 🌉.",
    }
    assert b'"created":1.70e9' in edited
    assert b'"x_vendor":{"a": [1.0]}' in edited
    assert b'"reasoning":"\\u00e9"' in edited


def test_content_as_parts() -> None:
    """A list stays a list; only the text of the edited part changes, other parts keep their bytes (C10)."""
    parts = [
        {"type": "text", "text": "It is 1.", "annotations": [1]},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": "B."},
    ]
    read = completion(parts)
    edited = json.loads(rebuild_completion(read, {0: ("It is 2.", "B.")}, {}))
    content = edited["choices"][0]["message"]["content"]
    assert content == [{"type": "text", "text": "It is 2.", "annotations": [1]}, *parts[1:]]


def test_other_choices_keep_their_bytes() -> None:
    """Only the edited choice is written anew, and only its logprobs are dropped (contract, section 4)."""
    read = completion("A.", "B.", logprobs={"content": []})
    edited = json.loads(rebuild_completion(read, {1: ("C.",)}, {}))
    assert [c["message"]["content"] for c in edited["choices"]] == ["A.", "C."]
    assert [c["logprobs"] for c in edited["choices"]] == [{"content": []}, None]


def test_logprobs_are_not_made_up() -> None:
    """An edited choice without logprobs gets none."""
    edited = json.loads(rebuild_completion(completion("A."), {0: ("B.",)}, {}))
    assert "logprobs" not in edited["choices"][0]


PARTS = st.lists(st.text(max_size=20), min_size=1, max_size=4)


@settings(deadline=None)
@given(PARTS)
def test_no_edits_same_text(parts: list[str]) -> None:
    """Without edits every part is as it was."""
    assert apply_edits(choice_of(*parts), []) == EditedText(tuple(parts), ())


@settings(deadline=None)
@given(PARTS, st.data())
def test_edits_touch_only_their_spans(parts: list[str], data: st.DataObject) -> None:
    """Applied spans are sorted, disjoint and in bounds; before and after stand at them; all else is kept."""
    text = "".join(parts)
    edits: list[Edit] = []
    offset = 0
    for part in parts:
        cuts = sorted(data.draw(st.sets(st.integers(0, len(part)), max_size=6)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False):
            span = (offset + start, offset + end)
            edits.append(Edit(Sentence(len(edits), span, text[slice(*span)]), data.draw(st.text(max_size=9))))
        offset += len(part)
    edited = apply_edits(choice_of(*parts), data.draw(st.permutations(edits)))
    new = "".join(edited.parts)
    assert len(edited.parts) == len(parts)
    assert [applied.draft_span for applied in edited.edits] == [e.sentence.span for e in edits]
    done = done_before = 0
    for applied, wanted in zip(edited.edits, edits, strict=True):
        assert text[slice(*applied.draft_span)] == applied.before == wanted.sentence.text
        assert new[slice(*applied.span)] == applied.after == wanted.after
        assert done <= applied.span[0] <= applied.span[1] <= len(new)
        assert new[done : applied.span[0]] == text[done_before : applied.draft_span[0]]
        done, done_before = applied.span[1], applied.draft_span[1]
    assert new[done:] == text[done_before:]
