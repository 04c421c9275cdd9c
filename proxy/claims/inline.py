"""What is still open in a paragraph: a code span, a formula, a bracket or a quotation.

In: the pieces of a sentence, one after another. Out: whether a full stop read now stands inside such a span
and so ends nothing. It stands apart because it is the only part that looks at single characters, and holds
no more than the marks that wait for their partner.
"""

from __future__ import annotations

import re

_PATIENCE = 400
"""Characters after which a bracket or quotation without partner is taken for a slip and forgotten."""

_CLOSERS = {
    "(": ")", "[": "]", "（": "）", "“": "”", "„": "“”", "«": "»", "「": "」", "『": "』",
}  # fmt: skip
_MARK = re.compile(r"`+|\$+|\\.|[()\[\]\"“”„«»「」『』（）]", re.DOTALL)
_TICKS = re.compile(r"`+")
_PRICE_OR_NAME = re.compile(r"\$(?:\d|[A-Za-z_]{2,}[.,;:!?)]*$|$)")
_FORMULA_END = re.compile(r"(?<=\S)\$(?!\d)")


class OpenMarks:
    """The marks opened and not yet closed since the sentence began."""

    __slots__ = ("_stack", "_verbatim")

    def __init__(self) -> None:
        """Start with nothing open."""
        self._verbatim = ""
        self._stack: list[tuple[str, int]] = []

    @property
    def in_display(self) -> bool:
        """Whether a displayed formula is open: it goes on over line ends."""
        return self._verbatim in ("$$", "\\]")

    @property
    def in_verbatim(self) -> bool:
        """Whether a code span or formula is open."""
        return bool(self._verbatim)

    def hides_stop(self, at: int) -> bool:
        """Tell whether a full stop at offset `at` stands inside an open span."""
        if self._verbatim:
            return True
        if self._stack and at - self._stack[0][1] > _PATIENCE:
            self._stack.clear()
        return bool(self._stack)

    def end_line(self) -> None:
        """Forget an inline code span or formula: neither goes on over a line end."""
        if not self.in_display:
            self._verbatim = ""

    def read(self, piece: str, at: int) -> None:
        """Follow the marks of `piece`, a run without white space that stands at offset `at`."""
        place = 0
        while place < len(piece):
            if self._verbatim:
                place = self._leave_verbatim(piece, place)
                continue
            mark = _MARK.search(piece, place)
            if mark is None:
                return
            place = mark.end()
            if mark.group()[0] in "`$\\":
                self._enter_verbatim(piece, mark)
            else:
                self._read_bracket(piece, mark.start(), at)

    def _leave_verbatim(self, piece: str, place: int) -> int:
        """Return the place after the closing mark, or the end of the piece where it is not there."""
        if self._verbatim[0] == "`":
            ends = (run.end() for run in _TICKS.finditer(piece, place) if run.group() == self._verbatim)
            end = next(ends, -1)
        elif self._verbatim == "$":
            close = _FORMULA_END.search(piece, place)
            end = close.end() if close else -1
        else:
            found = piece.find(self._verbatim, place)
            end = found + 2 if found >= 0 else -1
        if end < 0:
            return len(piece)
        self._verbatim = ""
        return end

    def _enter_verbatim(self, piece: str, mark: re.Match[str]) -> None:
        text = mark.group()
        if text[0] == "`" or text == "$$":
            self._verbatim = text
        elif text in ("\\(", "\\["):
            self._verbatim = "\\)" if text == "\\(" else "\\]"
        elif text == "$" and not piece[: mark.start()][-1:].isalnum():
            closes_here = _FORMULA_END.search(piece, mark.end() + 1) is not None
            if closes_here or not _PRICE_OR_NAME.match(piece, mark.start()):
                self._verbatim = "$"

    def _read_bracket(self, piece: str, place: int, at: int) -> None:
        mark, before = piece[place], piece[place - 1 : place]
        if self._stack and mark in self._stack[-1][0]:
            self._stack.pop()
        elif mark == '"':
            # A straight mark opens at the start of a word; after one it is an inch or a slip.
            if not before or before in "([{*_—–-/“":
                self._stack.append(('"', at + place))
        elif mark in _CLOSERS and before not in (":", ";"):
            self._stack.append((_CLOSERS[mark], at + place))
