"""Both ways of decomposition against labelled sentences (issue: decomposition measured by itself).

In: the labelled drafts, and for `llm` recorded replies. Out: how many of the labelled claims are drawn (completeness),
how many of the drawn ones the sentence states in words that stand alone (correctness), how many hold more than one
(compound), and how many sentences without a claim give one. Drafts go through segmentation and screening as in the
pipeline, whole. What counts as the same claim is decided in `agreement`, and its limits are those of these figures.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from evaluation.agreement import Agreement, compare_claims
from evaluation.bootstrap import Estimate, estimate_share
from evaluation.drawing import LANGUAGES, draw_by_model, draw_locally, record_replies
from evaluation.labels import CLAIMS, LabelledDocument, LabelledSentence, read_documents
from evaluation.recordings import Recording, read_recordings
from evaluation.tables import print_table
from proxy.claims.claim import Claim
from proxy.embedded.launcher import MODEL_NAME

TIMED_ROUNDS: Final = 5
"""Of these the fastest counts: what the machine does beside it only adds time."""


class Method(StrEnum):
    """A way of decomposition."""

    LOCAL = "local"
    LLM = "llm"


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted in one document."""

    labelled: int = 0
    covered: int = 0
    alone: int = 0
    """Labelled claims that have a drawn one of their own."""
    drawn: int = 0
    """Claims that would be judged; those marked unverifiable are `withheld`."""
    right: int = 0
    compound: int = 0
    silent: int = 0
    """Sentences that state nothing."""
    false: int = 0
    """Those of them that give a claim all the same."""
    withheld: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Count both."""
        return Tally(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class Fault:
    """A sentence with claims that were missed or wrong."""

    sentence: LabelledSentence
    missed: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Examined:
    """One document, measured."""

    document: LabelledDocument
    tally: Tally
    faults: tuple[Fault, ...]


MEASURES: Final[Mapping[str, tuple[str, str]]] = {
    "completeness": ("covered", "labelled"),
    "alone": ("alone", "labelled"),
    "correctness": ("right", "drawn"),
    "compound": ("compound", "drawn"),
    "false": ("false", "silent"),
}
"""Each measure as a share: which count of which other one."""


def measure_claims(
    method: Annotated[Method | None, typer.Option(help="Only this way [both].", show_default=False)] = None,
    data: Annotated[Path, typer.Option(help="Labelled sentences.")] = CLAIMS,
    record: Annotated[
        str | None,
        typer.Option(help="Ask this server first, a base URL or `embedded`, and keep its replies.", show_default=False),
    ] = None,
    model: Annotated[str, typer.Option(help="Model to be recorded.")] = MODEL_NAME,
    faults: Annotated[bool, typer.Option("--faults", help="Print what went wrong, held-out documents aside.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON on the last line.")] = False,
) -> None:
    """Measure the decomposition against labelled sentences."""
    documents = read_documents(data)
    if record is not None:
        typer.echo(f"{len(asyncio.run(record_replies(documents, record, model)).replies)} replies of {model}\n")
    figures: dict[str, object] = {}
    if method is not Method.LLM:
        examined = examine(documents, draw_locally)
        timed = time_locally(documents)
        figures["local"] = {**report(examined, "local"), "ms_per_sentence": timed}
        print_table("local: time", ["", "ms"], [["a sentence, CPU time from draft to claims", timed]])
        _print_faults(examined if faults else [])
    for recording in read_recordings() if method is not Method.LOCAL else []:
        examined = examine_recorded(documents, recording)
        figures[f"llm:{recording.model}"] = report(examined, f"llm, replies of {recording.model}")
        if recording.asked:
            typer.echo("Documents with a prompt that has no recorded reply are left out; --record asks for them.\n")
        _print_faults(examined if faults else [])
    if as_json:
        typer.echo(json.dumps(figures))


def examine(
    documents: Sequence[LabelledDocument], draw: Callable[[LabelledDocument], Sequence[Claim]]
) -> list[Examined]:
    """Draw the claims of each document, and compare them with the labelled ones."""
    return [_examine_document(document, draw(document)) for document in documents]


def examine_recorded(documents: Sequence[LabelledDocument], recording: Recording) -> list[Examined]:
    """Draw the claims of each document by a recorded model; documents that were not recorded whole are left out."""
    examined = []
    for document in documents:
        unknown = len(recording.asked)
        claims = draw_by_model(document, recording)
        if len(recording.asked) == unknown:
            examined.append(_examine_document(document, claims))
    return examined


def time_locally(documents: Sequence[LabelledDocument]) -> float:
    """Return the milliseconds of CPU time that the local way takes for a sentence, from the draft to its claims."""
    drafts = sum(len(document.sentences) for document in documents)
    rounds = []
    for _ in range(TIMED_ROUNDS):
        start = time.process_time()
        for document in documents:
            draw_locally(document)
        rounds.append(time.process_time() - start)
    return 1000 * min(rounds) / drafts


def report(examined: Sequence[Examined], title: str) -> dict[str, object]:
    """Print the measures of one way by group and by domain, and return them."""
    groups = {name: estimate_measures([one.tally for one in members]) for name, members in _group(examined).items()}
    columns = ["", "documents", *MEASURES, "withheld"]
    rows = [[name, *figures.values()] for name, figures in groups.items()]
    print_table(title, columns, rows)
    return {name: {key: _as_json(figure) for key, figure in figures.items()} for name, figures in groups.items()}


def estimate_measures(tallies: Sequence[Tally]) -> dict[str, object]:
    """Return the measures over some documents, with intervals over documents."""
    shares = {
        name: estimate_share([getattr(t, hits) for t in tallies], [getattr(t, of) for t in tallies])
        for name, (hits, of) in MEASURES.items()
    }
    return {"documents": len(tallies), **shares, "withheld": sum(tally.withheld for tally in tallies)}


def _group(examined: Sequence[Examined]) -> dict[str, list[Examined]]:
    """Return the documents by language, English ones also by whether they were held out and by domain."""
    english = [one for one in examined if one.document.language == "en"]
    groups = {
        "English": english,
        "  rules written on": [one for one in english if not one.document.held_out],
        "  held out": [one for one in english if one.document.held_out],
    }
    for domain in dict.fromkeys(one.document.domain for one in english):
        groups[f"  {domain}"] = [one for one in english if one.document.domain == domain]
    for code, name in list(LANGUAGES.items())[1:]:
        groups[name] = [one for one in examined if one.document.language == code]
    return {name: members for name, members in groups.items() if members}


def _examine_document(document: LabelledDocument, claims: Sequence[Claim]) -> Examined:
    tally, faults = Tally(), []
    for sentence in document.sentences:
        own = [claim for claim in claims if sentence.holds(claim.sentence.span[0])]
        drawn = [claim.text for claim in own if claim.unverifiable is None]
        agreement = compare_claims(drawn, sentence.claims, document.aliases)
        tally += _count(sentence, agreement, withheld=len(own) - len(drawn))
        missed = tuple(text for text, covered in zip(sentence.claims, agreement.covered, strict=True) if not covered)
        wrong = tuple(text for text, right in zip(drawn, agreement.right, strict=True) if not right)
        if missed or wrong:
            faults.append(Fault(sentence, missed, wrong))
    return Examined(document, tally, tuple(faults))


def _count(sentence: LabelledSentence, agreement: Agreement, *, withheld: int) -> Tally:
    silent = not sentence.claims
    return Tally(
        labelled=len(agreement.covered),
        covered=sum(agreement.covered),
        alone=sum(agreement.alone),
        drawn=len(agreement.right),
        right=sum(agreement.right),
        compound=sum(agreement.compound),
        silent=silent,
        false=silent and bool(agreement.right),
        withheld=withheld,
    )


def _print_faults(examined: Sequence[Examined]) -> None:
    for one in examined:
        for fault in one.faults if not one.document.held_out else ():
            typer.echo(f"{fault.sentence.id}  {fault.sentence.text}")
            for text in fault.missed:
                typer.echo(f"    missed  {text}")
            for text in fault.wrong:
                typer.echo(f"    wrong   {text}")


def _as_json(figure: object) -> object:
    """Return a figure as JSON takes it; null where there was nothing to measure."""
    if not isinstance(figure, Estimate):
        return figure
    return None if math.isnan(figure.value) else list(astuple(figure))
