"""A model as it is published: fetched, loaded in float32, and refused where it is no three-way NLI model.

In: a Hugging Face id or a local folder. Out: a `Checkpoint`, or `ExportFailed` with one line that says what to do.
It stands apart because all that can go wrong with a source, a hub or a tokenizer goes wrong here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from huggingface_hub import ModelCard, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from tokenizers import Tokenizer
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from exporting.failures import ExportFailed
from proxy.errors import ModelFolderInvalid
from proxy.nli.folder import CONFIG
from proxy.nli.scoring import LabelOrder, Pair, read_label_order

SMALL_FILES: Final = ("*.json", "*.txt", "*.model", "README.md")
WEIGHTS: Final = ("model*.safetensors", "pytorch_model*.bin")
"""Patterns of weight files, the preferred one first; a repository often has the same weights as both."""
LONGEST: Final = 512
"""Longest input where neither tokenizer nor config sets a limit."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A loaded model with what belongs to it."""

    source: str
    """The id or path that was asked for."""
    revision: str | None
    """The commit on the hub."""
    licence: str | None
    languages: tuple[str, ...]
    model: Any
    """The transformers model, float32, in evaluation mode."""
    tokenizer: Tokenizer
    labels: LabelOrder
    max_length: int
    tokenizer_differs: int | None
    """Texts of those asked for that the original, slow tokenizer reads otherwise; None where it is not at hand."""

    @property
    def config(self) -> Any:  # noqa: ANN401 - the library's config has no static fields
        """The model's config."""
        return self.model.config

    def read_weights(self) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
        """Return the weights as arrays that share the model's memory."""
        return {name: value.detach().numpy() for name, value in self.model.state_dict().items()}


def load_checkpoint(source: str, revision: str | None, texts: Sequence[Pair]) -> Checkpoint:
    """Fetch and load a model; the tokenizers are compared on `texts`.

    Raises:
        ExportFailed: there is no such model, it cannot be reached or read, or it has not the three NLI labels.
    """
    local = Path(source).expanduser()
    folder = local if local.is_dir() else _fetch(source, revision)
    if not (folder / CONFIG).is_file():
        # Without this the library would guess an architecture from the folder's name.
        raise ExportFailed(f"{source} has no {CONFIG}; give a folder that transformers saved, or a model's id")
    try:
        labels = read_label_order(AutoConfig.from_pretrained(folder).id2label)
        model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
        tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True)
    except ModelFolderInvalid as error:
        raise ExportFailed(f"{source}: {error}") from error
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise ExportFailed(f"{source} cannot be loaded: {_first_line(error)}") from error
    if not tokenizer.is_fast:
        raise ExportFailed(f"{source} has no fast tokenizer and none can be made; take a model with a tokenizer.json")
    licence, languages = _read_card(folder)
    return Checkpoint(
        source=source,
        revision=None if local.is_dir() else folder.name,
        licence=licence,
        languages=languages,
        model=model,
        tokenizer=Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()),
        labels=labels,
        max_length=_read_max_length(model.config, tokenizer.model_max_length),
        tokenizer_differs=_compare_tokenizers(folder, tokenizer, texts),
    )


def _fetch(name: str, revision: str | None) -> Path:
    """Download a repository into the hub's own cache and return its folder, which is named for the commit."""
    try:
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=list(SMALL_FILES)))
        for pattern in WEIGHTS:
            snapshot_download(name, revision=folder.name, allow_patterns=[pattern])
            if any(folder.glob(pattern)):
                break
    except HFValidationError as error:
        raise ExportFailed(f"{name} is neither a folder nor a Hugging Face id; check the spelling") from error
    except GatedRepoError as error:
        raise ExportFailed(f"{name} asks for consent; give it on huggingface.co and set HF_TOKEN") from error
    except RevisionNotFoundError as error:
        raise ExportFailed(f"{name} has no revision {revision}; see its commits on huggingface.co") from error
    except RepositoryNotFoundError as error:
        raise ExportFailed(
            f"{name} is no folder here and no model on the hub; check the spelling, and HF_TOKEN if it is private"
        ) from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, ConnectionError) as error:
        raise ExportFailed(f"the hub cannot be reached for {name}; check the network, or give a folder") from error
    except HfHubHTTPError as error:
        raise ExportFailed(f"the hub refused {name}: {_first_line(error)}") from error
    return folder


def _read_card(folder: Path) -> tuple[str | None, tuple[str, ...]]:
    """Return licence and languages that the model's card declares; without a card, none and English."""
    card = folder / "README.md"
    try:
        data: dict[str, Any] = vars(ModelCard(card.read_text(encoding="utf-8")).data) if card.is_file() else {}
    except (OSError, ValueError):
        data = {}
    spoken = data.get("language") or ["en"]
    return data.get("license"), tuple([spoken] if isinstance(spoken, str) else map(str, spoken))


def _read_max_length(config: Any, tokenizer_limit: int) -> int:  # noqa: ANN401 - the library's config
    """Return the longest input in tokens.

    RoBERTa counts positions from its padding index on, so that two of its rows are never used.
    """
    positions = getattr(config, "max_position_embeddings", None) or LONGEST
    if "roberta" in config.model_type:
        positions -= config.pad_token_id + 1
    return int(min(positions, tokenizer_limit))


def _compare_tokenizers(folder: Path, fast: Any, pairs: Sequence[Pair]) -> int | None:  # noqa: ANN401 - untyped
    """Count the pairs that the slow tokenizer reads otherwise; None where there is none."""
    try:
        slow = AutoTokenizer.from_pretrained(folder, use_fast=False)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ImportError):
        return None
    if slow.is_fast:
        return None
    texts = [(pair.premise, pair.hypothesis) for pair in pairs]
    return sum(list(fast(*text)["input_ids"]) != list(slow(*text)["input_ids"]) for text in texts)


def _first_line(error: Exception) -> str:
    """Return the first line of a library's message: the rest is advice on the library."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def describe_config(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return the folder's `config.json` (contract, section 11): the model's own, and what the server reads."""
    own = json.loads(checkpoint.config.to_json_string(use_diff=False))
    kept = {name: value for name, value in own.items() if value is not None and not name.startswith("_")}
    return {
        **{name: kept[name] for name in _KEPT if name in kept},
        "languages": list(checkpoint.languages),
        "max_length": checkpoint.max_length,
    }


_KEPT: Final = (
    "architectures",
    "model_type",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "vocab_size",
    "id2label",
    "label2id",
    "tau_floor",
    "tau_ceiling",
)
"""What of the model's config says something about the exported one."""
