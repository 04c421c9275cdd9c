"""Export an NLI model for the proxy: a Hugging Face id or a folder becomes a model folder for CORRIGENDA_NLI_MODEL.

    .export/bin/python scripts/export_onnx.py MODEL --output models/NAME

In: the model's name. Out: the folder, quantised and checked against the original, or one line that says what is
wrong and exit code 1. Runs in the environment that `make .export/installed` makes.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

GUESSING: Final = 0.4
"""An accuracy that a model of three classes reaches without reading."""


def export(
    model: Annotated[str, typer.Argument(help="Hugging Face id, or a folder with a transformers model")],
    output: Annotated[Path, typer.Option(help="folder to write; must not exist")],
    revision: Annotated[str | None, typer.Option(help="commit, branch or tag on the hub")] = None,
    pairs: Annotated[Path | None, typer.Option(help="labelled pairs for the parity gate, JSON lines")] = None,
    languages: Annotated[str, typer.Option(help="codes of the languages that the model reads, like en,de")] = "",
) -> None:
    """Export, quantise and check an NLI model."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    logging.captureWarnings(capture=True)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    with console.status("starting"):
        # The libraries take seconds to import; a wrong option should be told at once.
        from exporting.failures import ExportFailed  # noqa: PLC0415
        from exporting.gate import SHIPPED_PAIRS, read_pairs  # noqa: PLC0415
        from exporting.pipeline import Order, export_model  # noqa: PLC0415

    try:
        chosen = tuple(filter(None, languages.replace(" ", "").split(",")))
        order = Order(model, output, read_pairs(pairs or SHIPPED_PAIRS), revision, chosen)
        report = export_model(order, lambda step: console.print(f"{step} ..."))
    except ExportFailed as error:
        console.print(f"export_onnx: {error}", markup=False)
        raise typer.Exit(1) from error
    except KeyboardInterrupt as error:
        console.print("export_onnx: interrupted; nothing was written")
        raise typer.Exit(130) from error
    parity = report.parity
    low, high = parity.agreement_interval
    console.print(f"{output}: {report.precision}, {report.size_bytes / 1e6:.0f} MB")
    console.print(
        f"{parity.agreement:.1%} ({low:.1%} to {high:.1%}) of {parity.pairs} pairs get the original's label; "
        f"accuracy {parity.source_accuracy:.1%} before, {parity.accuracy:.1%} after"
    )
    if parity.source_accuracy <= GUESSING:
        console.print("warning: the original is no better than guessing; are its labels named in the right order?")
    if report.tokenizer_differs:
        console.print(f"warning: the slow tokenizer reads {report.tokenizer_differs} pairs otherwise")


if __name__ == "__main__":
    typer.run(export)
