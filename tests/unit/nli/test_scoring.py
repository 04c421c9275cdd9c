"""The arithmetic of section 5 of the contract: logits, labels, premises and the score of a claim."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import ModelFolderInvalid, NliFailed
from proxy.nli.scoring import (
    LEAST_PREMISE_TOKENS,
    SPECIAL_TOKENS,
    LabelOrder,
    Probabilities,
    choose_premises,
    read_label_order,
    score_claim,
    softmax,
    split_windows,
)

logits = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3)
sentences = st.lists(st.lists(st.sampled_from(["tolls", "were", "paid"]), min_size=1, max_size=6).map(" ".join))


def count_words(text: str) -> int:
    return len(text.split())


def probabilities(entailment: float, contradiction: float) -> Probabilities:
    return Probabilities(entailment, 1 - entailment - contradiction, contradiction)


@given(logits)
def test_softmax_is_a_distribution(values: list[float]) -> None:
    """However large the logits, the result is finite, in [0, 1], sums to 1 and keeps their order."""
    shares = softmax(values)
    assert math.isclose(math.fsum(shares), 1, abs_tol=1e-12)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert all(shares[i] <= shares[j] for i in range(3) for j in range(3) if values[i] <= values[j])


@given(st.lists(st.floats(-50, 50), min_size=3, max_size=3), st.floats(-1e3, 1e3))
def test_softmax_ignores_a_shift(values: list[float], shift: float) -> None:
    """Adding one number to all logits changes nothing."""
    assert np.allclose(softmax(values), softmax(np.add(values, shift)), atol=1e-9)


def test_softmax_of_known_logits() -> None:
    """Logits ln 1, ln 2 and ln 5 give 1/8, 2/8 and 5/8, row by row."""
    row = np.log([1, 2, 5])
    assert np.allclose(softmax([row, row[::-1]]), [[0.125, 0.25, 0.625], [0.625, 0.25, 0.125]])


def test_softmax_survives_large_negative_logits() -> None:
    """The maximum is subtracted, not the largest absolute value, which would overflow here."""
    assert np.allclose(softmax([-1e4, 0, 0]), [0, 0.5, 0.5])


@pytest.mark.parametrize("broken", [[math.nan] * 3, [math.inf, -math.inf, 0], [0, 1, -math.inf]])
def test_logits_that_are_no_number_fail(broken: list[float]) -> None:
    """C33: NaN and infinity become an error, never a probability."""
    with pytest.raises(NliFailed, match="finite"):
        LabelOrder(0, 1, 2).read_logits(broken)


@pytest.mark.parametrize("broken", [[0.1, 0.2], [0.1] * 4, [[0.1, 0.2, 0.3]]])
def test_logits_of_another_shape_fail(broken: list[float]) -> None:
    """Anything but three logits a pair is an error."""
    with pytest.raises(NliFailed, match="shape"):
        LabelOrder(0, 1, 2).read_logits(broken)


def test_logits_are_read_in_the_models_order() -> None:
    """C29: the same logits mean another thing under another order."""
    row = np.log([1, 2, 5])
    found = LabelOrder(entailment=1, neutral=2, contradiction=0).read_logits(row)
    assert (found.entailment, found.neutral, found.contradiction) == pytest.approx((0.25, 0.625, 0.125))


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["entailment", "neutral", "contradiction"], LabelOrder(0, 1, 2)),
        (["contradiction", "entailment", "neutral"], LabelOrder(1, 2, 0)),
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], LabelOrder(2, 1, 0)),
        (["Contradict", "Entailed", " Neutral "], LabelOrder(1, 2, 0)),
        (["entail", "contradicts", "neutral"], LabelOrder(0, 2, 1)),
    ],
)
def test_labels_are_found_by_name(names: list[str], order: LabelOrder) -> None:
    """C29: in any order, case and ending."""
    assert read_label_order(dict(enumerate(names))) == order


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["entailment", "not_entailment"], "2 classes"),
        (["entailment", "neutral", "contradiction", "other"], "4 classes"),
        (["LABEL_0", "LABEL_1", "LABEL_2"], "real label names"),
        (["entailment", "not_entailment", "contradiction"], "real label names"),
        (["entailment", "entailed", "contradiction"], "real label names"),
        ([], "0 classes"),
    ],
)
def test_labels_that_do_not_fit_are_refused(names: list[str], reason: str) -> None:
    """C29: two classes, unnamed and doubled labels stop the start, with the reason and the names."""
    with pytest.raises(ModelFolderInvalid, match=reason) as caught:
        read_label_order(dict(enumerate(names)))
    assert all(name in str(caught.value) for name in names)


def test_label_indices_must_be_those_of_the_logits() -> None:
    """Three good names at 1, 2 and 3 point past the logits."""
    with pytest.raises(ModelFolderInvalid, match="at 0, 1 and 2"):
        read_label_order({1: "entailment", 2: "neutral", 3: "contradiction"})


@given(sentences, st.integers(1, 12))
def test_windows_hold_whole_sentences_in_order(texts: list[str], budget: int) -> None:
    """Nothing is lost or moved, and only a single sentence may be over the budget."""
    windows = split_windows(texts, count_words, budget)
    rest = list(texts)
    for window in windows:
        held: list[str] = []
        while " ".join(held) != window:
            held.append(rest.pop(0))
        assert count_words(window) <= budget or len(held) == 1
    assert rest == []


@given(sentences, st.integers(1, 12))
def test_windows_are_as_few_as_can_be(texts: list[str], budget: int) -> None:
    """No window could have taken the first sentence of the next."""
    windows = split_windows(texts, count_words, budget)
    starts = np.cumsum([0, *(len(window.split()) for window in windows)])
    firsts = {int(start): text for start, text in zip(np.cumsum([0, *map(count_words, texts)]), texts, strict=False)}
    for window, start in zip(windows, starts[1:-1], strict=False):
        assert count_words(window) + count_words(firsts[int(start)]) > budget


def test_windows_by_hand() -> None:
    """Five sentences of two words in windows of five words: two, two and one."""
    texts = ["a a", "b b", "c c", "d d", "e e"]
    assert split_windows(texts, count_words, 5) == ["a a b b", "c c d d", "e e"]


def test_premises_are_all_windows_and_the_nearest_sentence() -> None:
    """Contract 5: the whole reference in windows, then the single sentence that concerns the claim."""
    reference = [f"Sentence {number} says {'word ' * 30}".strip() for number in range(4)]
    reference[2] = "Verdane Bridge opened in 1913."
    claim = "Verdane Bridge opened in 1931."
    limit = SPECIAL_TOKENS + count_words(claim) + LEAST_PREMISE_TOKENS + 2
    assert choose_premises(claim, reference, count_words, limit) == [
        f"{reference[0]} {reference[1]}",
        f"{reference[2]} {reference[3]}",
        reference[2],
    ]


def test_a_single_sentence_is_one_premise() -> None:
    """Where the only window is the nearest sentence itself, the model reads it once."""
    assert choose_premises("It opened.", ["It opened in 1913."], count_words, 512) == ["It opened in 1913."]


def test_an_empty_reference_gives_no_premise() -> None:
    """Nothing to read is no error."""
    assert choose_premises("It opened.", [], count_words, 512) == []


def test_a_claim_that_leaves_no_room_is_too_long() -> None:
    """The claim is never cut: one word more than leaves useful room, and there are no premises at all."""
    longest = 512 - SPECIAL_TOKENS - LEAST_PREMISE_TOKENS
    assert choose_premises("word " * longest, ["It opened."], count_words, 512) == ["It opened."]
    assert choose_premises("word " * (longest + 1), ["It opened."], count_words, 512) is None


@pytest.mark.parametrize(
    ("results", "label", "score", "decider"),
    [
        ([(0.1, 0.8), (0.0, 0.9), (0.3, 0.2)], "contradiction", -0.9, 1),
        ([(0.7, 0.1), (0.95, 0.0), (0.0, 0.4)], "entailment", 0.95, 1),
        ([(0.4, 0.1), (0.1, 0.45), (0.0, 0.02)], "neutral", 0.0, 1),
        ([(0.01, 0.01)], "neutral", 0.0, 0),
        ([(0.5, 0.1)], "entailment", 0.5, 0),
        ([(0.1, 0.5 - 1e-10)], "contradiction", -0.5 + 1e-10, 0),
        ([(0.1, 0.4999)], "neutral", 0.0, 0),
        ([(0.9, 0.0), (0.9, 0.05)], "entailment", 0.9, 0),
    ],
)
def test_score_of_a_claim(results: list[tuple[float, float]], label: str, score: float, decider: int) -> None:
    """Contract 5: the sign by what some premise says at 0.5 or over, the size by the strongest of them."""
    premises = [f"premise {index}" for index in range(len(results))]
    judged = [probabilities(*result) for result in results]
    found = score_claim(premises, judged)
    assert (found.label, found.score, found.premise) == (label, score, premises[decider])
    assert found.probabilities == judged[decider]
    assert not found.contested


@pytest.mark.parametrize("results", [[(0.70, 0.05), (0.10, 0.80)], [(0.9, 0.0), (0.0, 0.5)], [(0.5, 0.5)]])
def test_premises_that_disagree_leave_a_claim_contested(results: list[tuple[float, float]]) -> None:
    """C34: one entails, one contradicts; the claim has no score, and the contradicting premise is shown."""
    found = score_claim([str(index) for index in range(len(results))], [probabilities(*result) for result in results])
    assert (found.label, found.score, found.contested) == (None, None, True)
    assert found.premise == str(len(results) - 1)


def test_a_neutral_pair_keeps_its_softmax() -> None:
    """C34: neutral .98 stays .98 and is no half entailment."""
    found = score_claim(["premise"], [Probabilities(0.01, 0.98, 0.01)])
    assert (found.score, found.probabilities) == (0.0, Probabilities(0.01, 0.98, 0.01))


def test_a_claim_without_premises_is_neutral() -> None:
    """Where nothing was read nothing decides."""
    found = score_claim([], [])
    assert (found.label, found.score, found.premise, found.probabilities) == ("neutral", 0.0, None, None)
