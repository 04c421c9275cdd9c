"""A search for `CORRIGENDA_RETRIEVAL_URL`: SQLite's full-text index over text files, answering JSON over HTTP.

    python examples/retrieval_server.py FOLDER --port 8090
    CORRIGENDA_RETRIEVAL_URL=http://127.0.0.1:8090/search corrigenda serve

Every paragraph of every `.txt` and `.md` file in FOLDER is a passage. Python alone; the protocol is in
docs/retrieval.md.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock

SEARCH = "SELECT text, source FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?"


class Index:
    """Passages in a full-text index in memory."""

    def __init__(self, passages: Iterable[tuple[str, str]]) -> None:
        """Index (text, source) pairs."""
        self._lock = Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute("CREATE VIRTUAL TABLE passages USING fts5(text, source UNINDEXED, tokenize='porter')")
        self._database.executemany("INSERT INTO passages VALUES (?, ?)", passages)

    def search(self, query: str, limit: int) -> list[dict[str, str]]:
        """Return the best passages by BM25; any word of the query may match, and none is an operator."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        with self._lock:
            rows = self._database.execute(SEARCH, (words, limit)).fetchall() if words else []
        return [{"text": text, "source": source} for text, source in rows]


def read_passages(folder: Path) -> Iterable[tuple[str, str]]:
    """Yield the paragraphs of a folder's text files, and the file that each is from."""
    for file in sorted(path for path in folder.rglob("*") if path.suffix in {".txt", ".md"}):
        for paragraph in re.split(r"\n\s*\n", file.read_text(encoding="utf-8")):
            if paragraph.strip():
                yield " ".join(paragraph.split()), file.name


def make_server(index: Index, port: int) -> ThreadingHTTPServer:
    """Return a server on loopback that answers `POST /search` from an index."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, answer = 200, {"passages": index.search(str(asked["query"]), int(asked["limit"]))}
            except (ValueError, KeyError, TypeError):
                status, answer = 400, {"passages": []}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing: claims are nobody else's business."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main() -> None:
    """Serve a folder until stopped."""
    parser = argparse.ArgumentParser(description="Search text files for Corrigenda.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8090)
    options = parser.parse_args()
    make_server(Index(read_passages(options.folder)), options.port).serve_forever()


if __name__ == "__main__":
    main()
