"""Reports for people at a terminal: what `verify` and `demo` print.

In: the `verification` object with full detail, and the final text. Out: lines on a console, plain where it is no
terminal. Apart from the commands because both show the same thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

WIDTH: Final = 100
_STYLES: Final = {
    "accepted": "green",
    "corrected": "bold green",
    "contradicted": "bold red",
    "neutral": "dim",
    "unverifiable": "yellow",
}


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that is readable in a narrow window and plain in a pipe."""
    console = Console(stderr=stderr, highlight=False, soft_wrap=False)
    if console.width > WIDTH or not console.is_terminal:
        console.width = WIDTH
    return console


def print_choice(console: Console, choice: Mapping[str, Any], text: str, reference: str | None) -> None:
    """Print one choice of a report: draft, reference, claims with scores, the line, the answer.

    Args:
        console: where to.
        choice: an entry of `verification.choices` with full detail.
        text: the choice's final text.
        reference: `verification.reference`.
    """
    wrong = [claim["span"] for claim in choice["claims"] if claim["verdict"] in {"corrected", "contradicted"}]
    _print_block(console, "Draft", _mark(choice["draft"], wrong, "bold red"))
    if reference:
        _print_block(console, "Recall (seen without the draft)", Text(reference))
    if choice["claims"]:
        console.print("Claims", style="bold")
        console.print(_make_table(choice["claims"]))
        console.print(Padding(_describe_line(choice["threshold"]), (0, 0, 0, 2), expand=False))
        console.print()
    new = [edit["span"] for edit in choice["edits"]]
    _print_block(console, "Answer", _mark(text, new, "bold green"))
    outcome = choice["status"] + (f": {choice['reason']}" if choice["reason"] else "")
    console.print(Text.assemble(("Status  ", "bold"), outcome))


def _print_block(console: Console, title: str, body: Text) -> None:
    console.print(title, style="bold")
    console.print(Padding(body, (0, 0, 0, 2), expand=False))
    console.print()


def _mark(text: str, spans: list[list[int]], style: str) -> Text:
    marked = Text(text.rstrip())
    for start, end in spans:
        marked.stylize(style, start, end)
    return marked


def _make_table(claims: list[Mapping[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, pad_edge=False)
    table.add_column(justify="right", min_width=9)
    table.add_column(min_width=12)
    table.add_column(overflow="fold")
    for claim in claims:
        score = "-" if claim["score"] is None else f"{claim['score']:+.3f}"
        reason = f" ({claim['reason']})" if claim["reason"] else ""
        table.add_row(score, Text(claim["verdict"] + reason, _STYLES[claim["verdict"]]), claim["text"])
    return table


def _describe_line(threshold: Mapping[str, Any] | None) -> str:
    if threshold is None:
        return "No claim could be scored, so there is no line."
    bound = f" ({threshold['bound']})" if threshold["bound"] else ""
    return (
        f"mu {threshold['mu']:.3f}  sigma {threshold['sigma']:.3f}  "
        f"tau = mu + {threshold['k']:g} sigma = {threshold['tau']:.3f}  "
        f"applied {threshold['applied']:.3f}{bound}, rule {threshold['rule']}"
    )
