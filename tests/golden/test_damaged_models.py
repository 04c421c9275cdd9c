"""The shipped model with damage that no checksum shows: it loads like a sound one and may not serve (C32).

Each case is a fault of making a model, not of copying it: `SHA256SUMS` is written after the damage.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proxy.errors import SelfTestFailed
from proxy.nli.onnx import load_onnx_nli
from proxy.nli.selftest import run_selftest

EMBEDDED = Path(__file__).parents[2] / "models" / "embedded"
FILES = ("model.onnx", "tokenizer.json", "config.json")
FLOAT = 1
"""ONNX's number for fp32."""
LARGE_BYTES = 100_000


def read_fields(content: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield field number, begin and end (or the number, twice) of a protobuf message's fields, without a schema."""
    while at < end:
        key, at = read_number(content, at)
        size, body = read_number(content, at)
        if key & 7 == 2:
            yield key >> 3, body, body + size
            at = body + size
        elif key & 7 == 0:
            yield key >> 3, size, size
            at = body
        else:
            at += {1: 8, 5: 4}[key & 7]


def read_number(content: bytes, at: int) -> tuple[int, int]:
    """Return the variable-length number at a place, and the place after it."""
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def find_weights(content: bytes) -> Iterator[tuple[int, slice]]:
    """Yield the type and the bytes of each weight: field 7 of the model, 5 of that, therein 2 (type) and 9 (data)."""
    for number, begin, end in read_fields(content, 0, len(content)):
        for inner, first, last in read_fields(content, begin, end) if number == 7 else ():
            if inner == 5:
                fields = {field: (start, stop) for field, start, stop in read_fields(content, first, last)}
                if 9 in fields:
                    yield fields[2][0], slice(*fields[9])


def flip_bits(file: Path) -> None:
    """Flip one bit in every byte of the large weights."""
    content = bytearray(file.read_bytes())
    large = [
        span for kind, span in find_weights(bytes(content)) if span.stop - span.start >= LARGE_BYTES and kind != FLOAT
    ]
    assert large
    flipped = bytes(byte ^ 0x40 for byte in range(256))
    for span in large:
        content[span] = content[span].translate(flipped)
    file.write_bytes(content)


def spoil_numbers(file: Path) -> None:
    """Make every fp32 number that is no single one a NaN."""
    content = bytearray(file.read_bytes())
    spans = [span for kind, span in find_weights(bytes(content)) if kind == FLOAT and span.stop - span.start > 4]
    assert spans
    for span in spans:
        content[span] = b"\xff" * (span.stop - span.start)
    file.write_bytes(content)


def swap_labels(file: Path) -> None:
    """Exchange the names of entailment and contradiction."""
    config = json.loads(file.read_text())
    other = {"entailment": "contradiction", "contradiction": "entailment"}
    config["id2label"] = {index: other.get(name, name) for index, name in config["id2label"].items()}
    file.write_text(json.dumps(config))


def shift_vocabulary(file: Path) -> None:
    """Give every word the id of another, as a tokenizer of another model does; special tokens keep theirs."""
    tokenizer = json.loads(file.read_text())
    vocabulary = tokenizer["model"]["vocab"]
    fixed = {token["id"] for token in tokenizer["added_tokens"]}
    words = [word for word, index in vocabulary.items() if index not in fixed]
    ids = [vocabulary[word] for word in words]
    vocabulary |= dict(zip(words, ids[len(ids) // 2 :] + ids[: len(ids) // 2], strict=True))
    file.write_text(json.dumps(tokenizer))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("model.onnx", flip_bits),
        ("model.onnx", spoil_numbers),
        ("config.json", swap_labels),
        ("tokenizer.json", shift_vocabulary),
    ],
    ids=["bits", "NaN", "labels", "tokenizer"],
)
def test_a_damaged_model_may_not_serve(tmp_path: Path, name: str, damage: Callable[[Path], None]) -> None:
    """The folder is accepted, the model loads, and its self-test refuses it with the reason in one line."""
    for file in FILES:
        (tmp_path / file).write_bytes((EMBEDDED / file).read_bytes())
    damage(tmp_path / name)
    sums = [f"{hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()}  {file}\n" for file in FILES]
    (tmp_path / "SHA256SUMS").write_text("".join(sums))
    nli = load_onnx_nli(tmp_path)
    with pytest.raises(SelfTestFailed, match=r"gives (entailment|neutral|contradiction) only|no finite number"):
        asyncio.run(run_selftest(nli))
    nli.close()
