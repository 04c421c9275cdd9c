"""What a caller may choose for one request: headers and the `verify` body object (contract, section 3).

In: the request's headers, the value of the body's `verify` member, the operator's defaults. Out: `Controls`, or
`BadControl` naming the header or key. Controls are checked even where verification is off: a typo must not pass
unseen because of another header.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from proxy.errors import BadControl

MOST_CONTEXT_CHARACTERS: Final = 500_000
"""Characters of all context texts together, some 250 pages: what is searched in well under a second."""
MOST_CONTEXT_TEXTS: Final = 1000

Mode = Literal["correct", "detect", "off"]
Rule = Literal["bounded", "paper", "fixed"]
ClaimsMethod = Literal["llm", "local"]
StreamMethod = Literal["buffer", "annotate"]
Detail = Literal["summary", "full"]
Reference = Literal["recall", "context"]

HEADERS: Final = {
    "x-verify": "mode",
    "x-verify-k": "k",
    "x-verify-rule": "rule",
    "x-verify-claims": "claims",
    "x-verify-stream": "stream",
    "x-verify-timeout-ms": "timeout_ms",
    "x-verify-detail": "detail",
}
_MODE_SYNONYMS: Final[Mapping[object, str]] = {
    **dict.fromkeys(("true", "on", "1", True), "correct"),
    **dict.fromkeys(("false", "0", "no", "", False), "off"),
}


def _read_mode(value: object) -> object:
    """Map the accepted synonyms to a mode; numbers are no synonyms (1 == True would be one)."""
    if isinstance(value, str):
        value = value.strip().lower()
    elif not isinstance(value, bool):
        return value
    return _MODE_SYNONYMS.get(value, value)


def _read_texts(value: object) -> object:
    """Take a list of texts as JSON has it; blank ones are a caller's mistake and better told."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(t, str) and t.strip() for t in value):
        raise ValueError("send a list of one or more texts, none of them blank")
    if len(value) > MOST_CONTEXT_TEXTS or sum(map(len, value)) > MOST_CONTEXT_CHARACTERS:
        raise ValueError(f"send at most {MOST_CONTEXT_TEXTS} texts of {MOST_CONTEXT_CHARACTERS} characters together")
    return tuple(value)


SpokenMode = Annotated[Mode, BeforeValidator(_read_mode)]
"""A mode, or one of its synonyms in any case."""
Texts = Annotated[tuple[str, ...], BeforeValidator(_read_texts)]
"""At least one text, none of them blank."""


class Controls(BaseModel):
    """One request's settings, all decided."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    mode: SpokenMode = "correct"
    k: float = Field(default=0.7, ge=0, le=5, allow_inf_nan=False)
    rule: Rule = "bounded"
    claims: ClaimsMethod = "llm"
    stream: StreamMethod = "buffer"
    timeout_ms: int = Field(default=30_000, ge=1, le=600_000)
    detail: Detail = "summary"
    context: Texts = Field(default=(), repr=False)
    """Texts to check against; they go before the recall. Only in the body."""
    reference: Reference = "recall"
    """`context`: by the context alone, without a recall. Only in the body."""

    def for_stream(self) -> Controls:
        """Return the controls of a streamed reply: live delivery cannot take words back, so it never corrects."""
        if self.stream == "annotate" and self.mode == "correct":
            return self.model_copy(update={"mode": "detect"})
        return self


def read_controls(headers: Iterable[tuple[str, str]], verify: object, defaults: Controls) -> Controls:
    """Decide one request's controls.

    Args:
        headers: all request headers, names in lower case, in order, repeated ones repeated.
        verify: the body's `verify` member; None where the body has none.
        defaults: the operator's.

    Raises:
        BadControl: a header is unknown, sent twice or out of range; a key is unknown or of a wrong type.
    """
    chosen = _from_body(verify) | _from_headers(headers)
    return defaults.model_copy(update=chosen)


def _from_headers(headers: Iterable[tuple[str, str]]) -> dict[str, object]:
    chosen: dict[str, object] = {}
    for name, value in headers:
        if name != "x-verify" and not name.startswith("x-verify-"):
            continue
        if name not in HEADERS:
            known = ", ".join(map(_title, HEADERS))
            raise BadControl(f"Unknown header {_title(name)}. Known: {known}.", param=_title(name))
        key, spelled = HEADERS[name], _title(name)
        if key in chosen or "," in value:
            raise BadControl(f"{spelled} was sent twice; send it once.", param=spelled)
        try:
            parsed = Controls.model_validate_strings({key: value.strip().lower()}, strict=False)
        except ValidationError as error:
            raise BadControl(f"{spelled}: {_say(error)}", param=spelled) from None
        chosen[key] = getattr(parsed, key)
    return chosen


def _from_body(verify: object) -> dict[str, object]:
    if verify is None:
        return {}
    if verify is False:
        return {"mode": "off"}
    if not isinstance(verify, dict):
        raise BadControl("`verify` must be an object of controls, or false.", param="verify")
    try:
        parsed = Controls.model_validate(verify)
    except ValidationError as error:
        name = f"verify.{error.errors()[0]['loc'][0]}"
        raise BadControl(f"{name}: {_say(error)}", param=name) from None
    if parsed.reference == "context" and not parsed.context:
        raise BadControl("verify.reference: `context` needs texts in verify.context.", param="verify.reference")
    return {key: getattr(parsed, key) for key in parsed.model_fields_set}


def _say(error: ValidationError) -> str:
    """Return the first fault in one sentence that does not repeat the value sent."""
    first = error.errors(include_input=False, include_url=False)[0]
    if first["type"] == "extra_forbidden":
        return f"unknown key. Known: {', '.join(Controls.model_fields)}."
    return f"{first['msg'].removeprefix('Value error, ')}."


def _title(name: str) -> str:
    return "-".join(part.capitalize() for part in name.split("-"))
