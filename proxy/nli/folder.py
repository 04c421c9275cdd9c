"""A model folder: what it must hold, and what its config says (contract, section 11, `CORRIGENDA_NLI_MODEL`).

In: the path of a folder. Out: a `ModelFolder` whose every file is the one that was published, or
`ModelFolderInvalid` with the fault and what to do about it, in one line. It stands apart from `onnx` because
nothing here needs the runtime.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proxy.errors import ModelFolderInvalid
from proxy.nli.scoring import LabelOrder, read_label_order

SUMS: Final = "SHA256SUMS"
TOKENIZER: Final = "tokenizer.json"
CONFIG: Final = "config.json"

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
TokenCount = Annotated[int, Field(ge=8)]


class ModelConfig(BaseModel):
    """What we read of the model's `config.json`; the rest of it is the exporting library's."""

    model_config = ConfigDict(frozen=True)

    id2label: dict[int, str]
    languages: frozenset[str] = Field(min_length=1)
    tau_floor: Share = 0.5
    tau_ceiling: Share = 0.9
    weight_bits: Annotated[int, Field(ge=2, le=32)] = 8
    """Bits that the weights of int8 products use at most."""
    max_length: TokenCount | None = None
    max_position_embeddings: TokenCount | None = None


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A checked model folder."""

    path: Path
    graph: Path
    config: ModelConfig
    labels: LabelOrder
    max_tokens: int
    """Longest input: the config's `max_length`, else its `max_position_embeddings`."""

    @property
    def name(self) -> str:
        """The folder's name, under which reports speak of the model."""
        return self.path.name


def read_folder(path: Path) -> ModelFolder:
    """Check a model folder and read its config.

    Raises:
        ModelFolderInvalid: something is missing, damaged or not usable; the message names the folder.
    """
    try:
        return _read_folder(path.resolve())
    except ModelFolderInvalid as error:
        raise ModelFolderInvalid(f"model folder {path}: {error}") from error
    except OSError as error:
        raise ModelFolderInvalid(f"model folder {path}: cannot be read ({error}); check its permissions") from error


def _read_folder(path: Path) -> ModelFolder:
    """Check and read the folder at an absolute path."""
    graph = _find_graph(path)
    for name in (TOKENIZER, CONFIG, SUMS):
        if not (path / name).is_file():
            raise ModelFolderInvalid(f"has no {name}; export the model again with scripts/export_onnx.py")
    _check_sums(path, required=(graph.name, TOKENIZER, CONFIG))
    config = _read_config(path / CONFIG)
    max_tokens = config.max_length or config.max_position_embeddings
    if max_tokens is None:
        raise ModelFolderInvalid(f"{CONFIG} gives no max_length; add the longest input of the model in tokens")
    if config.tau_floor > config.tau_ceiling:
        raise ModelFolderInvalid(f"{CONFIG}: tau_floor is over tau_ceiling; swap or refit them")
    return ModelFolder(path, graph, config, read_label_order(config.id2label), max_tokens)


def _find_graph(path: Path) -> Path:
    """Return the one `.onnx` file of the folder."""
    if not path.is_dir():
        raise ModelFolderInvalid("does not exist; set CORRIGENDA_NLI_MODEL to a folder made by scripts/export_onnx.py")
    graphs = sorted(path.glob("*.onnx"))
    if len(graphs) != 1:
        names = ", ".join(graph.name for graph in graphs) or "none"
        raise ModelFolderInvalid(f"needs one .onnx file and has {len(graphs)} ({names}); leave only the one to serve")
    return graphs[0]


def _check_sums(path: Path, required: tuple[str, ...]) -> None:
    """Check every file that `SHA256SUMS` lists; it must list all of `required`."""
    sums = _read_sums(path / SUMS)
    for name in required:
        if name not in sums:
            raise ModelFolderInvalid(f"{SUMS} does not list {name}; write it again with sha256sum")
    for name, expected in sums.items():
        file = path / name
        if not file.is_file():
            raise ModelFolderInvalid(f"{SUMS} lists {name}, which is missing; copy the whole folder again")
        with file.open("rb") as content:
            if hashlib.file_digest(content, "sha256").hexdigest() != expected:
                raise ModelFolderInvalid(f"{name} is damaged or was changed (its SHA-256 differs); copy it again")


def _read_sums(file: Path) -> dict[str, str]:
    """Return file name -> SHA-256 in lower case, from lines as `sha256sum` writes them."""
    sums = {}
    for line in filter(str.strip, file.read_bytes().decode(errors="replace").splitlines()):
        digest, _, name = line.partition(" ")
        name = name.lstrip(" *")
        if not name or Path(name).name != name:
            raise ModelFolderInvalid(f"{SUMS} has a line that is not `hash  file`; write it again with sha256sum")
        sums[name] = digest.lower()
    return sums


def _read_config(file: Path) -> ModelConfig:
    """Read `config.json`, naming the first thing in it that cannot be used."""
    try:
        return ModelConfig.model_validate_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ModelFolderInvalid(f"{CONFIG}: {place}: {first['msg']}; correct it and {SUMS}") from error
