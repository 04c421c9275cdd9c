"""A draft cut into sentences, whole or as it streams in.

In: the draft's text, in deltas of any size. Out: `Sentence`s with their places, each as soon as it is certainly
complete. Headings, code, formulas, reasoning blocks and table rules give none. It stands apart because it knows
Markdown's lines and blocks; what ends a sentence within them is decided in `assembly` and `boundaries`. Every
decision needs the text before and a few words after, so the result does not depend on how the text was cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from proxy.claims.assembly import SentenceBuilder
from proxy.claims.boundaries import STOPS, WIDE_STOPS
from proxy.claims.claim import Sentence
from proxy.claims.markdown import plain_text

__all__ = ["SentenceStream", "plain_text", "split_sentences"]

_LONGEST_MARKER: Final = 64
_LONGEST_PIECE: Final = 256
_LONGEST_TAG: Final = 200
_LOOK_AHEAD: Final = 200
_CODE_INDENT: Final = 4
_REASONING_END: Final = len("</thinking>")

_SPACES = re.compile(r"[^\S\n]+")
_MARKER = re.compile(rf"\S{{1,{_LONGEST_MARKER}}}")
_WIDE_END = rf"[{WIDE_STOPS}]++[」』）”’*_]*+"
_PIECE = re.compile(rf"[^\s{WIDE_STOPS}][^\s<{WIDE_STOPS}]{{0,{_LONGEST_PIECE}}}+(?:{_WIDE_END})?|{_WIDE_END}")
_CELL_PIECE = re.compile(rf"(?:\\\||[^\s|])(?:\\\||[^\s|<]){{0,{_LONGEST_PIECE}}}+")
# Words, each with the white space after it, that open nothing, close nothing and end no sentence.
_PLAIN = rf"[^\s{re.escape(STOPS)}`$\\()\[\]\"“”„«»「」『』（）<|]"
_PLAIN_WORDS = re.compile(rf"(?>{_PLAIN}{{1,99}}+(?>\.(?=[^\W_]){_PLAIN}{{1,99}}+){{0,9}}+[^\S\n]++)++")

_REASONING = re.compile(r"<(think|thinking)>", re.IGNORECASE)
_BLOCK_TAG = re.compile(
    r"</?(?:article|aside|blockquote|body|br|center|dd|details|div|dl|dt|figcaption|figure|footer|h[1-6]|head|header"
    r"|hr|html|li|main|nav|ol|p|section|span|summary|table|tbody|td|tfoot|th|thead|tr|ul)"
    rf"(?:\s[^<>\n]{{0,{_LONGEST_TAG}}})?/?>",
    re.IGNORECASE,
)
_OPEN_TAG = re.compile(rf"</?(?:[A-Za-z][^<>\n]{{0,{_LONGEST_TAG}}})?\Z")
_FENCE = re.compile(r"`{3,}|~{3,}")
_HEADING = re.compile(r"#{1,6}")
_ITEM = re.compile(r"[-*+•◦▪‣●–]|\d{1,3}[.)]|\(?(?:\d{1,2}|[a-z])\)|\d\ufe0f?\u20e3")
_RULE = re.compile(r"[-*_=]{3,}")
_UNDERLINE = re.compile(r"=+|-{2,}")
_TABLE_RULE = re.compile(r"\|[^\S\n]*:?-+:?[^\S\n]*(?:\||\Z)")


def split_sentences(text: str) -> list[Sentence]:
    """Return the sentences of `text` in order; their spans are disjoint and in bounds (contract, section 4)."""
    stream = SentenceStream()
    return [*stream.feed(text), *stream.close()]


class _Mode(Enum):
    """What the next character is read as."""

    LINE_START = auto()
    TEXT = auto()
    REST_OF_LINE = auto()
    FENCE = auto()
    REASONING = auto()


@dataclass(slots=True)
class _Line:
    """The line in hand, as far as it has been read."""

    start: int = 0
    indent: int = 0
    quoted: bool = False
    marked: bool = False
    """A list mark or quote mark stands before the text."""
    row: bool = False
    """It is a row of a table."""
    empty: bool = True
    """No word of a sentence has been met on it."""


class SentenceStream:
    """Cuts a text that comes in deltas; the sentences are those of the whole text, however it was cut."""

    def __init__(self) -> None:
        """Start at the beginning of a text."""
        self._builder = SentenceBuilder()
        self._buffer = ""
        self._offset = 0
        self._readers = {
            _Mode.LINE_START: self._read_line_start,
            _Mode.TEXT: self._read_text,
            _Mode.REST_OF_LINE: self._read_rest_of_line,
            _Mode.FENCE: self._read_fence,
            _Mode.REASONING: self._read_reasoning,
        }
        self._mode = _Mode.LINE_START
        self._line = _Line()
        self._after_blank = True
        self._in_list = False
        self._in_table = False
        self._fence = ""
        self._reasoning = ""

    def feed(self, delta: str) -> list[Sentence]:
        """Read on, and return the sentences that are certainly complete now."""
        self._buffer += delta
        self._read(final=False)
        return self._builder.take()

    def close(self) -> list[Sentence]:
        """End the text, and return what had to wait for more of it."""
        self._read(final=True)
        self._builder.close()
        return self._builder.take()

    def _read(self, *, final: bool) -> None:
        buffer, at, offset = self._buffer, 0, self._offset
        while at < len(buffer):
            read = self._readers[self._mode](buffer, at, final)
            if read is None:
                break
            at += read
            self._offset = offset + at
        self._buffer = buffer[at:]

    # Each reader looks at `buffer` from `at` on and returns how many characters it has read, perhaps none if it
    # only changed the mode; None asks for more text, which it does not do when `final`.

    def _read_line_start(self, buffer: str, at: int, final: bool) -> int | None:
        if buffer[at] == "\n":
            self._end_blank_line()
            return 1
        if spaces := _SPACES.match(buffer, at):
            self._line.indent += len(spaces.group()) + (_CODE_INDENT - 1) * spaces.group().count("\t")
            self._builder.add_space(spaces.group())
            return len(spaces.group())
        marker = _MARKER.match(buffer, at)
        assert marker is not None
        word = marker.group()
        if marker.end() == len(buffer) and len(word) < _LONGEST_MARKER and not final:
            return None
        if self._builder.in_display:
            self._mode = _Mode.TEXT
            return 0
        return self._open_container(word) or self._open_block(word, buffer, at, final)

    def _open_container(self, word: str) -> int:
        """Read a mark that stands before the text of its line; return its length, 0 for none."""
        if word[0] == ">":
            self._line.quoted = self._line.marked = True
            self._builder.add_space(">")
            return 1
        if _ITEM.fullmatch(word) or word[0] in "•◦▪‣●":
            self._interrupt()
            self._builder.settle_title()
            self._line.marked = self._in_list = True
            return len(word) if _ITEM.fullmatch(word) else 1
        return 0

    def _open_block(self, word: str, buffer: str, at: int, final: bool) -> int | None:
        reasoning = _REASONING.match(word)
        if reasoning and not self._line.marked:
            self._interrupt()
            self._mode, self._reasoning = _Mode.REASONING, f"</{reasoning[1]}>"
            return reasoning.end()
        if fence := _FENCE.match(word):
            return self._open_fence(fence[0], buffer, at, final)
        if _HEADING.fullmatch(word):
            self._interrupt()
            self._builder.settle_title()
            self._mode, self._builder.in_heading = _Mode.TEXT, True
            return len(word)
        if word[0] == "|":
            return self._open_row(buffer, at, final)
        if (_UNDERLINE.fullmatch(word) and self._builder.underline()) or _RULE.fullmatch(word):
            self._interrupt()
            self._mode = _Mode.REST_OF_LINE
            return len(word)
        return self._open_text(word)

    def _open_fence(self, fence: str, buffer: str, at: int, final: bool) -> int | None:
        start = _look_ahead(buffer, at, final)
        if start is None:
            return None
        if "`" in start[len(fence) :] and fence[0] == "`":
            return self._open_text(fence)
        self._interrupt()
        self._mode, self._fence = _Mode.REST_OF_LINE, fence
        return len(fence)

    def _open_row(self, buffer: str, at: int, final: bool) -> int | None:
        if self._builder.holds_header:
            start = _look_ahead(buffer, at, final)
            if start is None:
                return None
            is_rule = _TABLE_RULE.match(start) is not None
            self._builder.settle_header(is_header=is_rule)
            if is_rule:
                self._mode = _Mode.REST_OF_LINE
                return 0
        elif not self._in_table:
            self._interrupt()
            self._builder.hold_header()
        self._mode, self._line.row, self._in_table = _Mode.TEXT, True, True
        return 1

    def _open_text(self, word: str) -> int:
        line = self._line
        self._leave_table()
        if self._after_blank and not line.marked:
            self._in_list = self._in_list and line.indent > 1
            if line.indent >= _CODE_INDENT and not self._in_list:
                self._mode = _Mode.REST_OF_LINE
                return 0
        self._builder.meet_line(word, quoted=line.quoted)
        self._mode = _Mode.TEXT
        return 0

    def _read_text(self, buffer: str, at: int, final: bool) -> int | None:
        builder, line = self._builder, self._line
        char = buffer[at]
        if char == "\n":
            self._end_line()
            return 1
        if line.row and char == "|":
            builder.finish()
            return 1
        opens_line = line.empty and not line.marked
        if builder.takes_plain_words and not line.row and (words := _PLAIN_WORDS.match(buffer, at)):
            line.empty = False
            builder.add_plain_words(words.group(), self._offset, quoted=line.quoted, opens_line=opens_line)
            return len(words.group())
        if spaces := _SPACES.match(buffer, at):
            builder.add_space(spaces.group())
            return len(spaces.group())
        if char == "<":
            if tag := _BLOCK_TAG.match(buffer, at):
                builder.finish()
                return len(tag.group())
            if not final and _OPEN_TAG.match(buffer, at):
                return None
        piece = (_CELL_PIECE if line.row else _PIECE).match(buffer, at)
        assert piece is not None
        word = piece.group()
        if piece.end() == len(buffer) and len(word) <= _LONGEST_PIECE and not final:
            return None
        line.empty = False
        builder.add_word(word, self._offset, quoted=line.quoted, opens_line=opens_line)
        return len(word)

    def _read_rest_of_line(self, buffer: str, at: int, final: bool) -> int:  # noqa: ARG002  # one shape for all readers
        end = buffer.find("\n", at)
        if end < 0:
            return len(buffer) - at
        self._line = _Line(start=self._offset + end + 1 - at)
        self._mode = _Mode.FENCE if self._fence else _Mode.LINE_START
        return end + 1 - at

    def _read_fence(self, buffer: str, at: int, final: bool) -> int | None:
        if buffer[at] == "\n":
            return 1
        if spaces := _SPACES.match(buffer, at):
            return len(spaces.group())
        marker = _MARKER.match(buffer, at)
        assert marker is not None
        word = marker.group()
        if marker.end() == len(buffer) and len(word) < _LONGEST_MARKER and not final:
            return None
        if word.startswith(self._fence) and not word.strip(self._fence[0]):
            self._fence = ""
            self._after_blank = True
        self._mode = _Mode.REST_OF_LINE
        return len(word)

    def _read_reasoning(self, buffer: str, at: int, final: bool) -> int | None:
        end = buffer.lower().find(self._reasoning.lower(), at)
        if end >= 0:
            self._mode = _Mode.LINE_START
            return end + len(self._reasoning) - at
        return (len(buffer) if final else max(at, len(buffer) - _REASONING_END)) - at or None

    def _interrupt(self) -> None:
        """End the sentence in hand where a block of another kind starts."""
        self._builder.finish(ends_line=True)
        self._leave_table()

    def _leave_table(self) -> None:
        if self._in_table:
            self._builder.settle_header(is_header=False)
        self._in_table = False

    def _end_line(self) -> None:
        if self._line.row:
            self._builder.finish()
        self._builder.end_line(self._offset - self._line.start)
        self._start_line(after_blank=False)

    def _end_blank_line(self) -> None:
        if not self._line.marked or self._line.quoted:
            self._interrupt()
        self._start_line(after_blank=True)

    def _start_line(self, *, after_blank: bool) -> None:
        self._line = _Line(start=self._offset + 1)
        self._after_blank = after_blank
        self._mode = _Mode.LINE_START


def _look_ahead(buffer: str, at: int, final: bool) -> str | None:
    """Return the start of the line that goes on at `at`; None where too little of it has come."""
    start, end, _ = buffer[at : at + _LOOK_AHEAD].partition("\n")
    return start if end or final or len(start) == _LOOK_AHEAD else None
