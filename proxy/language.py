"""Whether a text is in a language that the NLI model lists, judged by script (contract, section 6).

In: a text, ISO 639-1 codes. Out: yes or no. A leaf: the draft, single sentences and recalls are all asked about.
Languages of one script are not told apart here.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import Final

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
    """Return whether at least half the letters are of a script that some listed language is written in."""
    scripts = Counter(unicodedata.name(char, "").partition(" ")[0] for char in text if char.isalpha())
    wanted = frozenset().union(*(_SCRIPTS.get(language, frozenset({"LATIN"})) for language in languages))
    return 2 * sum(scripts[script] for script in wanted) >= scripts.total()
