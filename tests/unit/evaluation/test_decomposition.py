"""What the decomposition's measure counts."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.bootstrap import Estimate
from evaluation.decomposition import Tally, estimate_measures, examine, examine_recorded
from evaluation.drawing import draw_by_model, draw_locally
from evaluation.labels import LabelledDocument, LabelledSentence, read_documents
from evaluation.recordings import Recorder, Recording
from fakes import FakeLlm, claims_reply
from proxy.claims.claim import Claim


def document(*sentences: tuple[str, list[str]]) -> LabelledDocument:
    labelled, draft = [], ""
    for number, (text, claims) in enumerate(sentences):
        draft += " " if draft else ""
        labelled.append(LabelledSentence(str(number), draft, text, tuple(claims)))
        draft += text
    return LabelledDocument("d", "history", "en", held_out=False, aliases=(), sentences=tuple(labelled))


BRIDGE = document(
    ("Verdane Bridge was built in 1913 and rebuilt in 1950.",
     ["Verdane Bridge was built in 1913.", "Verdane Bridge was rebuilt in 1950."]),
    ("They doubled it later.", []),
    ("I find it lovely.", []),
)  # fmt: skip


def draw(*claims: tuple[str, str]) -> list[Claim]:
    sentences = {claim.sentence.text: claim.sentence for claim in draw_locally(BRIDGE)}
    return [Claim(text, sentences[of]) for of, text in claims]


def test_counts() -> None:
    """Covered, alone, right, compound and false claims of one draft; what is not judged is counted apart."""
    whole = BRIDGE.sentences[0].text
    (local,) = examine([BRIDGE], draw_locally)
    assert local.tally == Tally(labelled=2, covered=2, alone=2, drawn=2, right=2, silent=2, withheld=1)
    assert local.faults == ()
    drawn = draw((whole, whole), ("They doubled it later.", "The toll was doubled later."))
    (other,) = examine([BRIDGE], lambda _: drawn)
    assert other.tally == Tally(labelled=2, covered=2, drawn=2, right=1, compound=1, silent=2, false=1)
    assert other.faults[0].wrong == ("The toll was doubled later.",)
    (none,) = examine([BRIDGE], lambda _: [])
    assert none.faults[0].missed == BRIDGE.sentences[0].claims


def test_measures_are_shares() -> None:
    """Each is a share of what it is out of, over all documents."""
    measures = estimate_measures(
        [Tally(labelled=3, covered=3, alone=1, drawn=2, right=1, compound=1), Tally(labelled=1)]
    )
    assert {name: str(figure)[:5] for name, figure in measures.items() if name not in ("documents", "withheld")} == {
        "completeness": "0.750",
        "alone": "0.250",
        "correctness": "0.500",
        "compound": "0.500",
        "false": "-",
    }


def test_a_models_claims_are_drawn() -> None:
    """Its replies go through the pipeline's own decomposition; one that cannot be read gives no claim."""
    llm = FakeLlm(
        {"claims": lambda ask: claims_reply([(1, "Verdane Bridge was built in 1913.")]) if "1913" in ask.text else "?"}
    )
    assert draw_by_model(document(*((s.text, list(s.claims)) for s in BRIDGE.sentences[:1])), llm)[0].text == (
        "Verdane Bridge was built in 1913."
    )
    assert draw_by_model(BRIDGE, FakeLlm({"claims": "?"})) == ()


def test_documents_that_were_not_recorded_are_left_out() -> None:
    """A measure over recorded replies speaks only of the documents that it has all replies of."""
    recording = Recording("m")
    llm = FakeLlm({"claims": claims_reply([(1, "Verdane Bridge was built in 1913.")])})
    draw_by_model(BRIDGE, Recorder(llm, Recording("m"), recording))
    other = document(("Ada Lorne was born in Perth.", ["Ada Lorne was born in Perth."]))
    assert [one.document for one in examine_recorded([BRIDGE, other], recording)] == [BRIDGE]


def test_command() -> None:
    """The tables come first; the last line is one JSON object."""
    result = CliRunner().invoke(app, ["claims", "--method", "local", "--json"])
    assert result.exit_code == 0
    assert "completeness" in result.output
    figures = json.loads(result.output.splitlines()[-1])["local"]
    value, low, high = figures["English"]["completeness"]
    assert low <= value <= high
    assert figures["ms_per_sentence"] > 0


@pytest.mark.parametrize(("measure", "goal"), [("completeness", 0.85), ("correctness", 0.90)])
def test_local_is_a_fair_choice(measure: str, goal: float) -> None:
    """On English, at least so many claims are found, and at least so many of those drawn are right."""
    english = [one for one in read_documents() if one.language == "en"]
    figure = estimate_measures([one.tally for one in examine(english, draw_locally)])[measure]
    assert isinstance(figure, Estimate)
    assert figure.value >= goal
