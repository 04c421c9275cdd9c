"""`corrigenda calibrate`: the user's examples scored, every line tried, one chosen, written down and shown.

In: settings, a file of labelled examples, an aim. Out: a table, a curve and a settings file for `serve --config`; or
the reason why nothing can be recommended. A precision that the examples are too few to show is never promised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from proxy.app import join_models, load_models, make_policy
from proxy.calibration.choice import (
    Aim,
    CostAim,
    PrecisionAim,
    ScoredExample,
    Share,
    Survey,
    TradeOff,
    find_frontier,
    survey_lines,
)
from proxy.calibration.curve import draw_curve
from proxy.calibration.examples import Example, read_examples
from proxy.errors import CalibrationFailed
from proxy.matching import Matcher
from proxy.services import Nli
from proxy.settings import Settings
from proxy.terminal import make_console
from proxy.verdict import Line

SIGNATURE: Final = "# Written by `corrigenda calibrate`"
"""How a file begins that may be written over."""
LEAST_CLAIMS: Final = 5
"""Claims of either sort, false or not, under which nothing is fitted."""
_ROWS: Final = 12
"""Lines of the table."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the results go."""

    settings: Path
    curve: Path | None


async def calibrate(settings: Settings, data: Path, aim: Aim, outputs: Outputs) -> None:
    """Fit k, floor and ceiling on a file of examples.

    Raises:
        ExamplesInvalid: the file cannot be used.
        CalibrationFailed: there are too few examples, no line reaches the aim, or a result cannot be written.
        ModelFolderInvalid, NliFailed: the NLI model cannot be used.
    """
    examples = read_examples(data)
    check_examples(examples)
    check_output(outputs.settings)
    models = load_models(settings)
    nli = join_models(models)
    try:
        policy = make_policy(settings, nli)
        scored = await score_examples(examples, nli)
    finally:
        for model in models:
            model.close()
    now = Line("bounded", settings.k, policy.floor, policy.ceiling)
    survey = survey_lines(scored, now, policy.flag_share)
    tried = survey.weigh()
    frontier, chosen = find_frontier(tried), aim.choose(tried)
    typer.echo(f"{describe_examples(examples)}; NLI model {nli.name}")
    print_trade_off(make_console(), frontier, chosen, tried[0])
    if chosen is None or not chosen.right:
        raise CalibrationFailed(explain_failure(frontier, aim))
    for statement in describe_choice(chosen, survey, aim):
        typer.echo(statement)
    write_settings(outputs.settings, chosen, nli.name)
    typer.echo(f"Written to {outputs.settings}: corrigenda serve --config {outputs.settings}")
    if outputs.curve is not None:
        draw_curve(outputs.curve, frontier, chosen, tried[0], aim.target if isinstance(aim, PrecisionAim) else None)
        typer.echo(f"Drawn to {outputs.curve}")


def check_examples(examples: Sequence[Example]) -> None:
    """Refuse examples of which nothing could be learned.

    Raises:
        CalibrationFailed: there are too few false claims, or too few others.
    """
    labels = [label for example in examples for label in example.labels]
    false = labels.count("false")
    fewer = min(false, len(labels) - false)
    if fewer < LEAST_CLAIMS:
        reach = Share(fewer, fewer)
        raise CalibrationFailed(
            f"too few examples: {false} false claims and {len(labels) - false} others; give at least {LEAST_CLAIMS} of "
            f"each. A share seen in {fewer} of {fewer} may be anything from {reach.low:.2f} to {reach.high:.2f}"
        )


def check_output(file: Path) -> None:
    """Refuse to write over a settings file that someone else wrote.

    Raises:
        CalibrationFailed: there is such a file.
    """
    if file.exists() and not file.read_bytes().startswith(SIGNATURE.encode()):
        raise CalibrationFailed(f"{file} exists and is not a file of this command; name another one with --output")


async def score_examples(examples: Sequence[Example], nli: Nli) -> list[ScoredExample]:
    """Score all claims as the proxy would; progress goes to standard error."""
    shown = track(examples, "Scoring", console=Console(stderr=True), transient=True)
    return [
        ScoredExample(await Matcher(nli, [example.reference]).score(example.claims), example.labels)
        for example in shown
    ]


def describe_examples(examples: Sequence[Example]) -> str:
    """Say how many examples there are."""
    labels = [label for example in examples for label in example.labels]
    counts = ", ".join(f"{labels.count(label)} {label}" for label in ("true", "false", "open"))
    return f"{len(examples)} answers with {len(labels)} claims: {counts}"


def describe_choice(chosen: TradeOff, survey: Survey, aim: Aim) -> list[str]:
    """Say what was chosen, what may be expected of it, and what the examples do not show."""
    line, held = chosen.line, survey.hold_out(aim)
    outcome = (
        f"Chosen: k {line.k:g}, floor {line.floor:g}, ceiling {line.ceiling:g}. Of {chosen.precision.total} edits "
        f"{chosen.right} are right: precision {_say(chosen.precision)}; false claims found {_say(chosen.found)}; "
        f"other claims edited {_say(chosen.harm)}."
    )
    expected = (
        "On examples it was not chosen by (each fifth by the rest): "
        f"precision {_say(held.precision)}, found {_say(held.found)}."
    )
    doubts = find_doubts(chosen, held, aim) if isinstance(aim, PrecisionAim) else []
    return [outcome, expected, *doubts]


def find_doubts(chosen: TradeOff, held: TradeOff, aim: PrecisionAim) -> list[str]:
    """Say why the precision asked for is not assured; nothing where it is."""
    doubts = []
    if not aim.is_assured(chosen):
        doubts.append(
            f"Not assured: with {chosen.precision.total} edits the precision may be as low as "
            f"{chosen.precision.low:.2f}, below the {aim.target:g} asked for; {count_needed(aim.target)} edits, all of "
            "them right, would show it."
        )
    if not held.precision.value >= aim.target:
        doubts.append(f"Not assured: the examples left out do not bear out the {aim.target:g} asked for.")
    return [*doubts, "Label more answers before you rely on it."] if doubts else []


def explain_failure(frontier: Sequence[TradeOff], aim: Aim) -> str:
    """Say why no line is recommended."""
    if isinstance(aim, CostAim) or not frontier:
        return "no line is worth its wrong edits on these examples: leave mode at `detect`, or try another NLI model"
    best = max(frontier, key=lambda one: one.precision.value)
    return (
        f"no line reaches a precision of {aim.target:g} on these examples; the best has {_say(best.precision)} "
        f"(k {best.line.k:g}, floor {best.line.floor:g}, ceiling {best.line.ceiling:g}): lower the target, or try "
        "another NLI model"
    )


def count_needed(target: float) -> int | str:
    """Return how many edits, all of them right, would show a precision of `target`."""
    if target >= 1:
        return "no number of"
    needed = 1
    while Share(needed, needed).low < target:
        needed *= 2
    return next(count for count in range(needed // 2, needed + 1) if Share(count, count).low >= target)


def print_trade_off(console: Console, frontier: Sequence[TradeOff], chosen: TradeOff | None, now: TradeOff) -> None:
    """Print the best lines, those that find most first, the one in use and the chosen one."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "k", "floor", "ceiling", "edits", "precision", "found", "others edited"):
        table.add_column(name, justify="right")
    step = max(1, math.ceil(len(frontier) / _ROWS))
    shown = sorted({*frontier[::step], now, *([chosen] if chosen else [])}, key=lambda one: (-one.right, one.wrong))
    for one in shown:
        marks = [mark for mark, marked in (("chosen", one == chosen), ("in use", one == now)) if marked]
        line, style = one.line, "bold" if one == chosen else None
        shares = (_say(one.precision), _say(one.found), _say(one.harm))
        edits = str(one.precision.total)
        table.add_row(
            ", ".join(marks), f"{line.k:g}", f"{line.floor:g}", f"{line.ceiling:g}", edits, *shares, style=style
        )
    console.print(table)


def write_settings(file: Path, chosen: TradeOff, model: str) -> None:
    """Write the chosen line as a settings file.

    Raises:
        CalibrationFailed: it cannot be written.
    """
    line = chosen.line
    text = (
        f"{SIGNATURE} for the NLI model {model} and the rule `bounded`.\n"
        f"# On the examples: precision {_say(chosen.precision)}, found {_say(chosen.found)}.\n"
        f"k = {line.k}\ntau_floor = {line.floor}\ntau_ceiling = {line.ceiling}\n"
    )
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CalibrationFailed(f"{file} cannot be written ({error.strerror})") from None


def _say(share: Share) -> str:
    """Return a share with its interval."""
    if not share.total:
        return "-"
    return f"{share.value:.2f} [{share.low:.2f}, {share.high:.2f}]"
