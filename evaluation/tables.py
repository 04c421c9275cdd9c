"""Tables for people, at a terminal or in a file.

In: a title, the names of columns, rows of cells. Out: lines on a console. Apart from the measures so that all of them
print alike: the first column names what was measured, the others hold figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from rich.console import Console
from rich.table import Table

from proxy.terminal import make_console

__all__ = ["Cell", "make_console", "print_table"]

WIDTH: Final = 160
"""Columns at least; figures with their intervals take room, and a narrow terminal wraps lines by itself."""

Cell: TypeAlias = object
"""Text, a count, a figure, an `Estimate` or None."""


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]], console: Console | None = None
) -> None:
    """Print a table: the first column on the left, the figures on the right.

    Args:
        title: stands above it.
        columns: their names, one for each cell of a row.
        rows: cells of any type; see `format_cell`.
        console: where to; standard output if none.
    """
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for position, name in enumerate(columns):
        table.add_column(name, justify="right" if position else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(format_cell, row))
    if console is None:
        console = make_console()
        console.width = max(console.width, WIDTH)
    console.print(table)
    console.print()


def format_cell(cell: Cell) -> str:
    """Return a cell as text: three decimals for a figure, a dash where there is none."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
