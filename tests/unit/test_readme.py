"""README's table of settings is the code's: every name once, every default right."""

from __future__ import annotations

import re
from pathlib import Path

from proxy.settings import PREFIX, Settings

README = Path(__file__).parents[2] / "README.md"
ROW = re.compile(r"^\|\s*`(CORRIGENDA_\w+)`\s*\|\s*([^|]*?)\s*\|\s*([^|]*?)\s*\|$", re.MULTILINE)
"""A row: name, default, what it is for."""


def read_rows() -> list[tuple[str, str, str]]:
    """Return the rows of README's table."""
    return ROW.findall(README.read_text(encoding="utf-8"))


def defaults() -> dict[str, object]:
    """Return the default of each setting by the name of its variable."""
    settings = Settings()
    values = {name: getattr(settings, name) for name in Settings.model_fields if name != "openai_api_key"}
    values["claims"] = settings.controls.claims  # which depends on the upstream
    return {PREFIX + name.upper(): value for name, value in values.items()}


def show(value: object) -> str:
    """Return a default as README writes it: code for a value, words where there is none."""
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def test_every_setting_stands_in_readme_once() -> None:
    """No setting is missing from README, none is left over, none stands there twice."""
    assert sorted(name for name, _, _ in read_rows()) == sorted(defaults())


def test_every_default_is_right() -> None:
    """A setting with a default shows it; one without says in words what holds then."""
    told = {name: default for name, default, _ in read_rows()}
    for name, value in defaults().items():
        if value in (None, ()):
            assert told[name], name
            assert "`" not in told[name], name
        else:
            assert told[name] == show(value), name


def test_every_setting_says_what_it_is_for() -> None:
    """No row is without its explanation."""
    assert [name for name, _, what in read_rows() if not what] == []
