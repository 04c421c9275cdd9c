"""The model folder as the server reads it (contract, section 11), written whole or not at all.

In: a path and what to write. Out: the folder, after a check by the server's own reader. Everything is written to a
sibling first, which is renamed at the end: whoever finds the folder finds all of it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from exporting.failures import ExportFailed
from proxy.errors import ModelFolderInvalid
from proxy.nli.folder import CONFIG, SUMS, TOKENIZER, read_folder

GRAPH: Final = "model.onnx"
REPORT: Final = "export.json"
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_READABLE: Final = 0o755


@contextmanager
def write_folder(output: Path) -> Iterator[Path]:
    """Give an empty folder to fill; without an error it becomes `output`, else nothing stays.

    Raises:
        ExportFailed: `output` exists already, the disk is full, or it cannot be written.
    """
    if output.exists():
        raise ExportFailed(f"{output} exists; remove it or give another --output")
    partial = None
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
        yield partial
        partial.chmod(_READABLE)
        partial.rename(output)
    except OSError as error:
        if error.errno in _FULL:
            raise ExportFailed(f"the disk is full at {output.parent}; make room and export again") from error
        raise ExportFailed(f"{output} cannot be written: {error}") from error
    finally:
        if partial is not None:
            shutil.rmtree(partial, ignore_errors=True)


def finish_folder(folder: Path, tokenizer: str, config: Mapping[str, Any], report: Mapping[str, Any]) -> None:
    """Add to the graph what belongs to it, then have the server's reader check the whole.

    Raises:
        ExportFailed: the server would refuse the folder.
    """
    (folder / TOKENIZER).write_text(tokenizer, encoding="utf-8")
    _write_json(folder / CONFIG, config)
    _write_json(folder / REPORT, report)
    names = sorted(file.name for file in folder.iterdir())
    (folder / SUMS).write_text("".join(f"{_digest(folder / name)}  {name}\n" for name in names))
    for file in folder.iterdir():
        _sync(file)
    try:
        read_folder(folder)
    except ModelFolderInvalid as error:
        raise ExportFailed(str(error)) from error


def _write_json(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _sync(file: Path) -> None:
    """Have the file on the disk before the rename makes it visible."""
    with file.open("rb") as content:
        os.fsync(content.fileno())
