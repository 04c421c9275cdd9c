"""Units and what they are worth in the base unit of their dimension.

In: a place in a text behind a number. Out: the unit that stands there. A table of the units of everyday texts, since
the libraries that know all units take over two seconds to start and read "5 in" and "3 at" as units too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of one dimension: `value * factor + offset` is the value in the base unit."""

    dimension: str
    name: str
    factor: float
    offset: float = 0.0


# Dimension, worth in its base unit, symbols (case counts), names (in the plural too).
_TABLE: Final = (
    ("length", 1.0, "m 미터", "metre meter"),
    ("length", 1e3, "km 킬로미터", "kilometre kilometer"),
    ("length", 1e-2, "cm 센티미터", "centimetre centimeter"),
    ("length", 1e-3, "mm 밀리미터", "millimetre millimeter"),
    ("length", 0.0254, "", "inch"),
    ("length", 0.3048, "ft", "foot"),
    ("length", 0.9144, "yd yds", "yard"),
    ("length", 1609.344, "mi", "mile"),
    ("length", 1852.0, "nmi", "nautical_mile"),
    ("length", 9.4607e15, "ly", "light-year light_year"),
    ("mass", 1.0, "kg", "kilogram kilogramme kilo"),
    ("mass", 1e-3, "g", "gram gramme"),
    ("mass", 1e-6, "mg", "milligram"),
    ("mass", 1e3, "t", "tonne metric_ton"),
    ("mass", 0.45359237, "lb lbs", "pound"),
    ("mass", 0.028349523, "oz", "ounce"),
    ("mass", 907.18474, "", "short_ton"),
    ("ton", 1.0, "톤", "ton"),  # of which there are three
    ("duration", 1.0, "s", "seconds sec"),
    ("duration", 60.0, "min 분", "minute min"),
    ("duration", 3600.0, "h hr hrs 시간", "hour"),
    ("duration", 86400.0, "", "day"),
    ("duration", 604800.0, "", "week fortnight"),
    ("duration", 2629800.0, "개월", "month"),
    ("duration", 31557600.0, "년 年", "year yr"),
    ("duration", 315576000.0, "", "decade"),
    ("duration", 3155760000.0, "", "century"),
    ("area", 1.0, "m² m2 sqm", "square_metre square_meter"),
    ("area", 1e6, "km² km2 sq_km", "square_kilometre square_kilometer"),
    ("area", 1e4, "ha", "hectare"),
    ("area", 4046.8564, "", "acre"),
    ("area", 2589988.11, "sq_mi", "square_mile"),
    ("area", 0.09290304, "sq_ft", "square_foot"),
    ("volume", 1.0, "l L", "litre liter"),
    ("volume", 1e-3, "ml mL", "millilitre milliliter"),
    ("volume", 1e3, "m³ m3", "cubic_metre cubic_meter"),
    ("volume", 3.785411784, "gal", "gallon"),
    ("speed", 1.0, "km/h kph kmh", "kilometres_per_hour kilometers_per_hour"),
    ("speed", 1.609344, "mph", "miles_per_hour"),
    ("speed", 3.6, "m/s", "metres_per_second meters_per_second"),
    ("speed", 1.852, "kn", "knot"),
    ("temperature", 1.0, "°C ℃", "degrees_Celsius degrees_centigrade degrees_C Celsius"),
    ("temperature", 1 / 1.8, "°F ℉", "degrees_Fahrenheit degrees_F Fahrenheit"),
    ("angle", 1.0, "°", "degree"),
    ("power", 1.0, "W", "watt"),
    ("power", 1e3, "kW", "kilowatt"),
    ("power", 1e6, "MW", "megawatt"),
    ("power", 1e9, "GW", "gigawatt"),
    ("share", 1.0, "% ％ 퍼센트", "percent per_cent"),
    ("money $", 1.0, "USD 달러", "dollar US_dollar American_dollar"),
    ("money €", 1.0, "EUR 유로", "euro"),
    ("money £", 1.0, "GBP", "pound_sterling pounds_sterling"),
    ("money ¥", 1.0, "JPY 円", "yen"),
    ("money ₩", 1.0, "KRW 원", "won"),
)
_IRREGULAR: Final = {"foot": "feet", "square_foot": "square_feet", "inch": "inches", "century": "centuries"}
_FAHRENHEIT_ZERO: Final = -32 / 1.8


def _read_table() -> tuple[dict[str, Unit], dict[str, Unit]]:
    """Return units by symbol and by name, a name in the case and spaces of a text being folded."""
    symbols: dict[str, Unit] = {}
    names: dict[str, Unit] = {}
    for dimension, factor, signs, words in _TABLE:
        unit = Unit(dimension, words.split()[0], factor)
        if unit.name == "degrees_Fahrenheit":
            unit = Unit(dimension, unit.name, factor, _FAHRENHEIT_ZERO)
        symbols |= dict.fromkeys((sign.replace("_", " ") for sign in signs.split()), unit)
        for word in words.split():
            forms = (word, _IRREGULAR.get(word, f"{word}s"))
            names |= dict.fromkeys((form.replace("_", " ").casefold() for form in forms), unit)
    return symbols, names


def _any_of(names: dict[str, Unit]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_SYMBOLS, _NAMES = _read_table()
INCH: Final = _NAMES["inch"]
_SYMBOL: Final = re.compile(rf"[\s\u00a0-]?({_any_of(_SYMBOLS)})(?![A-Za-z\d²³])")
_NAME: Final = re.compile(rf"[\s\u00a0-]{{0,2}}({_any_of(_NAMES)})(?![^\W\d_])", re.IGNORECASE)


def match_unit(text: str, start: int, *, digits: bool) -> tuple[Unit, int] | None:
    """Return the unit that stands at a place, a space or hyphen before it, and its end.

    Args:
        text: A text.
        start: The end of a number in it.
        digits: Whether that is written in digits; only then may a symbol of one letter follow.
    """
    if found := _NAME.match(text, start):
        return _NAMES[re.sub(r"\s+", " ", found.group(1)).casefold()], found.end()
    if (found := _SYMBOL.match(text, start)) and (digits or len(found.group(1)) > 1):
        return _SYMBOLS[found.group(1)], found.end()
    return None
