"""The command, from a model's name to a folder that the server reads, and everything that can stop it."""

from __future__ import annotations

import hashlib
import json
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import typer
from numpy.typing import NDArray
from typer.testing import CliRunner, Result

from export.tiny_models import make_bert, save_model
from export_onnx import export
from exporting.gate import read_pairs
from exporting.pipeline import Order, export_model
from exporting.precision import Floats, quantise
from exporting.sessions import Classifier
from proxy.nli.folder import read_folder


def _run(*arguments: object) -> Result:
    app = typer.Typer()
    app.command()(export)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _refusal(result: Result) -> str:
    """Return the one line that a refused export ends with."""
    assert result.exit_code == 1, result.output
    refusals = [line for line in result.output.splitlines() if line.startswith("export_onnx: ")]
    assert len(refusals) == 1
    assert "Traceback" not in result.output
    return refusals[0]


@contextmanager
def _serve(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class _EmptyHub(BaseHTTPRequestHandler):
    """A hub that has no model at all."""

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815 - the same

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize(("name", "graph"), [("deberta", "folded"), ("bert", "folded"), ("roberta", "stock")])
def test_export_gives_a_folder_that_the_server_reads(
    sources: dict[str, Path], pairs_file: Path, tmp_path: Path, name: str, graph: str
) -> None:
    """Each architecture ends as one graph with tokenizer, config, report and sums, and as nothing else."""
    output = tmp_path / "models" / name
    result = _run(sources[name], "--output", output, "--pairs", pairs_file, "--languages", "en, de")
    assert result.exit_code == 0, result.output
    folder = read_folder(output)
    assert folder.config.languages == {"en", "de"}
    assert folder.max_tokens == 512
    assert [folder.labels.entailment, folder.labels.neutral, folder.labels.contradiction] == [0, 1, 2]
    names = {file.name for file in output.iterdir()}
    assert names == {"model.onnx", "tokenizer.json", "config.json", "export.json", "SHA256SUMS"}
    report = json.loads((output / "export.json").read_text())
    assert report["graph"] == graph
    assert report["license"] == "mit"
    assert report["source"] == str(sources[name])
    assert report["versions"]["transformers"]
    assert report["graph_error"] < 1e-4
    assert report["parity"]["pairs"] == 16
    assert list(output.parent.iterdir()) == [output]


def test_sums_cover_all_files(sources: dict[str, Path], pairs_file: Path, tmp_path: Path) -> None:
    """`sha256sum -c` would check each file but the sums."""
    output = tmp_path / "model"
    assert _run(sources["deberta"], "--output", output, "--pairs", pairs_file).exit_code == 0
    lines = (output / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert sums == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in output.iterdir()
        if file.name != "SHA256SUMS"
    }


def test_exported_graph_takes_any_batch_and_length(sources: dict[str, Path], pairs_file: Path, tmp_path: Path) -> None:
    """Batch and length are free in the published graph."""
    output = tmp_path / "model"
    export_model(Order(str(sources["deberta"]), output, read_pairs(pairs_file)), lambda _: None)
    graph = Classifier(output / "model.onnx", threads=1)
    for batch, length in ((1, 3), (5, 40), (2, 300)):
        ids = np.full((batch, length), 7, np.int64)
        assert graph.run({"input_ids": ids, "attention_mask": np.ones_like(ids)}).shape == (batch, 3)


def test_existing_output(sources: dict[str, Path], tmp_path: Path) -> None:
    """What is there is never written over."""
    (tmp_path / "kept").write_text("mine")
    assert "exists; remove it" in _refusal(_run(sources["bert"], "--output", tmp_path))
    assert (tmp_path / "kept").read_text() == "mine"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({0: "entailment", 1: "not_entailment"}, "names 2 classes"),
        ({0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, "does not name entailment"),
    ],
)
def test_a_model_without_the_three_labels(tmp_path: Path, labels: dict[int, str], message: str) -> None:
    """Two classes, or classes without names, cannot be served."""
    codes = {name: index for index, name in labels.items()}
    source = save_model(make_bert(id2label=labels, label2id=codes), tmp_path / "source")
    assert message in _refusal(_run(source, "--output", tmp_path / "model"))
    assert not (tmp_path / "model").exists()


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    """An empty folder is told from a model."""
    (tmp_path / "empty").mkdir()
    assert "has no config.json" in _refusal(_run(tmp_path / "empty", "--output", tmp_path / "model"))
    assert [file.name for file in tmp_path.iterdir()] == ["empty"]


def test_an_unknown_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A hub that does not have the model is believed."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with _serve(_EmptyHub) as address:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        line = _refusal(_run("nobody/nothing", "--output", tmp_path / "model"))
    assert "no model on the hub; check the spelling" in line


def test_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A hub that nobody answers for is told from one that lacks the model."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    assert "the hub cannot be reached" in _refusal(_run("nobody/nothing", "--output", tmp_path / "model"))


def test_no_id_at_all(tmp_path: Path) -> None:
    """A path that is not there is not taken for an id."""
    line = _refusal(_run(tmp_path / "missing", "--output", tmp_path / "model"))
    assert "neither a folder nor a Hugging Face id" in line


def test_a_full_disk(sources: dict[str, Path], pairs_file: Path, tmp_path: Path) -> None:
    """A file that cannot grow, here by a limit on its size, ends the export and leaves nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        result = _run(sources["deberta"], "--output", tmp_path / "model", "--pairs", pairs_file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "the disk is full" in _refusal(result)
    assert list(tmp_path.iterdir()) == []


def test_weights_damaged_on_the_way(
    monkeypatch: pytest.MonkeyPatch, sources: dict[str, Path], pairs_file: Path, tmp_path: Path
) -> None:
    """Weights whose sign is turned lose the verdicts: no candidate passes, and each one's fault is told."""

    def quantise_wrongly(values: Floats, axis: int, largest: int) -> tuple[NDArray[np.int8], Floats]:
        integers, scales = quantise(values, axis, largest)
        return -integers, scales

    monkeypatch.setattr("exporting.precision.quantise", quantise_wrongly)
    line = _refusal(_run(sources["deberta"], "--output", tmp_path / "model", "--pairs", pairs_file))
    assert "fails the parity gate on 16 pairs" in line
    assert "weights8: " in line
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_leaves_nothing(sources: dict[str, Path], pairs_file: Path, tmp_path: Path) -> None:
    """Whatever step it is at."""

    def interrupt(step: str) -> None:
        if step.startswith("trying"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_model(Order(str(sources["deberta"]), tmp_path / "model", read_pairs(pairs_file)), interrupt)
    assert list(tmp_path.iterdir()) == []
