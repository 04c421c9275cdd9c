"""What `calibrate` says, writes and draws, and what it refuses; the scorer is a fake."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fakes import FakeNli, compare_words
from proxy.calibration.choice import CostAim, PrecisionAim, Survey, TradeOff, find_frontier, survey_lines
from proxy.calibration.command import (
    LEAST_CLAIMS,
    SIGNATURE,
    check_examples,
    check_output,
    count_needed,
    describe_choice,
    explain_failure,
    print_trade_off,
    score_examples,
    write_settings,
)
from proxy.calibration.curve import draw_curve
from proxy.calibration.examples import Example, Label
from proxy.claims.claim import Claim, Sentence
from proxy.errors import CalibrationFailed
from proxy.settings import load_settings
from proxy.terminal import make_console
from proxy.verdict import Line

NOW = Line("bounded", 0.7, 0.5, 0.9)
REFERENCE = ("Verdane Bridge opened in 1913.", "Verdane Bridge is 340 metres long.")
FALSE, TRUE = "Verdane Bridge opened in 1931.", "Verdane Bridge is 340 metres long."


def example(*claims: tuple[str, Label]) -> Example:
    placed = [Claim(text, Sentence(at, (0, len(text)), text)) for at, (text, _) in enumerate(claims)]
    return Example(tuple(placed), tuple(label for _, label in claims), REFERENCE)


async def survey(examples: list[Example]) -> Survey:
    return survey_lines(await score_examples(examples, FakeNli(compare_words)), NOW, 0.6)


def trade(right: int, wrong: int, missed: int = 0) -> TradeOff:
    return TradeOff(NOW, right, wrong, missed, 100)


@pytest.mark.anyio
async def test_a_precision_that_is_shown() -> None:
    """A hundred right edits are enough to be assured of 0.95, and nothing else is said."""
    made = await survey([example((FALSE, "false"), (TRUE, "true"))] * 100)
    chosen = PrecisionAim(0.95).choose(made.weigh())
    assert chosen is not None
    outcome, expected = describe_choice(chosen, made, PrecisionAim(0.95))
    assert "Of 100 edits 100 are right: precision 1.00 [0.96, 1.00]; false claims found 1.00 [0.96, 1.00]" in outcome
    assert "precision 1.00 [0.96, 1.00], found 1.00 [0.96, 1.00]" in expected


@pytest.mark.anyio
async def test_a_precision_that_is_not_shown() -> None:
    """Ten right edits of ten are no promise of 0.95: it says so, with the interval and how many would do."""
    made = await survey([example((FALSE, "false"), (TRUE, "true"))] * 10)
    chosen = PrecisionAim(0.95).choose(made.weigh())
    assert chosen is not None
    *_, doubt, advice = describe_choice(chosen, made, PrecisionAim(0.95))
    assert doubt.startswith("Not assured: with 10 edits the precision may be as low as 0.72")
    assert "73 edits" in doubt
    assert "more answers" in advice


@pytest.mark.anyio
async def test_examples_left_out_that_do_not_bear_it_out() -> None:
    """A line that only suits the examples it was chosen by is not assured."""
    made = await survey([example((FALSE, "false"))] * 16 + [example((FALSE, "true"))] * 4)
    chosen = PrecisionAim(0.5).choose(made.weigh())
    assert chosen is not None
    assert len(describe_choice(chosen, made, CostAim(1))) == 2, "a cost is no promise"
    assert not any("left out" in said for said in describe_choice(chosen, made, PrecisionAim(0.5)))
    assert any("left out" in said for said in describe_choice(chosen, made, PrecisionAim(0.81)))


@pytest.mark.parametrize(("target", "needed"), [(0.95, 73), (0.9, 35), (0.1, 1), (1.0, "no number of")])
def test_how_many_edits_would_show_it(target: float, needed: object) -> None:
    """Of n, n right edits have n / (n + 1.96^2) as the lower end: 73 for 0.95, 35 for 0.9; nothing shows 1."""
    assert count_needed(target) == needed


def test_too_few_examples_are_refused() -> None:
    """Fewer than five false claims, or others, are told with what they could mean."""
    some = [example((FALSE, "false"), (TRUE, "true"))] * LEAST_CLAIMS
    check_examples(some)
    with pytest.raises(CalibrationFailed, match=r"0 false claims and 5 others.*0\.00 to 1\.00"):
        check_examples([example((TRUE, "true"))] * 5)
    with pytest.raises(CalibrationFailed, match=r"5 false claims and 1 others.*1 of 1 .* 0\.21 to 1\.00"):
        check_examples([*[example((FALSE, "false"))] * 5, example((TRUE, "open"))])


def test_why_nothing_is_recommended() -> None:
    """The nearest that could be had is named with its interval."""
    said = explain_failure([trade(8, 2), trade(9, 6)], PrecisionAim(0.95))
    assert "no line reaches a precision of 0.95" in said
    assert "0.80 [0.49, 0.94]" in said
    assert "detect" in explain_failure([], PrecisionAim(0.95))
    assert "detect" in explain_failure([trade(1, 9)], CostAim(50))


def test_the_settings_file_is_one_that_serve_reads(tmp_path: Path) -> None:
    """k, floor and ceiling come out of it as they went in, and it may be written over; nobody else's may."""
    file = tmp_path / "corrigenda.toml"
    check_output(file)
    write_settings(file, TradeOff(Line("bounded", 1.0, 0.85, 0.97), 30, 1, 5, 40), "embedded")
    settings = load_settings(file)
    assert (settings.k, settings.tau_floor, settings.tau_ceiling) == (1.0, 0.85, 0.97)
    assert file.read_text().startswith(SIGNATURE)
    assert "precision 0.97 [0.84, 0.99]" in file.read_text()
    check_output(file)
    file.write_text("k = 0.5\n")
    with pytest.raises(CalibrationFailed, match="--output"):
        check_output(file)
    with pytest.raises(CalibrationFailed, match="cannot be written"):
        write_settings(tmp_path / "none" / "a.toml", trade(1, 0), "embedded")


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The chosen line and the one in use are marked; a long frontier is thinned out, these two never."""
    frontier = [TradeOff(Line("bounded", 0.3, 0.5, 0.9), 60 - n, 40 - n, n, 60) for n in range(40)]
    print_trade_off(make_console(), frontier, frontier[7], trade(30, 30, 30))
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["k", "floor", "ceiling", "edits", "precision", "found", "others", "edited"]
    assert 10 <= len(rows) <= 14
    [chosen] = [row for row in rows if "chosen" in row]
    assert chosen.split()[1:5] == ["0.3", "0.5", "0.9", "86"]
    assert sum("in use" in row for row in rows) == 1


def test_the_curve_is_a_picture(tmp_path: Path) -> None:
    """A PNG comes out, whatever has no precision; what cannot be written is told."""
    file = tmp_path / "curve.png"
    frontier = find_frontier([trade(9, 3, 3), trade(5, 0, 7)])
    draw_curve(file, frontier, frontier[1], trade(0, 0, 12), 0.9)
    picture = file.read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(picture) > 10_000
    with pytest.raises(CalibrationFailed, match="cannot be written"):
        draw_curve(tmp_path / "none" / "curve.png", frontier, frontier[1], frontier[0], None)


def test_the_curve_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where matplotlib is not installed one line says how to get it."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(CalibrationFailed, match=r"corrigenda\[calibrate\].*--no-curve"):
        draw_curve(tmp_path / "curve.png", [], trade(1, 0), trade(1, 0), None)
