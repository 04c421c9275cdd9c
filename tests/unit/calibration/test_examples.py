"""The user's file of labelled answers: both forms, and what is said of a line that is neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proxy.calibration.examples import read_examples
from proxy.errors import ExamplesInvalid

REFERENCE = "Verdane Bridge opened in 1913. It is **340 metres** long."
WHOLE = {
    "reference": REFERENCE,
    "claims": [
        {"claim": "Verdane Bridge opened in 1931.", "label": "false"},
        {"claim": " Verdane Bridge is 340 metres long. ", "label": "true"},
        {"claim": "Verdane Bridge is blue.", "label": "open"},
    ],
}
LONE = {"reference": REFERENCE, "claim": "Verdane Bridge opened in 1931.", "label": "false"}


def write(file: Path, *lines: object) -> Path:
    """Write lines as JSON, or as they are where they are text."""
    file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return file


def test_both_forms(tmp_path: Path) -> None:
    """Claims of one line stand together, a lone claim is an answer of its own, and blank lines are nothing."""
    whole, lone = read_examples(write(tmp_path / "data.jsonl", WHOLE, "", LONE))
    assert [claim.text for claim in whole.claims] == [
        "Verdane Bridge opened in 1931.",
        "Verdane Bridge is 340 metres long.",
        "Verdane Bridge is blue.",
    ]
    assert whole.labels == ("false", "true", "open")
    assert whole.reference == ("Verdane Bridge opened in 1913.", "It is 340 metres long.")
    assert [claim.text for claim in lone.claims] == ["Verdane Bridge opened in 1931."]
    assert lone.labels == ("false",)


def test_a_byte_order_mark_is_left_out(tmp_path: Path) -> None:
    """What Windows editors put before the first line does not make it unreadable."""
    file = tmp_path / "data.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(LONE).encode() + b"\r\n")
    assert len(read_examples(file)) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "JSON"),
        ("[]", "Expected `object`"),
        ({"claim": "A.", "label": "true"}, "reference"),
        ({"reference": REFERENCE}, "neither `claims` nor `claim` and `label`"),
        ({"reference": REFERENCE, "claims": []}, "neither `claims` nor `claim` and `label`"),
        ({"reference": REFERENCE, "claim": "A."}, "belong together"),
        ({"reference": REFERENCE, "label": "true"}, "belong together"),
        ({**WHOLE, "claim": "A.", "label": "true"}, "give one of them"),
        ({"reference": " ", "claim": "A.", "label": "true"}, "`reference` is empty"),
        ({"reference": REFERENCE, "claim": " ", "label": "true"}, "a claim is empty"),
        ({**LONE, "label": "wrong"}, "$.label"),
        ({**LONE, "label": True}, "$.label"),
        ({**LONE, "weight": 2}, "weight"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: object, said: str) -> None:
    """The message is one line, with the number of the line in the file and what is wrong with it."""
    with pytest.raises(ExamplesInvalid) as failure:
        read_examples(write(tmp_path / "data.jsonl", LONE, "", line))
    assert "data.jsonl, line 3: " in str(failure.value)
    assert said in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_file_that_cannot_be_read_or_is_empty(tmp_path: Path) -> None:
    """A missing file and one without a line are told apart."""
    with pytest.raises(ExamplesInvalid, match="cannot be read"):
        read_examples(tmp_path / "none.jsonl")
    with pytest.raises(ExamplesInvalid, match="no examples"):
        read_examples(write(tmp_path / "data.jsonl", "", " "))
