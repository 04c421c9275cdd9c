"""Which texts count as being in a language that the model lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.language import LEAST_WORDS, is_listed

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
        # Short texts of one script are not told apart: these count as English where English is listed.
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


LONG_ENGLISH = [
    (
        "Verdane Bridge opened in 1913 and is 340 metres long, and it carries both the road and the railway over the "
        "river to the old town."
    ),
    (
        "Johannes Vermeer, Jean-Baptiste Lully, Giuseppe Garibaldi, Søren Kierkegaard and Wolfgang Amadeus Mozart are "
        "named on the wall beside Ludwig van Beethoven and Antonín Dvořák."
    ),
    (
        "The film Die Welle, directed by Dennis Gansel and starring Jürgen Vogel, Frederick Lau and Max Riemelt, "
        "was shown in Köln, München and Düsseldorf in 2008."
    ),
    (
        "Use the function `obtener_valor_de_configuración_por_nombre` to read a value, then call save, which writes "
        "all of the changed values back to the file on the disk."
    ),
    (
        "The command reads its options from a file, and where there is none from the environment:\n```\nfür jede "
        "Datei in der Liste lies die Zeilen und zähle die Wörter, dann schreibe das Ergebnis in die Tabelle\n```\n"
    ),
    (
        "SHE WAS BORN IN THE NORTH OF THE COUNTRY AND WENT TO SCHOOL IN THE CAPITAL BEFORE SHE BECAME A DOCTOR AND "
        "MOVED TO THE COAST."
    ),
]
OTHERS = {
    "de": "Die Brücke wurde im Jahr 1913 eröffnet und ist 340 Meter lang; sie führt die Straße und die Eisenbahn über "
    "den Fluss in die alte Stadt.",
    "es": "El puente se inauguró en 1913 y mide 340 metros de largo; lleva la carretera y el ferrocarril sobre el río "
    "hasta la ciudad vieja.",
    "fr": "Le pont a été ouvert en 1913 et mesure 340 mètres de long ; il porte la route et le chemin de fer au-dessus "
    "du fleuve jusqu'à la vieille ville.",
    "pt": "A ponte foi inaugurada em 1913 e tem 340 metros de comprimento; leva a estrada e a ferrovia sobre o rio até "
    "a cidade velha do outro lado.",
    "nl": "De brug werd in 1913 geopend en is 340 meter lang; zij draagt de weg en de spoorlijn over de rivier naar de "
    "oude stad aan de overkant.",
    "it": "Il ponte fu inaugurato nel 1913 ed è lungo 340 metri; porta la strada e la ferrovia sopra il fiume fino "
    "alla città vecchia sull'altra riva.",
    "no": "Broen ble åpnet i 1913 og er 340 meter lang; den fører veien og jernbanen over elven til den gamle byen på "
    "den andre siden av dalen.",
}


@pytest.mark.parametrize("text", LONG_ENGLISH)
def test_long_english_is_listed(text: str) -> None:
    """English stays English with many foreign names, in capitals, and with code between its sentences."""
    assert is_listed(text, frozenset({"en"}))


@pytest.mark.parametrize("language", OTHERS)
def test_latin_languages_are_told_apart(language: str) -> None:
    """A long enough text in another language of the same script is not listed, and with its own language it is."""
    text = OTHERS[language]
    assert not is_listed(text, frozenset({"en"}))
    assert not is_listed(text, frozenset({"en", "ru", "ko"}))
    assert is_listed(text, frozenset({language}))
    assert is_listed(text, frozenset({"en", language}))


@pytest.mark.parametrize("language", OTHERS)
def test_short_texts_are_never_told_apart(language: str) -> None:
    """Nineteen words are too few to be sure of."""
    words = [word for word in OTHERS[language].split() if any(char.isalpha() for char in word)]
    assert is_listed(" ".join(words[: LEAST_WORDS - 1]).replace("-", "").replace("'", ""), frozenset({"en"}))


def test_a_language_stands_for_its_kin() -> None:
    """Norwegian is listed under any of its codes."""
    for code in ("no", "nb", "nn"):
        assert is_listed(OTHERS["no"], frozenset({"en", code}))


def test_english_is_not_listed_for_a_model_of_another_language() -> None:
    """English is judged as any other language."""
    assert not is_listed(LONG_ENGLISH[0], frozenset({"de", "fr"}))


def test_the_greater_part_decides() -> None:
    """A French quotation in an English text leaves it English; an English remark in a French text leaves it French."""
    assert is_listed(f"{LONG_ENGLISH[0]} {LONG_ENGLISH[2]} It says: le pont a été ouvert en 1913.", frozenset({"en"}))
    assert not is_listed(f"Here it is: {OTHERS['fr']} {OTHERS['fr']}", frozenset({"en"}))


@given(st.text(min_size=60, max_size=300))
def test_the_detector_takes_any_text(text: str) -> None:
    """Whatever the text holds, it is answered."""
    words = " ".join(["word"] * LEAST_WORDS)
    assert is_listed(f"{words} {text}", frozenset({"en"})) in {True, False}
