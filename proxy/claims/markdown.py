"""Inline Markdown marks: text with them in, plain words out.

In: the text of one sentence or heading. Out: the same words without emphasis, links, citations, tags and
list marks, as a reader sees them, or the answer to whether any words are left besides code and formulas. It
stands apart because the local decomposition, the correction and the segmentation read the same marks.
"""

from __future__ import annotations

import html
import re

CITATION = r"\[(?:\^[\w-]{1,16}|\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,8}|citation needed)\]"
"""Pattern of a reference mark like [2], [1, 3] or [^note]; a year in brackets is none."""

# Every alternative ends at the next mark of its own kind, so that unclosed marks cost linear time. A displayed
# formula may also end with the text, where the draft was cut.
_VERBATIM = re.compile(
    r"``(?:[^`]|`(?!`))+``|`[^`]+`"
    r"|\$\$[^$]+(?:\$\$|\Z)|\$(?! )[^$\n]+(?<! )\$(?!\d)"
    r"|\\\((?:[^\\]|\\(?![()]))*\\\)|\\\[(?:[^\\]|\\(?![\[\]]))*(?:\\\]|\Z)"
)
_IMAGE = re.compile(r"!\[[^\[\]]*\]\([^()\s]*(?:\s\"[^\"]*\")?\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_WORDLESS = re.compile(r"[`$\\<]|!\[")

_MARKED = re.compile(r"[*_`\[\]<>&\\~#•◦▪‣●]|^\s*(?:[-+]|\d{1,3}[.)])\s")
_MARKS = (
    (re.compile(r"<br\s*/?>", re.IGNORECASE), " "),
    (_TAG, ""),
    (_IMAGE, ""),
    (re.compile(r"\[([^\[\]]*)\]\([^()\s]*(?:\s\"[^\"]*\")?\)"), r"\1"),
    (re.compile(rf"\s?{CITATION}"), ""),
    (re.compile(r"\n[^\S\n]*>[^\S\n]?"), "\n"),
    (re.compile(r"^(?:\s|>|#{1,6}\s|[-*+•◦▪‣●]\s|\[[ xX]\]\s|\d{1,3}[.)]\s)+"), ""),
    (re.compile(r"(?<!\\)(?:\*{2,3}|~~|`+)"), ""),
    (re.compile(r"(?<![\w*\\])\*(?=\S)|(?<=[^\s\\])\*(?![\w*])"), ""),
    (re.compile(r"(?<![\w\\])_{1,3}(?=\S)|(?<=[^\s\\])_{1,3}(?!\w)"), ""),
    (re.compile(r"\\([\\`*_{}\[\]()#+.!|>~$-])"), r"\1"),
)


def plain_text(text: str) -> str:
    """Return `text` as a reader sees it: no Markdown marks, tags or citations, white space joined."""
    if _MARKED.search(text):
        for pattern, replacement in _MARKS:
            text = pattern.sub(replacement, text)
        text = html.unescape(text)
    return " ".join(text.split())


def has_words(text: str) -> bool:
    """Tell whether `text` holds a letter or digit outside code, formulas, images and tags."""
    if _WORDLESS.search(text):
        for pattern in (_VERBATIM, _IMAGE, _TAG):
            text = pattern.sub("", text)
    return any(map(str.isalnum, text))
