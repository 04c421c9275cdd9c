"""Whether the verdicts help or harm: `python -m evaluation harm` (rules, k and number of claims against the truth).

In: the folder of the data sets, an NLI model. Out: tables of what share of false claims is found, how many of the edits
are right, how many true claims are touched, what the corrections make of the false ones, and whether all other text
stays; with `--json` the figures at k = 0.7 on the last line. Here are the command and its tables; the answers come from
`composites` and `wikibio`, one answer's trial is in `trial`, the counting in `tally`.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, get_args

import typer
from rich.console import Console
from rich.progress import track

from evaluation.answers import Answer, count_labels
from evaluation.composites import compose_answers, read_fever
from evaluation.memory import RememberingNli
from evaluation.tables import Cell, print_table
from evaluation.tally import Figures, count_outcomes
from evaluation.trial import Trial, try_lines
from evaluation.wikibio import read_passages
from proxy.app import find_embedded_model
from proxy.controls import Rule
from proxy.errors import CorrigendaError
from proxy.nli.onnx import load_onnx_nli
from proxy.services import Nli
from proxy.verdict import Line

RULES: Final[tuple[Rule, ...]] = get_args(Rule)
KS: Final = (0.3, 0.5, 0.7, 1.0)
DEFAULT_K: Final = 0.7
MANY: Final = 4
"""Claims from which on the published line cannot reach a lone false one."""
ANSWERS_A_SIZE: Final = 12
"""Composed answers of each size and kind."""
PASSAGES: Final = 30
SIDE_BY_SIDE: Final = 4
"""Answers in work at once, so that the questions of one correction, a few pairs each, keep every core busy."""
FIGURES: Final = ("found", "precision", "open too", "harm", "open edited", "made true")
LEGEND: Final = """\
found: false claims marked for editing, of all false ones. precision: false ones of the marked, open ones aside; with
`open too` these count as wrong. harm: true ones marked, of all true ones. made true: false ones replaced, after every
check, by what an oracle takes from the evidence. untouched: answers whose other text stayed. In brackets the 95 %
interval over distinct claims, or passages.
"""


def measure_harm(
    data: Annotated[Path, typer.Option(help="Folder of the data sets: qa/ and answers/.")],
    nli: Annotated[
        Path | None, typer.Option(help="Folder of the NLI model [the shipped one].", show_default=False)
    ] = None,
    false_share: Annotated[
        float, typer.Option(min=0, max=0.9, help="Part of the composed claims that is false.")
    ] = 0.2,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Answers of each data set at most.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the composition.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one object on the last line.")] = False,
) -> None:
    """Measure what the verdicts find and what they harm, on FEVER composites and WikiBio passages."""
    try:
        claims = read_fever(data / "qa" / "fever_1000.jsonl")
        passages = read_passages(data / "answers" / "llm_answers.jsonl")
        scorer = load_onnx_nli(nli or find_embedded_model())
    except (OSError, CorrigendaError) as error:
        typer.echo(f"evaluation: {error}", err=True)
        raise typer.Exit(1) from None
    composed = compose_answers(claims, a_size=ANSWERS_A_SIZE, false_share=false_share, seed=seed)[:limit]
    written = passages[: min(limit or PASSAGES, PASSAGES)]
    try:
        trials = asyncio.run(run_trials([*composed, *written], RememberingNli(scorer)))
    finally:
        scorer.close()
    describe(composed, written, scorer)
    composites = [trial for trial in trials if trial.kind != "wikibio"]
    print_rules("FEVER composites, any number of claims", composites)
    print_kinds(composites)
    print_sizes(composites)
    print_rules("WikiBio passages, by sentence", [trial for trial in trials if trial.kind == "wikibio"])
    if as_json:
        typer.echo(json.dumps(summarise(composites)))


async def run_trials(answers: Sequence[Answer], nli: Nli) -> list[Trial]:
    """Try all answers under every rule and k, a few at a time; progress goes to standard error."""
    lines = [Line(rule, k, nli.tau_floor, nli.tau_ceiling) for rule in RULES for k in KS]
    slots = asyncio.Semaphore(SIDE_BY_SIDE)

    async def attempt(answer: Answer) -> list[Trial]:
        async with slots:
            return await try_lines(answer, nli, lines)

    trying = asyncio.as_completed([attempt(answer) for answer in answers])
    shown = track(trying, "Answers", total=len(answers), console=Console(stderr=True), transient=True)
    return [trial for finished in shown for trial in await finished]


def summarise(trials: Sequence[Trial]) -> dict[str, dict[str, float | None]]:
    """Return the figures at the default k by rule; None where there is nothing to measure."""
    summary: dict[str, dict[str, float | None]] = {}
    for rule in RULES:
        own = [trial for trial in trials if (trial.line.rule, trial.line.k) == (rule, DEFAULT_K)]
        figures = _count(own)
        many = _count(trial for trial in own if trial.size >= MANY)
        summary[rule] = {
            "edit_precision": _round(figures.precision.value),
            "harm": _round(figures.harm.value),
            "found": _round(figures.found.value),
            "found_n4plus": _round(many.found.value),
            "untouched_identity": _round(measure_identity(own)),
        }
    return summary


def measure_identity(trials: Sequence[Trial]) -> float:
    """Return the share of answers whose text outside the edits is the draft's to the character."""
    return sum(trial.intact for trial in trials) / len(trials) if trials else math.nan


def describe(composed: Sequence[Answer], passages: Sequence[Answer], nli: Nli) -> None:
    """Print what is measured."""
    labels = count_labels(composed)
    claims = {statement.source for answer in composed for statement in answer.statements}
    inaccurate = count_labels(passages)["false"]
    typer.echo(
        f"NLI model {nli.name}, floor {nli.tau_floor:g}, ceiling {nli.tau_ceiling:g}; k does not move `fixed`.\n"
        f"{len(composed)} FEVER composites: {labels['false']} false, {labels['true']} true and {labels['open']} open "
        f"claims, {len(claims)} of them distinct.\n"
        f"{len(passages)} WikiBio passages: {inaccurate} inaccurate of {sum(passage.size for passage in passages)} "
        f"sentences.\n{LEGEND}"
    )


def print_rules(title: str, trials: Sequence[Trial]) -> None:
    """Print a row a rule and k."""
    rows = [[name, *_cells(_count(own)), measure_identity(own)] for name, own in _by_line(trials)]
    print_table(title, ("rule, k", *FIGURES, "untouched"), rows)


def print_kinds(trials: Sequence[Trial]) -> None:
    """Print, at the default k, answers on one subject and on several apart."""
    own = [trial for trial in trials if trial.line.k == DEFAULT_K]
    rows = [
        [f"{name}, {kind}", *_cells(_count(trial for trial in trials if trial.kind == kind))]
        for name, trials in _by_line(own)
        for kind in sorted({trial.kind for trial in trials})
    ]
    print_table("FEVER composites by where their claims are from", ("rule, k, claims", *FIGURES), rows)


def print_sizes(trials: Sequence[Trial]) -> None:
    """Print every rule and k by the number of claims."""
    sizes = sorted({trial.size for trial in trials})
    groups = [(f"n = {size}", range(size, size + 1)) for size in sizes]
    rows: list[list[Cell]] = []
    for name, own in _by_line(trials):
        for group, within in [*groups, (f"n >= {MANY}", range(MANY, sizes[-1] + 1))]:
            figures = _count(trial for trial in own if trial.size in within)
            rows.append([f"{name}, {group}", figures.base_rate.value, *_cells(figures)])
    print_table("FEVER composites by number of claims", ("rule, k, claims", "base rate", *FIGURES), rows)


def _by_line(trials: Sequence[Trial]) -> Iterator[tuple[str, list[Trial]]]:
    """Yield the trials of each rule and k, with the name of their row; `fixed` once, since k does not move it."""
    for rule in RULES:
        for k in KS if rule != "fixed" else (DEFAULT_K,):
            own = [trial for trial in trials if (trial.line.rule, trial.line.k) == (rule, k)]
            if own:
                yield rule if rule == "fixed" else f"{rule} {k:g}", own


def _count(trials: Iterable[Trial]) -> Figures:
    return count_outcomes([outcome for trial in trials for outcome in trial.outcomes])


def _cells(figures: Figures) -> list[Cell]:
    return [
        figures.found,
        figures.precision,
        figures.strict_precision.value,
        figures.harm,
        figures.open_marked.value,
        figures.made_true,
    ]


def _round(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)
