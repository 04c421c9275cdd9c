"""Sentences put together from words.

In: the words and white space of one block after another, with their offsets. Out: finished `Sentence`s in order.
It stands apart from `segment`, which reads Markdown's blocks, and from `boundaries`, which knows words: here lives
the sentence in hand, and what has to wait for the next line to show whether it is a sentence or a title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from proxy.claims.boundaries import WIDE_STOPS, closes_sentence, is_aside, is_boundary, starts_upper
from proxy.claims.claim import Sentence
from proxy.claims.inline import OpenMarks
from proxy.claims.markdown import has_words, plain_text

LONGEST_SENTENCE: Final = 5_000
"""Characters; a longer run without a boundary is no sentence and stands whole, `unsplit`."""
_LINE_WIDTH: Final = 60
"""Characters from which on a line counts as filled, so that its sentence may go on in the next one."""
_HARD_BREAK: Final = 2
"""Blanks at the end of a line from which on it is broken for good."""
_LONGEST_WORD: Final = 256
"""Characters of a word that are looked at."""

_TITLE = re.compile(r"\*\*[^*\n]*[^*\n.!?]\*\*:?|__[^_\n]*[^_\n.!?]__:?")
_OPEN_ENDED_TEXT: Final = """
a an and are as at be but by for from in is its nor of on or than that the their to was were which who with
"""
_OPEN_ENDED: Final = frozenset(_OPEN_ENDED_TEXT.split())
"""Words that no line entry ends in, so that the sentence goes on in the next line."""


@dataclass(slots=True)
class _Pending:
    """The sentence in hand."""

    start: int
    quoted: bool
    opens_line: bool
    parts: list[str] = field(default_factory=list)
    end: int = 0
    word: str = ""
    """The last word with its punctuation; empty where it is settled that the sentence goes on."""
    stops: bool = False
    """The last word ends in a full stop."""
    numbers: bool = True
    """A number now would be that of an item: nothing but a colon comes before it."""
    gap: bool = False
    """White space has followed it."""
    spaces: int = 0
    """How many blanks, since they may break the line."""
    width: int = 0
    """Characters of its last line, once that has ended."""
    marks: OpenMarks = field(default_factory=OpenMarks)

    @property
    def text(self) -> str:
        return "".join(self.parts)[: self.end - self.start]

    def append(self, word: str, at: int) -> None:
        if self.gap:
            self.numbers = self.word.endswith(":")
        whole = word if self.gap else self.word + word
        self.word, self.gap, self.spaces = whole[-_LONGEST_WORD:], False, 0
        self.parts.append(word)
        self.end = at + len(word)


class SentenceBuilder:
    """Collects words, cuts them into sentences and hands those out."""

    def __init__(self) -> None:
        """Start without text."""
        self.in_heading = False
        """The words read now are a heading's."""
        self._heading: str | None = None
        self._pending: _Pending | None = None
        self._title: Sentence | None = None
        self._header: list[Sentence] | None = None
        self._ready: list[Sentence] = []
        self._count = 0

    @property
    def in_display(self) -> bool:
        """Whether a displayed formula is open."""
        return self._pending is not None and self._pending.marks.in_display

    @property
    def takes_plain_words(self) -> bool:
        """Whether words without any mark or stop can only be added: nothing waits for the next word."""
        pending = self._pending
        return pending is None or not (pending.marks.in_verbatim or (pending.stops and pending.gap))

    def add_word(self, word: str, at: int, *, quoted: bool, opens_line: bool) -> None:
        """Add a run without white space, or a part of one, that stands at offset `at`."""
        pending = self._pending
        if pending and pending.gap and pending.stops and not self.in_heading and not pending.marks.hides_stop(at):
            if is_aside(word):
                # It counts to neither sentence; its offsets are kept should the sentence go on after it.
                pending.parts.append(word)
                pending.spaces = 0
                return
            if is_boundary(pending.word, word, numbers=pending.numbers):
                self.finish()
        pending = self._begin(at, quoted=quoted, opens_line=opens_line)
        pending.append(word, at)
        pending.marks.read(word, at)
        pending.stops = closes_sentence(pending.word)
        if pending.stops and pending.word[-1] in WIDE_STOPS and not pending.marks.hides_stop(at):
            self.finish()

    def add_plain_words(self, words: str, at: int, *, quoted: bool, opens_line: bool) -> None:
        """Add words without any mark or stop, with the white space after them; see `takes_plain_words`."""
        pending = self._begin(at, quoted=quoted, opens_line=opens_line)
        bare = words.rstrip()
        pending.append(bare, at)
        if " " in bare:
            pending.word, pending.numbers = bare.rsplit(" ", 1)[1], False
        pending.parts[-1] = words
        pending.stops, pending.gap, pending.spaces = False, True, words.count(" ", len(bare))

    def add_space(self, text: str) -> None:
        """Add white space, or a mark before a line's text that is no part of a sentence."""
        if self._pending is not None:
            self._pending.parts.append(text)
            self._pending.gap = True
            self._pending.spaces += text.count(" ")

    def end_line(self, width: int) -> None:
        """Take note that a line with text, `width` characters long, has ended."""
        pending = self._pending
        if pending is None:
            return
        if self.in_heading:
            self._name_section(pending)
        elif pending.word.endswith("\\") or pending.spaces >= _HARD_BREAK:
            self.finish(ends_line=True)
        else:
            self.add_space("\n")
            pending.marks.end_line()
            pending.width = width

    def meet_line(self, word: str, *, quoted: bool) -> None:
        """Settle, at the first word of a line of text, whether the sentence in hand goes on in it."""
        pending = self._pending
        if pending is None:
            return
        if quoted != pending.quoted or (not pending.marks.hides_stop(pending.end) and _ends_with_line(pending, word)):
            self.finish(ends_line=True)
        else:
            pending.word, pending.stops = "", False

    def underline(self) -> bool:
        """Turn the sentence in hand into a heading, for a line drawn under it; False where it cannot be one."""
        pending = self._pending
        if pending is None or pending.stops or not pending.opens_line:
            return False
        self._name_section(pending)
        return True

    def finish(self, *, ends_line: bool = False) -> None:
        """End the sentence in hand; `ends_line` where nothing else follows it on its line."""
        pending, self._pending = self._pending, None
        if pending is None:
            return
        text = pending.text
        unsplit = len(text) > LONGEST_SENTENCE
        if not unsplit and not has_words(text):
            return
        sentence = Sentence(
            index=self._count,
            span=(pending.start, pending.end),
            text=text,
            heading=self._heading,
            quoted=pending.quoted,
            unverifiable="unsplit" if unsplit else None,
        )
        self._count += 1
        if ends_line and pending.opens_line and _TITLE.fullmatch(text):
            self._title = sentence
        elif self._header is not None:
            self._header.append(sentence)
        else:
            self._ready.append(sentence)

    def hold_header(self) -> None:
        """Keep back the cells that come now: they may be a table's header row."""
        self.settle_title()
        self._header = []

    @property
    def holds_header(self) -> bool:
        """Whether cells are kept back."""
        return self._header is not None

    def settle_header(self, *, is_header: bool) -> None:
        """Drop the cells kept back, since they only name columns, or let them go as sentences."""
        cells, self._header = self._header or [], None
        if is_header:
            self._count -= len(cells)
        else:
            self._ready.extend(cells)

    def settle_title(self) -> None:
        """Read a line in bold as the heading of what follows it."""
        if self._title is not None:
            self._heading, self._title = plain_text(self._title.text).rstrip(": "), None
            self._count -= 1

    def take(self) -> list[Sentence]:
        """Hand out the sentences finished since the last call."""
        ready, self._ready = self._ready, []
        return ready

    def close(self) -> None:
        """End the text: what still waits for more stands as a sentence."""
        if self.in_heading:
            self._pending = None
        self.finish(ends_line=True)
        self.settle_header(is_header=False)
        if self._title is not None:
            self._ready.append(self._title)

    def _begin(self, at: int, *, quoted: bool, opens_line: bool) -> _Pending:
        if self._pending is None:
            self.settle_title()
            self._pending = _Pending(at, quoted=quoted, opens_line=opens_line)
        return self._pending

    def _name_section(self, pending: _Pending) -> None:
        self._heading = plain_text(pending.text.rstrip("# ")) or None
        self._pending, self.in_heading = None, False


def _ends_with_line(pending: _Pending, following: str) -> bool:
    """Tell whether a sentence ends at the end of its line; `following` is the first word of the next line.

    Where the line does not end in a full stop, it was either wrapped, or is an entry of its own, which is short
    or ends in a colon, and after which the next starts with a capital.
    """
    if pending.stops:
        return is_boundary(pending.word, following, new_line=True)
    last = pending.word.rstrip("*_\"'”’)")
    upper = starts_upper(following)
    if last.endswith(":") or upper is None:
        return True
    if last.endswith((",", ";", "-", "–", "—", "/", "&")) or last.lower() in _OPEN_ENDED or not upper:
        return False
    return pending.width < _LINE_WIDTH
