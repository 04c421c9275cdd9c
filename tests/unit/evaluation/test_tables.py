"""What a table shows."""

from __future__ import annotations

import io
import math

from rich.console import Console

from evaluation.bootstrap import Estimate
from evaluation.tables import format_cell, print_table


def test_cells() -> None:
    """Figures have three decimals, counts none, and what is missing is a dash."""
    cells = ["law", 12, 0.91666, Estimate(1.0, 1.0, 1.0), None, math.nan]
    assert [format_cell(cell) for cell in cells] == ["law", "12", "0.917", "1.000 [1.000, 1.000]", "-", "-"]


def test_table() -> None:
    """The title, the names of the columns and one line a row."""
    out = io.StringIO()
    print_table("By domain", ["domain", "share"], [["law", 0.5], ["lists", None]], Console(file=out, width=60))
    lines = [line.split() for line in out.getvalue().splitlines() if line.strip()]
    assert lines == [["By", "domain"], ["domain", "share"], ["law", "0.500"], ["lists", "-"]]
