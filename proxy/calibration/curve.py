"""The trade-off as a picture: what precision each share of false claims found is bought with.

In: the frontier, the chosen line and the one in use. Out: a PNG file. The only importer of matplotlib, which is
installed with the extra `calibrate` alone and asked for when a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from proxy.calibration.choice import TradeOff
from proxy.errors import CalibrationFailed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES: Final = (7.0, 4.6)
_DOTS_PER_INCH: Final = 144
_BLUE, _RED, _GREY = "#1f5fa8", "#c0392b", "#666666"


def draw_curve(file: Path, frontier: Sequence[TradeOff], chosen: TradeOff, now: TradeOff, target: float | None) -> None:
    """Draw precision over the share found, with 95 % intervals.

    Args:
        file: where to; an older picture is replaced.
        frontier: the best lines, in the order of what they find.
        chosen: the line recommended.
        now: the line in use before.
        target: the precision asked for, if any.

    Raises:
        CalibrationFailed: matplotlib is not installed, or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  # an extra, and slow to load
    except ImportError:
        raise CalibrationFailed(
            "the curve needs matplotlib: install corrigenda[calibrate], or leave it out with --no-curve"
        ) from None
    figure = Figure(figsize=_INCHES, dpi=_DOTS_PER_INCH, layout="constrained")
    axes = figure.add_subplot()
    _draw_frontier(axes, frontier)
    _draw_point(axes, now, "in use", _GREY, "s")
    _draw_point(axes, chosen, "chosen", _RED, "o")
    if target is not None:
        axes.axhline(target, color=_GREY, linestyle="--", linewidth=1, label=f"target {target:g}")
    axes.set(
        xlim=(0, 1.02),
        ylim=(0, 1.02),
        xlabel=f"false claims found, of {chosen.found.total}",
        ylabel="precision of the edits",
        title="What each line finds, and how many of its edits are right",
    )
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left", frameon=False)
    try:
        figure.savefig(file, format="png")
    except OSError as error:
        raise CalibrationFailed(f"{file} cannot be written ({error.strerror})") from None


def _draw_frontier(axes: Axes, frontier: Sequence[TradeOff]) -> None:
    found = [one.found.value for one in frontier]
    axes.plot(found, [one.precision.value for one in frontier], "-", marker=".", color=_BLUE, label="best lines")
    low, high = [one.precision.low for one in frontier], [one.precision.high for one in frontier]
    axes.fill_between(found, low, high, color=_BLUE, alpha=0.15, linewidth=0, label="95 % interval")


def _draw_point(axes: Axes, one: TradeOff, name: str, colour: str, marker: str) -> None:
    """Draw one line with its intervals both ways; one without edits has no precision and is left out."""
    found, precision = one.found, one.precision
    if not precision.total:
        return
    reach = [[[found.value - found.low], [found.high - found.value]]]
    reach.append([[precision.value - precision.low], [precision.high - precision.value]])
    line = one.line
    axes.errorbar(
        [found.value],
        [precision.value],
        xerr=reach[0],
        yerr=reach[1],
        fmt=marker,
        color=colour,
        capsize=3,
        label=f"{name}: k {line.k:g}, {line.floor:g} to {line.ceiling:g}",
    )
