"""What of long texts a claim is held against."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.context import BLOCK_CHARACTERS, NEAREST_BLOCKS, NEAREST_SENTENCES, NEAREST_WINDOWS, Context

CLAIM = "Verdane Bridge opened in 1931."
ABOUT = "Verdane Bridge opened in 1913."
SHORT = f"The town is old. {ABOUT} It is red."


def count_words(text: str) -> int:
    return len(text.split())


def make(*texts: str, window: int = 20) -> Context:
    return Context(texts, count_words, window)


def fill(count: int, first: int = 0) -> str:
    """Return sentences about something else."""
    return " ".join(
        f"House {n} of the town has many rooms and a garden behind it." for n in range(first, first + count)
    )


def test_a_short_text_is_read_whole() -> None:
    """A text that fits is one window, beside its nearest sentences."""
    premises = make(SHORT).find_premises(CLAIM)
    assert premises[:2] == [SHORT, ABOUT]
    assert len(premises) <= 1 + NEAREST_SENTENCES


def test_no_window_joins_two_texts() -> None:
    """Each text has windows of its own."""
    premises = make("The town is old.", ABOUT).find_premises(CLAIM)
    assert sorted(premises) == ["The town is old.", ABOUT]


def test_a_long_text_is_searched() -> None:
    """What is near stands among few premises wherever it is, with its neighbours in the window."""
    text = f"{fill(500)} {ABOUT} It is red. {fill(500, 500)}"
    premises = make(text, window=40).find_premises(CLAIM)
    assert ABOUT in premises
    assert any(f"{ABOUT} It is red." in premise for premise in premises)
    assert len(premises) <= NEAREST_WINDOWS + NEAREST_SENTENCES


def test_a_window_bridges_no_gap() -> None:
    """Of blocks that do not follow each other none of the sentences stand in one window."""
    gap = fill(100)
    premises = make(f"{ABOUT}\n\n{gap}\n\nVerdane Bridge is red.", window=1000).find_premises("Verdane Bridge is red.")
    assert not [premise for premise in premises if ABOUT in premise and "Verdane Bridge is red." in premise]


def test_sentences_near_a_claim() -> None:
    """Corrections are made by the sentences around: all of a short text, those of the nearest blocks of a long one."""
    assert make(SHORT).read_near(CLAIM) == ["The town is old.", ABOUT, "It is red."]
    near = make(f"{fill(500)} {ABOUT} {fill(500, 500)}").read_near(CLAIM)
    assert ABOUT in near
    assert sum(map(len, near)) <= NEAREST_BLOCKS * BLOCK_CHARACTERS


def test_markup_is_no_premise() -> None:
    """Premises are plain text, as the recall's are."""
    assert make("- **Verdane Bridge** opened in 1913. [1]").read_near(CLAIM) == [ABOUT]


def test_none_is_false() -> None:
    """Without texts there is nothing to ask; joining gives some."""
    assert not make()
    assert make().find_premises(CLAIM) == make().read_near(CLAIM) == []
    assert make().joined([ABOUT])
    assert make("The town is old.").joined([ABOUT]).read_near(CLAIM) == ["The town is old.", ABOUT]


def test_every_text_has_to_be_listed() -> None:
    """One text in another script is enough not to be."""
    assert make(SHORT).is_listed(frozenset({"en"}))
    assert not make(SHORT, "다리는 1913년에 개통되었다.").is_listed(frozenset({"en"}))
    assert make().is_listed(frozenset({"en"}))


@given(st.lists(st.text(), max_size=4), st.text(max_size=50))
def test_any_text_is_read(texts: list[str], claim: str) -> None:
    """Whatever the texts hold: few premises, none blank, none twice."""
    premises = make(*texts).find_premises(claim)
    assert len(premises) == len(set(premises)) <= NEAREST_WINDOWS + NEAREST_SENTENCES
    assert all(premise.strip() for premise in premises)


@given(st.text(alphabet='ab. \n!"', min_size=1, max_size=5000))
def test_blocks_are_the_text(text: str) -> None:
    """Blocks lose nothing, and none is longer than allowed."""
    blocks = [block.text for block in make(text)._blocks]
    assert "".join(blocks) == text
    assert max(map(len, blocks)) <= BLOCK_CHARACTERS + 3
