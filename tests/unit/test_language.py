"""Which texts count as being in a language that the model lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language import is_listed

ENGLISH = "Verdane Bridge opened in 1913."
FRENCH = "Le pont a été ouvert en 1913 à l'œuvre."
GERMAN = "Die Brücke wurde 1913 eröffnet; sie heißt Straße."
VIETNAMESE = "Cây cầu được khánh thành năm 1913."
TURKISH = "Köprü 1913'te açıldı; şimdi ışıklı."
RUSSIAN = "Мост был открыт в 1913 году."
KOREAN = "다리는 1913년에 개통되었다."
JAPANESE = "ブリッジは1913年に開通した。"
CHINESE = "那座桥于1913年通车。"
ARABIC = "افتتح الجسر عام 1913."
HINDI = "पुल 1913 में खोला गया था।"
THAI = "สะพานเปิดในปี 1913"
GREEK = "Η γέφυρα άνοιξε το 1913."
HEBREW = "הגשר נפתח בשנת 1913."
ODIA = "ସେତୁ ୧୯୧୩ ରେ ଖୋଲିଲା।"


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        (ENGLISH, {"en"}),
        # Languages of one script are not told apart: these count as English where English is listed.
        *[(text, {"en"}) for text in (FRENCH, GERMAN, VIETNAMESE, TURKISH)],
        (RUSSIAN, {"ru"}),
        (RUSSIAN, {"en", "uk"}),
        (KOREAN, {"ko"}),
        (JAPANESE, {"ja"}),
        (CHINESE, {"zh"}),
        (ARABIC, {"fa"}),
        (ARABIC, {"ug"}),
        (HINDI, {"mr"}),
        (THAI, {"th"}),
        (GREEK, {"el"}),
        (HEBREW, {"yi"}),
        (ODIA, {"or"}),
        ("The toll was 2 € (см. 3).", {"en"}),
        (f"{ENGLISH} It is called 다리.", {"en"}),
        ("ab вг", {"en"}),
    ],
)
def test_listed(text: str, languages: set[str]) -> None:
    """A text mostly in a listed language's script counts as listed."""
    assert is_listed(text, frozenset(languages))


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        *[(text, {"en"}) for text in (RUSSIAN, KOREAN, JAPANESE, CHINESE, ARABIC, HINDI, THAI, GREEK, HEBREW, ODIA)],
        (KOREAN, {"en", "fr", "de", "ru", "zh"}),
        (CHINESE, {"en", "ar"}),
        (ENGLISH, {"ru"}),
        (ENGLISH, {"ko", "ja", "zh"}),
        (f"OK: {RUSSIAN}", {"en"}),
        ("ab вгд", {"en"}),
        (ENGLISH, set()),
    ],
)
def test_not_listed(text: str, languages: set[str]) -> None:
    """A text mostly in another script does not, whatever else is listed."""
    assert not is_listed(text, frozenset(languages))


@pytest.mark.parametrize("text", ["", "  \n", "1913", "3.14 + 2 = 5.14", "🙂", "€ 2,50 (!)"])
def test_text_without_letters(text: str) -> None:
    """What has no letters is in no language that the model could fail to read."""
    assert is_listed(text, frozenset({"en"}))
    assert is_listed(text, frozenset({"ko"}))


@given(st.text(max_size=40), st.sets(st.sampled_from(["en", "ru", "ko", "ar"])), st.sampled_from(["en", "ja", "el"]))
def test_listing_more_never_unlists(text: str, languages: set[str], more: str) -> None:
    """A model that reads one language more still reads what it read before."""
    if is_listed(text, frozenset(languages)):
        assert is_listed(text, frozenset(languages | {more}))


@given(st.text(max_size=40), st.text(alphabet=" \n0123456789.,!?🙂", max_size=10))
def test_only_letters_count(text: str, other: str) -> None:
    """Digits, punctuation and white space around a text change nothing."""
    languages = frozenset({"en"})
    assert is_listed(other + text + other, languages) == is_listed(text, languages)
