"""The training loop: batches of like length, a learning rate that rises and falls, checkpoints on the way.

In: a model, encoded pairs and a plan. Out: the trained model; `last.pt` in the plan's folder holds weights, optimiser
and step, and a further run goes on from there. It stands apart because nothing here knows what is learnt.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from torch.optim import AdamW

from training.checkpoint import LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer
    from transformers import BertForSequenceClassification

    from training.facts import Example

BATCH: Final = 48
PAD_TO: Final = 8
"""Lengths are padded to a multiple of this."""
POOL: Final = 64
"""Batches that are sorted by length together; the batches themselves come in random order."""
SMOOTHING: Final = 0.05
WARM_UP: Final = 0.03
SAVE_EVERY: Final = 100


@dataclass(frozen=True, slots=True)
class Encoded:
    """A pair as token numbers."""

    ids: list[int]
    types: list[int]
    label: int


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train, and where to keep what is done."""

    folder: Path
    rate: float
    """Peak learning rate."""
    seed: int
    most_steps: int | None = None


def encode(tokenizer: Tokenizer, pairs: Sequence[Example]) -> list[Encoded]:
    """Turn pairs into token numbers."""
    encodings = tokenizer.encode_batch([(pair.premise, pair.hypothesis) for pair in pairs])
    return [
        Encoded(encoding.ids, encoding.type_ids, LABELS.index(pair.label))
        for encoding, pair in zip(encodings, pairs, strict=True)
    ]


def train(
    model: BertForSequenceClassification, pairs: Sequence[Encoded], plan: Plan, say: Callable[[str], None]
) -> None:
    """Train one pass over the pairs, or `most_steps` of it, from the checkpoint where there is one.

    The word embeddings stay as they are: on a CPU their gradients alone cost a fifth of a step.
    """
    batches = list(islice(_make_batches(pairs, random.Random(plan.seed)), plan.most_steps))
    model.bert.embeddings.word_embeddings.weight.requires_grad = False
    optimiser = AdamW([p for p in model.parameters() if p.requires_grad], lr=plan.rate, weight_decay=0.01, fused=True)
    done = _resume(plan.folder, model, optimiser)
    say(f"{len(pairs)} pairs, {len(batches)} steps, from step {done}")
    begun, losses = perf_counter(), []
    model.train()
    for step, batch in islice(enumerate(batches, start=1), done, None):
        for group in optimiser.param_groups:
            group["lr"] = plan.rate * schedule(step / len(batches))
        losses.append(_take_step(model, optimiser, batch))
        if step % SAVE_EVERY == 0 or step == len(batches):
            left_min = (perf_counter() - begun) / (step - done) * (len(batches) - step) / 60
            say(f"step {step}/{len(batches)} loss {np.mean(losses[-SAVE_EVERY:]):.3f}, {left_min:.0f} min left")
            _save(plan.folder, model, optimiser, step)


def predict(model: BertForSequenceClassification, pairs: Sequence[Encoded]) -> NDArray[np.float64]:
    """Return the logits, shape (pairs, classes), in the order of the pairs."""
    model.eval()
    logits = np.empty((len(pairs), len(LABELS)))
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].ids))
    with torch.inference_mode():
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            inputs, _ = _stack([pairs[at] for at in rows])
            logits[rows] = model(**inputs).logits.numpy()
    return logits


def schedule(progress: float) -> float:
    """Return the share of the peak rate: a short linear warm-up, then linear decay to nothing."""
    return max(0.0, min(progress / WARM_UP, (1 - progress) / (1 - WARM_UP), 1.0))


def _take_step(model: BertForSequenceClassification, optimiser: AdamW, batch: Sequence[Encoded]) -> float:
    """Learn from one batch and return its loss."""
    inputs, labels = _stack(batch)
    loss = cross_entropy(model(**inputs).logits, labels, label_smoothing=SMOOTHING)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad()
    return float(loss.item())


def _make_batches(pairs: Sequence[Encoded], rng: random.Random) -> Iterator[list[Encoded]]:
    """Yield batches of like length, in random order within a pool."""
    pool_size = BATCH * POOL
    for first in range(0, len(pairs), pool_size):
        pool = sorted(pairs[first : first + pool_size], key=lambda pair: len(pair.ids))
        batches = [pool[at : at + BATCH] for at in range(0, len(pool), BATCH)]
        rng.shuffle(batches)
        yield from batches


def _stack(batch: Sequence[Encoded]) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Pad a batch to one length and return the model's inputs, (pairs, tokens) each, and the labels, (pairs,)."""
    longest = max(len(pair.ids) for pair in batch)
    ids = torch.zeros(len(batch), math.ceil(longest / PAD_TO) * PAD_TO, dtype=torch.long)
    types, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    for row, pair in enumerate(batch):
        ids[row, : len(pair.ids)] = torch.tensor(pair.ids)
        types[row, : len(pair.ids)] = torch.tensor(pair.types)
        mask[row, : len(pair.ids)] = 1
    labels = torch.tensor([pair.label for pair in batch])
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}, labels


def _save(folder: Path, model: BertForSequenceClassification, optimiser: AdamW, step: int) -> None:
    """Write the checkpoint beside the old one, then put it in its place."""
    new = folder / "new.pt"
    torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "step": step}, new)
    new.replace(folder / "last.pt")


def _resume(folder: Path, model: BertForSequenceClassification, optimiser: AdamW) -> int:
    """Load the checkpoint where there is one, and return the steps done."""
    file = folder / "last.pt"
    if not file.exists():
        return 0
    saved = torch.load(file)
    model.load_state_dict(saved["model"])
    optimiser.load_state_dict(saved["optimiser"])
    return int(saved["step"])
