"""The operator's settings: names, defaults, where they come from, and what stops the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.controls import Controls
from proxy.errors import SettingsInvalid
from proxy.settings import Settings, load_settings

DEFAULTS = {
    "listen_host": "127.0.0.1",
    "listen_port": 8080,
    "upstream_url": "https://api.openai.com/v1",
    "model": "gpt-3.5-turbo",
    "recall_model": None,
    "claims_model": None,
    "correction_model": None,
    "nli_model": None,
    "nli_cascade": None,
    "nli_threads": None,
    "mode": "correct",
    "k": 0.7,
    "rule": "bounded",
    "stream": "buffer",
    "detail": "summary",
    "verify_timeout_ms": 30_000,
    "tau_floor": None,
    "tau_ceiling": None,
    "flag_share": 0.6,
    "recalls": 1,
    "retrieval_url": None,
    "on_verifier_error": "pass",
    "upstream_timeout_s": 600,
    "sse_keepalive_s": 10,
    "max_body_bytes": 20_971_520,
    "max_in_flight": 256,
    "rate_limit": None,
    "max_calls": 32,
    "max_claims": 64,
    "api_keys": (),
    "allowed_hosts": (),
    "log_level": "info",
}
"""The contract's table, section 11."""

FROM_TEXT = [
    ("listen_host", "0.0.0.0", "0.0.0.0"),
    ("listen_port", "0", 0),
    ("upstream_url", "embedded", "embedded"),
    ("upstream_url", "http://h/api/v3?api-version=2", "http://h/api/v3?api-version=2"),
    ("retrieval_url", "http://h:8090/search?key=x", "http://h:8090/search?key=x"),
    ("model", "gpt-test", "gpt-test"),
    ("recall_model", "r", "r"),
    ("claims_model", "c", "c"),
    ("correction_model", "e", "e"),
    ("nli_model", "/models/big", Path("/models/big")),
    ("nli_cascade", "/models/small", Path("/models/small")),
    ("nli_threads", "2", 2),
    ("mode", "detect", "detect"),
    ("mode", "False", "off"),
    ("k", "0", 0.0),
    ("rule", "paper", "paper"),
    ("claims", "local", "local"),
    ("stream", "annotate", "annotate"),
    ("detail", "full", "full"),
    ("verify_timeout_ms", "600000", 600_000),
    ("tau_floor", "0.4", 0.4),
    ("tau_ceiling", "1", 1.0),
    ("flag_share", "1", 1.0),
    ("recalls", "3", 3),
    ("on_verifier_error", "fail", "fail"),
    ("upstream_timeout_s", "0.5", 0.5),
    ("sse_keepalive_s", "0", 0.0),
    ("max_body_bytes", "1", 1),
    ("max_in_flight", "1", 1),
    ("rate_limit", "60/minute", "60/minute"),
    ("max_calls", "4", 4),
    ("max_claims", "1", 1),
    ("api_keys", "a, b ,c", ("a", "b", "c")),
    ("allowed_hosts", "proxy.test", ("proxy.test",)),
    ("log_level", "debug", "debug"),
]

UNUSABLE = [
    ("listen_port", "65536"),
    ("listen_port", "http"),
    ("upstream_url", "h:8080"),
    ("retrieval_url", "embedded"),
    ("retrieval_url", "http://user:secret@h/search"),
    ("upstream_url", "ftp://h"),
    ("upstream_url", "http://"),
    ("upstream_url", "http://h:port"),
    ("upstream_url", "http://user:secret@h"),
    ("upstream_url", "http://:secret@h"),
    ("upstream_url", "http://h/v1#secret"),
    ("upstream_url", "http://[::1"),
    ("nli_threads", "0"),
    ("mode", "maybe"),
    ("k", "5.1"),
    ("k", "nan"),
    ("rule", "strict"),
    ("claims", "both"),
    ("stream", "on"),
    ("detail", "some"),
    ("verify_timeout_ms", "0"),
    ("verify_timeout_ms", "600001"),
    ("tau_floor", "1.1"),
    ("tau_ceiling", "-0.1"),
    ("flag_share", "2"),
    ("recalls", "0"),
    ("on_verifier_error", "raise"),
    ("upstream_timeout_s", "0"),
    ("upstream_timeout_s", "inf"),
    ("sse_keepalive_s", "-1"),
    ("max_body_bytes", "0"),
    ("max_in_flight", "0"),
    ("rate_limit", "60"),
    ("rate_limit", "0/minute"),
    ("max_calls", "0"),
    ("max_claims", "0"),
    ("api_keys", " , "),
    ("api_keys", "file:/nowhere/at/all"),
    ("log_level", "loud"),
]


def variable(field: str) -> str:
    """Return the environment variable of a field."""
    return f"CORRIGENDA_{field.upper()}"


def write(folder: Path, text: str) -> Path:
    """Write a settings file."""
    file = folder / "corrigenda.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_defaults() -> None:
    """Without any setting the contract's defaults hold, and there is no setting that the contract does not name."""
    settings = load_settings()
    assert {name: getattr(settings, name) for name in DEFAULTS} == DEFAULTS
    assert settings.openai_api_key is None
    assert settings.controls == Controls()
    assert set(Settings.model_fields) == {*DEFAULTS, "claims", "openai_api_key"}


@pytest.mark.parametrize(("field", "text", "value"), FROM_TEXT)
def test_from_the_environment(field: str, text: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting can be given by its variable."""
    monkeypatch.setenv(variable(field), text)
    assert getattr(load_settings(), field) == value


@pytest.mark.parametrize(("field", "text", "value"), FROM_TEXT)
def test_from_a_file(field: str, text: str, value: object, tmp_path: Path) -> None:
    """Every setting can be given in a file, under its name in lower case, with the prefix or without."""
    for name in (field, variable(field).lower()):
        assert getattr(load_settings(write(tmp_path, f"{name} = '{text}'")), field) == value


def test_file_with_values_of_toml_s_own(tmp_path: Path) -> None:
    """Numbers, lists and false are written as TOML writes them."""
    settings = load_settings(write(tmp_path, "k = 2\nlisten_port = 81\napi_keys = ['a', 'b']\nmode = false"))
    assert (settings.k, settings.listen_port, settings.api_keys, settings.mode) == (2.0, 81, ("a", "b"), "off")


@pytest.mark.parametrize(("field", "text"), UNUSABLE)
def test_unusable_in_the_environment(field: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that cannot be used stops the start; the message names the variable, and no secret in it."""
    monkeypatch.setenv(variable(field), text)
    with pytest.raises(SettingsInvalid, match=rf"^{variable(field)}: ") as caught:
        load_settings()
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("field", "text"), UNUSABLE)
def test_unusable_in_a_file(field: str, text: str, tmp_path: Path) -> None:
    """In a file the setting is named as it stands there."""
    with pytest.raises(SettingsInvalid, match=rf"^{field}: "):
        load_settings(write(tmp_path, f"{field} = '{text}'"))


def test_command_line_beats_environment_beats_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The nearer source wins, setting by setting; what none gives is the default."""
    monkeypatch.setenv("CORRIGENDA_K", "2")
    monkeypatch.setenv("CORRIGENDA_LISTEN_PORT", "2")
    monkeypatch.setenv("CORRIGENDA_UPSTREAM_URL", "http://two")
    file = write(tmp_path, "k = 3\nlisten_port = 3\nupstream_url = 'http://three'\nrecalls = 3")
    settings = load_settings(file, listen_port=1, upstream_url="http://one", listen_host=None)
    assert (settings.listen_port, settings.upstream_url) == (1, "http://one")
    assert (settings.k, settings.recalls) == (2.0, 3)
    assert settings.listen_host == "127.0.0.1"


@pytest.mark.parametrize(
    ("environment", "in_file", "option", "url"),
    [
        ({"OPENAI_BASE_URL": "http://openai"}, None, None, "http://openai"),
        ({"OPENAI_BASE_URL": "http://openai"}, "http://file", None, "http://openai"),
        ({"OPENAI_BASE_URL": "http://openai"}, "http://file", "embedded", "embedded"),
        ({"OPENAI_BASE_URL": "http://openai", "CORRIGENDA_UPSTREAM_URL": "http://own"}, None, None, "http://own"),
        ({"OPENAI_BASE_URL": "", "CORRIGENDA_UPSTREAM_URL": ""}, "http://file", None, "http://file"),
        ({"OPENAI_BASE_URL": ""}, None, None, "https://api.openai.com/v1"),
    ],
)
def test_upstream_url(
    environment: dict[str, str],
    in_file: str | None,
    option: str | None,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The upstream's address is our own setting's, else the one that OpenAI's SDKs read, else OpenAI's."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file = None if in_file is None else write(tmp_path, f"upstream_url = '{in_file}'")
    assert load_settings(file, upstream_url=option).upstream_url == url


def test_fault_is_named_where_it_was_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A wrong address from OpenAI's variable is told as that variable's; one of the command line's as the setting's."""
    monkeypatch.setenv("OPENAI_BASE_URL", "nonsense")
    with pytest.raises(SettingsInvalid, match=r"^OPENAI_BASE_URL: "):
        load_settings(write(tmp_path, "upstream_url = 'http://file'"))
    with pytest.raises(SettingsInvalid, match=r"^CORRIGENDA_UPSTREAM_URL: "):
        load_settings(upstream_url="also nonsense")


def test_server_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's key is read from OpenAI's variable; neither it nor the proxy's keys stand in a printed object."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-server")
    monkeypatch.setenv("CORRIGENDA_API_KEYS", "own-key")
    settings = load_settings()
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == "sk-server"
    assert "sk-server" not in repr(settings)
    assert "own-key" not in repr(settings)


@pytest.mark.parametrize(
    "name", ["CORRIGENDA_MOD", "CORRIGENDA_PORT", "CORRIGENDA_", "CORRIGENDA_OPENAI_API_KEY", "Corrigenda_Mod"]
)
def test_unknown_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt name would be a setting that does nothing: it stops the start, named."""
    monkeypatch.setenv(name, "8080")
    with pytest.raises(SettingsInvalid, match=name):
        load_settings()


@pytest.mark.parametrize(
    "text", ["mod = 1", "corrigenda_mod = 1", "[corrigenda]\nmode = 'off'", "openai_base_url = 'x'"]
)
def test_unknown_name_in_a_file(text: str, tmp_path: Path) -> None:
    """So does an unknown name in a file."""
    with pytest.raises(SettingsInvalid, match=r"corrigenda\.toml: (mod|corrigenda|openai_base_url) is not a setting"):
        load_settings(write(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CORRIGENDA_PORT", "tcp://10.0.0.1:8080"),
        ("CORRIGENDA_SERVICE_HOST", "10.0.0.1"),
        ("CORRIGENDA_SERVICE_PORT", "8080"),
        ("CORRIGENDA_SERVICE_PORT_HTTP", "8080"),
        ("CORRIGENDA_PORT_8080_TCP", "tcp://10.0.0.1:8080"),
        ("CORRIGENDA_PORT_8080_TCP_ADDR", "10.0.0.1"),
        ("CORRIGENDA_PORT_8080_TCP_PORT", "8080"),
        ("CORRIGENDA_PORT_8080_TCP_PROTO", "tcp"),
        ("CORRIGENDA_CANARY_SERVICE_HOST", "10.0.0.1"),
        ("CORRIGENDA_CANARY_PORT", "udp://10.0.0.1:8080"),
    ],
)
def test_names_that_kubernetes_injects(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service called corrigenda puts such names into every pod; they mean nothing here."""
    monkeypatch.setenv(name, value)
    assert load_settings() == Settings()


@pytest.mark.parametrize("name", ["MODE", "K", "LISTEN_PORT", "API_KEYS", "UPSTREAM_URL"])
def test_names_of_others(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables without the prefix belong to somebody else."""
    monkeypatch.setenv(name, "3")
    assert load_settings() == Settings()


def test_empty_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable counts as not set, as container tools leave them."""
    for field in Settings.model_fields:
        if field != "openai_api_key":
            monkeypatch.setenv(variable(field), "")
    assert load_settings() == Settings()


@pytest.mark.parametrize("text", ["own-1,own-2", "own-1\nown-2\n", "\n own-1 \r\n\r\n own-2"])
def test_names_from_a_file(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keys may stand in a file of their own, a secret that is mounted, one a line or in a comma list."""
    keys = tmp_path / "keys"
    keys.write_bytes(text.encode())
    monkeypatch.setenv("CORRIGENDA_API_KEYS", f"file:{keys}")
    assert load_settings().api_keys == ("own-1", "own-2")


@pytest.mark.parametrize("content", [b"", b" \n", b",", b"\xff\xfe"])
def test_file_of_keys_without_keys(content: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file of keys that holds none must not open the proxy to everybody."""
    keys = tmp_path / "keys"
    keys.write_bytes(content)
    monkeypatch.setenv("CORRIGENDA_API_KEYS", f"file:{keys}")
    with pytest.raises(SettingsInvalid, match=r"^CORRIGENDA_API_KEYS: "):
        load_settings()


@pytest.mark.parametrize("content", ["k = ", "k = 1\nk = 2", "nonsense"])
def test_file_that_is_no_toml(content: str, tmp_path: Path) -> None:
    """A file that cannot be read as TOML is named."""
    with pytest.raises(SettingsInvalid, match=r"corrigenda\.toml"):
        load_settings(write(tmp_path, content))


def test_file_that_is_missing(tmp_path: Path) -> None:
    """So is one that is not there."""
    with pytest.raises(SettingsInvalid, match=r"nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml")


def test_floor_above_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that exclude each other stop the start; equal ones do not."""
    monkeypatch.setenv("CORRIGENDA_TAU_FLOOR", "0.8")
    monkeypatch.setenv("CORRIGENDA_TAU_CEILING", "0.7")
    with pytest.raises(SettingsInvalid, match="tau_floor"):
        load_settings()
    monkeypatch.setenv("CORRIGENDA_TAU_CEILING", "0.8")
    assert load_settings().tau_floor == load_settings().tau_ceiling


def test_controls() -> None:
    """A request starts from the operator's defaults; the embedded model is too small for decomposition by LLM."""
    settings = Settings(mode="detect", k=1, rule="fixed", stream="annotate", verify_timeout_ms=5, detail="full")
    wanted = Controls(mode="detect", k=1, rule="fixed", stream="annotate", timeout_ms=5, detail="full")
    assert settings.controls == wanted
    assert Settings(upstream_url="embedded").controls.claims == "local"
    assert Settings(upstream_url="embedded", claims="llm").controls.claims == "llm"
    assert Settings(claims="local").controls.claims == "local"


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("[::1]", True), ("0.0.0.0", False), ("::", False)],
)
def test_on_loopback(host: str, loopback: bool) -> None:
    """Only this machine reaches a loopback address."""
    assert Settings(listen_host=host).on_loopback is loopback
