"""The whole export on one screen: load, build, verify, quantise, pass the gate, publish.

In: what to export and where to. Out: a model folder and its `Report`. Candidates of `precision` are tried in turn,
the smallest and fastest first; the first one that keeps the verdicts is published.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import onnx

from exporting import bert, deberta
from exporting.blocks import Weights
from exporting.checkpoint import Checkpoint, describe_config, load_checkpoint
from exporting.failures import ExportFailed
from exporting.folder import GRAPH, finish_folder, write_folder
from exporting.gate import MOST_GRAPH_ERROR, Labelled, Parity, judge_source, measure_graph_error, measure_parity
from exporting.precision import CANDIDATES, FP32, Precision
from exporting.sessions import Classifier
from proxy.nli.cpu import usable_cores

PACKAGES: Final = ("torch", "transformers", "optimum", "onnx", "onnxruntime", "tokenizers")

Build = Callable[[Any, Weights, Precision], onnx.ModelProto]
Tell = Callable[[str], None]
"""Takes the name of the step that begins."""


@dataclass(frozen=True, slots=True)
class Order:
    """What the user asked for."""

    source: str
    output: Path
    pairs: list[Labelled]
    revision: str | None = None
    languages: tuple[str, ...] = ()
    """Those the model reads; empty: as its card says."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was published."""

    precision: str
    graph: str
    """`folded`, or `stock` for what optimum wrote."""
    graph_error: float
    parity: Parity
    size_bytes: int
    refused: dict[str, list[str]]
    """Candidates before it, and why they did not pass."""
    tokenizer_differs: int | None


def export_model(order: Order, tell: Tell) -> Report:
    """Export a model into its folder.

    Raises:
        ExportFailed: anything stops it; no folder is left then.
    """
    with write_folder(order.output) as folder:
        tell(f"loading {order.source}")
        checkpoint = load_checkpoint(order.source, order.revision, [pair for pair, _ in order.pairs])
        maker = _choose_maker(checkpoint, folder)
        tell(f"checking the {maker.name} graph in fp32")
        error = _verify_graph(checkpoint, maker, folder)
        tell(f"judging {len(order.pairs)} pairs in fp32")
        source = judge_source(checkpoint, order.pairs)
        refused: dict[str, list[str]] = {}
        for precision in CANDIDATES:
            tell(f"trying {precision.name}")
            maker.write(folder / GRAPH, precision)
            parity = measure_parity(source, _load(folder / GRAPH, precision), checkpoint, order.pairs)
            if not parity.faults:
                break
            refused[precision.name] = parity.faults
        else:
            reasons = "; ".join(f"{name}: {', '.join(faults)}" for name, faults in refused.items())
            raise ExportFailed(f"{order.source} fails the parity gate on {len(order.pairs)} pairs: {reasons}")
        maker.clean()
        size = (folder / GRAPH).stat().st_size
        report = Report(precision.name, maker.name, error, parity, size, refused, checkpoint.tokenizer_differs)
        config = {**describe_config(checkpoint), "weight_bits": precision.weight_bits}
        if order.languages:
            config["languages"] = list(order.languages)
        finish_folder(folder, checkpoint.tokenizer.to_str(), config, _describe(checkpoint, report))
    return report


class _Folded:
    """Writes graphs of our own."""

    name = "folded"

    def __init__(self, checkpoint: Checkpoint, build: Build) -> None:
        self._checkpoint = checkpoint
        self._build = build

    def write(self, file: Path, precision: Precision) -> None:
        """Write the graph at a precision."""
        onnx.save(self._build(self._checkpoint.config, self._checkpoint.read_weights(), precision), file)

    def clean(self) -> None:
        """Leave nothing: there is nothing but the graph."""


class _Stock:
    """Writes what optimum exports and the runtime's tools quantise."""

    name = "stock"

    def __init__(self, checkpoint: Checkpoint, folder: Path) -> None:
        from exporting.stock import export_stock  # noqa: PLC0415 - slow to import, and only needed here

        self._graph = export_stock(checkpoint.model, folder)

    def write(self, file: Path, precision: Precision) -> None:
        """Write the graph at a precision."""
        from exporting.stock import quantise_stock  # noqa: PLC0415 - the same

        if precision == FP32:
            onnx.save(onnx.load(self._graph), file)
        else:
            quantise_stock(self._graph, file, precision)

    def clean(self) -> None:
        """Remove the fp32 graph."""
        self._graph.unlink()


def _choose_maker(checkpoint: Checkpoint, folder: Path) -> _Folded | _Stock:
    """Return what writes the model's graphs: ours where we know the architecture."""
    for architecture in (deberta, bert):
        if architecture.is_foldable(checkpoint.config):
            return _Folded(checkpoint, architecture.build_graph)
    return _make_stock(checkpoint, folder)


def _make_stock(checkpoint: Checkpoint, folder: Path) -> _Stock:
    """Export with optimum; it raises whatever its parts raise for an architecture that it does not know."""
    try:
        return _Stock(checkpoint, folder)
    except (ValueError, KeyError, RuntimeError, TypeError) as error:
        kind = checkpoint.config.model_type
        raise ExportFailed(f"{checkpoint.source}: models of type {kind} cannot be exported ({error})") from error


def _verify_graph(checkpoint: Checkpoint, maker: _Folded | _Stock, folder: Path) -> float:
    """Return by how much the fp32 graph differs from the source, which must be next to nothing."""
    maker.write(folder / GRAPH, FP32)
    error = measure_graph_error(checkpoint, _load(folder / GRAPH, FP32))
    (folder / GRAPH).unlink()
    if not error < MOST_GRAPH_ERROR:
        raise ExportFailed(f"{checkpoint.source}: the graph differs from the model by {error:.1e} in fp32")
    return error


def _load(file: Path, precision: Precision) -> Classifier:
    return Classifier(file, threads=usable_cores(), weight_bits=precision.weight_bits)


def _describe(checkpoint: Checkpoint, report: Report) -> dict[str, Any]:
    """Return what `export.json` says."""
    return {
        "source": checkpoint.source,
        "revision": checkpoint.revision,
        "license": checkpoint.licence,
        "versions": {"corrigenda": version("corrigenda"), **{name: version(name) for name in PACKAGES}},
        **asdict(report),
    }
