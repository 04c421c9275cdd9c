"""Model folders that may not be served: one error, one line, with the reason and the remedy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from proxy.errors import ModelFolderInvalid
from proxy.nli.folder import read_folder
from proxy.nli.onnx import load_onnx_nli
from proxy.nli.scoring import LabelOrder

EMBEDDED = Path(__file__).parents[3] / "models" / "embedded"


def write_sums(folder: Path) -> None:
    files = [file for file in sorted(folder.iterdir()) if file.name != "SHA256SUMS"]
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(lines))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a valid model folder, with a graph that is small and only named so."""
    copy = tmp_path / "toy"
    copy.mkdir()
    (copy / "model.onnx").write_bytes(b"graph")
    for name in ("tokenizer.json", "config.json"):
        (copy / name).write_bytes((EMBEDDED / name).read_bytes())
    write_sums(copy)
    return copy


def change_config(folder: Path, **changes: object) -> None:
    """Set keys of config.json, or with None remove them, and correct its checksum."""
    config = json.loads((folder / "config.json").read_text()) | changes
    kept = {key: value for key, value in config.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(kept))
    write_sums(folder)


def refusal(folder: Path) -> str:
    """Return the message with which the folder is refused, after checks that hold for all of them."""
    with pytest.raises(ModelFolderInvalid) as caught:
        load_onnx_nli(folder)
    message = str(caught.value)
    assert message.startswith(f"model folder {folder}: ")
    assert "\n" not in message
    return message


def test_the_shipped_folder_is_valid() -> None:
    """What the project ships passes its own checks, and its figures are read from its config."""
    found = read_folder(EMBEDDED)
    assert (found.name, found.max_tokens, found.labels) == ("embedded", 512, LabelOrder(0, 1, 2))
    assert (found.config.languages, found.config.tau_floor, found.config.tau_ceiling) == (frozenset({"en"}), 0.5, 0.9)


def test_no_folder(tmp_path: Path) -> None:
    """A path that leads nowhere names the setting to correct."""
    assert "CORRIGENDA_NLI_MODEL" in refusal(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json", "SHA256SUMS"])
def test_a_missing_file(folder: Path, name: str) -> None:
    """Each of the four files is needed, and the message says which one is not there."""
    (folder / name).unlink()
    assert (".onnx" if name == "model.onnx" else name) in refusal(folder)


def test_two_graphs(folder: Path) -> None:
    """Which of two graphs to serve is not guessed."""
    (folder / "other.onnx").write_bytes(b"graph")
    assert "has 2 (model.onnx, other.onnx)" in refusal(folder)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_changed_file(folder: Path, name: str) -> None:
    """One changed byte is found by the checksum, before anything is parsed."""
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert f"{name} is damaged" in refusal(folder)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines[1:], "does not list config.json"),
        (lambda lines: [*lines, f"{'0' * 64}  model.onnx.data"], "model.onnx.data, which is missing"),
        (lambda lines: [*lines, f"{'0' * 64}  ../secret"], "not `hash  file`"),
        (lambda lines: [*lines, "nonsense"], "not `hash  file`"),
        (lambda _: ["\udcff"], "not `hash  file`"),
    ],
    ids=["one missing", "too many", "outside", "no pair", "not text"],
)
def test_sums_that_do_not_fit(folder: Path, change: Callable[[list[str]], list[str]], reason: str) -> None:
    """The sums must list every served file, only files that are there, and only in the folder itself."""
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    (folder / "SHA256SUMS").write_text("\n".join(change(lines)), errors="surrogateescape")
    assert reason in refusal(folder)


def test_sums_in_other_spellings(folder: Path) -> None:
    """Binary marks, capitals, line ends of Windows and empty lines are `sha256sum` too."""
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    spelled = [f"{line[:64].upper()} *{line[66:]}\r\n\r\n" for line in lines]
    (folder / "SHA256SUMS").write_bytes("".join(spelled).encode())
    assert read_folder(folder).name == "toy"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id2label": {"0": "entailment", "1": "not_entailment"}}, "2 classes"),
        ({"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}, "real label names"),
        ({"id2label": None}, "id2label"),
        ({"id2label": {"zero": "entailment"}}, "id2label"),
        ({"languages": None}, "languages"),
        ({"languages": []}, "languages"),
        ({"tau_floor": 1.5}, "tau_floor"),
        ({"tau_floor": "high"}, "tau_floor"),
        ({"weight_bits": 1}, "weight_bits"),
        ({"weight_bits": "seven"}, "weight_bits"),
        ({"tau_floor": 0.9, "tau_ceiling": 0.5}, "tau_floor is over tau_ceiling"),
        ({"max_position_embeddings": None}, "max_length"),
        ({"max_length": 0}, "max_length"),
    ],
)
def test_a_config_that_cannot_be_used(folder: Path, changes: dict[str, object], reason: str) -> None:
    """C29 and others: the message names the key or the labels at fault."""
    change_config(folder, **changes)
    assert reason in refusal(folder)


@pytest.mark.parametrize("content", ["{", "[]", "null", '"text"', "\x00"])
def test_a_config_that_is_no_object(folder: Path, content: str) -> None:
    """Broken JSON and other JSON than an object are refused like a wrong key."""
    (folder / "config.json").write_text(content)
    write_sums(folder)
    assert "config.json" in refusal(folder)


def test_config_without_thresholds(folder: Path) -> None:
    """Contract 5: floor and ceiling are 0.5 and 0.9 where the config gives none; `max_length` beats positions."""
    change_config(folder, tau_floor=None, tau_ceiling=None, max_length=128)
    found = read_folder(folder)
    assert (found.config.tau_floor, found.config.tau_ceiling, found.max_tokens) == (0.5, 0.9, 128)


def test_a_graph_that_is_none(folder: Path) -> None:
    """A graph whose checksum is right but which the runtime cannot read."""
    assert "cannot be loaded" in refusal(folder)


def test_a_tokenizer_that_is_none(folder: Path) -> None:
    """A tokenizer.json of another kind; nothing is converted or fetched in its place."""
    (folder / "tokenizer.json").write_text("{}")
    write_sums(folder)
    assert "cannot be loaded" in refusal(folder)


def test_a_folder_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal by the system is told as one of ours."""

    def refuse(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refuse)
    assert "permissions" in refusal(folder)
