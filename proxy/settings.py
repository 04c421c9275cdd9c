"""The operator's settings: environment variables or a TOML file (contract, section 11).

In: `os.environ`, a file, the command line's options. Out: frozen `Settings`, or `SettingsInvalid` naming the
setting. The only place that reads the environment; everything else is handed what it needs.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from proxy.controls import ClaimsMethod, Controls, Detail, Rule, SpokenMode, StreamMethod
from proxy.errors import SettingsInvalid

PREFIX: Final = "CORRIGENDA_"
LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})

# What Kubernetes puts into every pod for a service called corrigenda or corrigenda-something.
_KUBERNETES_NAME: Final = re.compile(r".*_SERVICE_(HOST|PORT(_\w+)?)|.*_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?")
_KUBERNETES_VALUE: Final = re.compile(r"(tcp|udp|sctp)://")

_UNKNOWN: Final = "{} is not a setting. See the settings table in README.md."
_SHARED_NAMES: Final = {
    "upstream_url": ("CORRIGENDA_UPSTREAM_URL", "OPENAI_BASE_URL"),
    "openai_api_key": ("OPENAI_API_KEY",),
}
"""Settings that the environment may give under a name of OpenAI's."""

Names = Annotated[tuple[str, ...], NoDecode]


class Settings(BaseSettings):
    """All settings with their defaults; each field says what it trades."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True, populate_by_name=True
    )

    listen_host: str = "127.0.0.1"
    """Other hosts than loopback open the proxy to the network; the server's own key is then not lent out."""
    listen_port: int = Field(default=8080, ge=0, le=65535)
    upstream_url: str = Field(
        default="https://api.openai.com/v1",
        validation_alias=AliasChoices("CORRIGENDA_UPSTREAM_URL", "OPENAI_BASE_URL"),
    )
    """Where the user's calls and our own go; `embedded` runs a small offline model, for trying only."""
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    """Lent to requests without credentials on loopback, or to holders of `api_keys`."""
    model: str = "gpt-3.5-turbo"
    """For the commands; a request names its own."""
    recall_model: str | None = None
    """Another model than the request's avoids shared blind spots and costs what it costs."""
    claims_model: str | None = None
    """A smaller model makes decomposition cheaper; it must follow a JSON format."""
    correction_model: str | None = None
    nli_model: Path | None = None
    """Folder of the NLI model; none is the shipped one: small, English, for short references."""
    nli_cascade: Path | None = None
    """Folder of a smaller model that judges first, so that `nli_model` reads fewer pairs; what the small one is wrongly
    sure of stays wrong. None: `nli_model` judges all."""
    nli_threads: int | None = Field(default=None, ge=1)
    """More threads shorten one answer's check and leave fewer cores to the rest; none is all usable cores."""
    mode: SpokenMode = "correct"
    k: float = Field(default=0.7, ge=0, le=5, allow_inf_nan=False)
    """A higher k edits less: fewer wrong edits, more false claims left."""
    rule: Rule = "bounded"
    claims: ClaimsMethod | None = None
    """`local` saves one to eight calls a request and splits less finely; none is `llm`, or `local` for `embedded`."""
    stream: StreamMethod = "buffer"
    """`annotate` shows the draft live and can no longer correct it."""
    detail: Detail = "summary"
    verify_timeout_ms: int = Field(default=30_000, ge=1, le=600_000)
    """Budget after the draft is complete; when it runs out the draft is delivered unverified."""
    tau_floor: float | None = Field(default=None, ge=0, le=1)
    """Lower: weaker contradictions may be edited. None: the model folder's."""
    tau_ceiling: float | None = Field(default=None, ge=0, le=1)
    """Lower: a lone contradiction among many claims is edited more easily. None: the model folder's."""
    flag_share: float = Field(default=0.6, ge=0, le=1)
    """With a larger share of contradicted claims the reference itself is suspected and nothing is edited."""
    recalls: int = Field(default=1, ge=1, le=8)
    """More independent recalls show where the model is unsure, at one call each."""
    retrieval_url: str | None = None
    """A search of the operator's for contradictions inside the line: more is decided, and claims are sent there."""
    on_verifier_error: Literal["pass", "fail"] = "pass"
    """`fail` answers 503 where verification could not finish, instead of the unverified draft."""
    upstream_timeout_s: float = Field(default=600, gt=0, allow_inf_nan=False)
    """To the first byte and between bytes; slow models think for minutes."""
    sse_keepalive_s: float = Field(default=10, ge=0, allow_inf_nan=False)
    """Seconds of silence on a stream after which a comment keeps load balancers from cutting it; 0 is none."""
    max_body_bytes: int = Field(default=20_971_520, ge=1)
    max_in_flight: int = Field(default=256, ge=1)
    """Requests being verified at once; more are answered 429."""
    rate_limit: str | None = Field(default=None, pattern=r"^[1-9]\d{0,8}/(second|minute|hour|day)$")
    """Like `60/minute`: requests that one key, or one address without a key, may make; none is no limit."""
    max_calls: int = Field(default=32, ge=4)
    """Our own calls a request; three quarters of them may go to decomposition."""
    max_claims: int = Field(default=64, ge=1)
    """Claims a request, shared by its choices; what is over is reported as `too_many`."""
    api_keys: Names = Field(default=(), repr=False)
    """Keys of the proxy's own; with them clients no longer bring credentials of the upstream."""
    allowed_hosts: Names = ()
    """Further `Host` names under which a proxy on loopback may lend out the server's key."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("api_keys", "allowed_hosts", mode="before")
    @classmethod
    def _read_names(cls, value: object) -> object:
        """Read a comma list, or one name a line from `file:PATH`."""
        if not isinstance(value, str) or not value:
            return () if value == "" else value
        listed = _read_listed(Path(value.removeprefix("file:"))) if value.startswith("file:") else value
        names = tuple(name for name in re.split(r"[,\s]+", listed) if name)
        if not names:
            # An empty file of keys must not open the proxy to everybody.
            raise ValueError("names nothing; leave it out, or list at least one")
        return names

    @field_validator("upstream_url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        if value == "embedded":
            return value
        if not _is_plain_address(value):
            raise ValueError("must be an http:// or https:// address without user or fragment, or `embedded`")
        return value

    @field_validator("retrieval_url")
    @classmethod
    def _check_search(cls, value: str | None) -> str | None:
        if value is not None and not _is_plain_address(value):
            raise ValueError("must be an http:// or https:// address without user or fragment")
        return value

    @model_validator(mode="after")
    def _check_bounds(self) -> Settings:
        if self.tau_floor is not None and self.tau_ceiling is not None and self.tau_floor > self.tau_ceiling:
            raise ValueError("tau_floor must not be above tau_ceiling")
        return self

    @property
    def controls(self) -> Controls:
        """The defaults of a request's controls."""
        return Controls(
            mode=self.mode,
            k=self.k,
            rule=self.rule,
            claims=self.claims or ("local" if self.upstream_url == "embedded" else "llm"),
            stream=self.stream,
            timeout_ms=self.verify_timeout_ms,
            detail=self.detail,
        )

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine can reach the proxy."""
        return self.listen_host.strip("[]") in LOOPBACK_HOSTS


def load_settings(file: Path | None = None, **options: object) -> Settings:
    """Read the settings; the command line's options beat the environment, which beats the file.

    Args:
        file: a TOML file with the names of the environment variables in lower case, prefix or not.
        options: values of the command line by field name; None means not given.

    Raises:
        SettingsInvalid: a name is unknown or a value cannot be used; the message names it, not its value.
    """
    _refuse_unknown_names()
    given = {name: value for name, value in options.items() if value is not None}
    from_file = {} if file is None else _read_file(file)
    below: dict[str, Any] = {name: value for name, value in from_file.items() if _in_environment(name) is None}
    try:
        return Settings(**(below | given))
    except ValidationError as error:
        raise SettingsInvalid(_say(error, given, from_file)) from None


def _refuse_unknown_names() -> None:
    for name, value in os.environ.items():
        injected = _KUBERNETES_NAME.fullmatch(name) or _KUBERNETES_VALUE.match(value)
        if name.upper().startswith(PREFIX) and not injected and name.upper() not in _OWN_NAMES:
            raise SettingsInvalid(_UNKNOWN.format(name))


def _names_of(field: str) -> tuple[str, ...]:
    """Return the environment variables that set a field, the strongest first."""
    return _SHARED_NAMES.get(field, (PREFIX + field.upper(),))


def _in_environment(field: str) -> str | None:
    """Return the variable that sets a field, or None."""
    return next((name for name in _names_of(field) if os.environ.get(name)), None)


def _read_file(file: Path) -> dict[str, object]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsInvalid(f"{file}: {error}") from None
    named = {name.lower().removeprefix(PREFIX.lower()): value for name, value in values.items()}
    for name in named:
        if name not in Settings.model_fields:
            raise SettingsInvalid(f"{file}: {_UNKNOWN.format(name)}")
    return named


def _read_listed(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file} cannot be read ({type(error).__name__})") from None


def _is_plain_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port_is_right = parts.port != 0
    except ValueError:
        return False
    plain = not parts.fragment and "@" not in parts.netloc
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and port_is_right and plain


def _say(error: ValidationError, given: Mapping[str, object], from_file: Mapping[str, object]) -> str:
    """Name the setting where it was set, and what is wrong with it, without its value."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    fault = f"{first['msg'].removeprefix('Value error, ')}."
    if not first["loc"]:
        return fault
    field = str(first["loc"][0]).lower().removeprefix(PREFIX.lower())
    set_as = None if field in given else _in_environment(field) or (field if field in from_file else None)
    return f"{set_as or _names_of(field)[0]}: {fault}"


_OWN_NAMES: Final = frozenset(PREFIX + name.upper() for name in Settings.model_fields) - {"CORRIGENDA_OPENAI_API_KEY"}
