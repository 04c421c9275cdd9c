"""The commands as a user runs them: a process, its exit status, what it prints."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from fakes import Script, ScriptedUpstream, completion
from fakes.script import F, T
from proxy.settings import load_settings

COMMAND = [sys.executable, "-m", "proxy"]


def run(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with the test's own settings and nothing else of the machine's."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=text,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_check_prints_what_the_model_runs_on() -> None:
    """`check` loads the shipped model, proves it and prints labels, provider, threads and time."""
    done = run("check", CORRIGENDA_NLI_THREADS="1")
    assert done.returncode == 0, done.stderr
    rows = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert rows["model"] == "embedded"
    assert rows["labels"] == "0 entailment, 1 neutral, 2 contradiction"
    assert rows["provider"] == "CPUExecutionProvider"
    assert rows["threads"] == "1"
    assert rows["self-test"].startswith("passed")


def test_verify_prints_a_report_for_people(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    """`verify` shows draft, recall, claims with scores, the line, the answer and the status."""
    answer = tmp_path / "answer.txt"
    answer.write_text(F)
    done = run("verify", "--question", "When?", "--answer", str(answer), "--upstream", upstream.url)
    assert done.returncode == 0, done.stderr
    for part in (F, T, "corrected", "accepted", "tau = mu + 0.7 sigma"):
        assert part in done.stdout
    assert "\x1b[" not in done.stdout, "plain when piped"
    assert upstream.of("draft") == []


def test_verify_reads_standard_input_and_prints_json(upstream: ScriptedUpstream) -> None:
    """`--answer -` takes the answer from standard input, `--json` prints the report object and nothing else."""
    arguments = ("verify", "--question", "When?", "--answer", "-", "--json", "--upstream", upstream.url)
    done = run(*arguments, text=F, OPENAI_API_KEY="sk-own")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["status"] == "corrected"
    assert report["choices"][0]["edits"][0]["after"] == "Verdane Bridge opened in 1913."
    assert [call.header("authorization") for call in upstream.of("recall")] == [["Bearer sk-own"]]


def test_verify_fails_where_it_could_not_verify(upstream: ScriptedUpstream) -> None:
    """Without an upstream that answers the report says so, and the exit status too."""
    upstream.play(Script(recall=completion("")))
    done = run("verify", "--question", "When?", "--answer", "-", "--upstream", upstream.url, text=F)
    assert done.returncode == 1
    assert "unavailable: recall_failed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "environment", "named"),
    [
        ((), {"CORRIGENDA_K": "9"}, "CORRIGENDA_K"),
        ((), {"CORRIGENDA_KAY": "1"}, "CORRIGENDA_KAY"),
        ((), {"CORRIGENDA_NLI_MODEL": "/nowhere"}, "/nowhere"),
        (("--upstream", "ftp://x"), {}, "UPSTREAM_URL"),
        (("--config", "/nowhere.toml"), {}, "/nowhere.toml"),
        ((), {"CORRIGENDA_TAU_FLOOR": "0.95"}, "tau_floor"),
        (("--host", "192.0.2.1"), {}, "192.0.2.1"),
    ],
)
def test_serve_names_what_stops_it(arguments: tuple[str, ...], environment: Mapping[str, str], named: str) -> None:
    """Whatever may not be served with is told in one line, with exit status 1, before anything listens."""
    done = run("serve", "--port", "0", *arguments, **environment)
    assert done.returncode == 1
    assert done.stdout == ""
    [line] = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert line.startswith("corrigenda: ")
    assert named in line


def test_serve_names_a_port_that_is_taken() -> None:
    """A port in use is told in one line."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("serve", "--port", port)
    assert done.returncode == 1
    assert port in done.stderr
    assert "--port" in done.stderr


def test_serve_serves_until_it_is_stopped(upstream: ScriptedUpstream) -> None:
    """`serve` warns without a key, verifies, logs JSON lines without a text in them, and ends on a signal."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--upstream", upstream.url],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"CORRIGENDA_NLI_THREADS": "1"},
    )
    assert process.stderr is not None
    with process:
        warning, serving = (json.loads(process.stderr.readline()) for _ in range(2))
        assert "OPENAI_API_KEY" in warning["event"]
        with httpx.Client(base_url=serving["url"], timeout=20, verify=False) as client:
            while client.get("/readyz").is_error:
                pass
            body = {"model": "m", "messages": [{"role": "user", "content": "When did it open?"}]}
            reply = client.post("/v1/chat/completions", json=body)
        assert reply.json()["choices"][0]["message"]["content"] == T
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(20) in {0, -signal.SIGTERM}
    assert "Verdane" not in rest
    assert '"event": "verified"' in rest


ANSWERED = {
    "reference": "Verdane Bridge opened in 1913. It is 340 metres long. Verdane Bridge crosses the river Lorn.",
    "claims": [
        {"claim": "Verdane Bridge opened in 1931.", "label": "false"},
        {"claim": "Verdane Bridge is 340 metres long.", "label": "true"},
        {"claim": "Verdane Bridge crosses the river Lorn.", "label": "true"},
    ],
}


def test_calibrate_fits_a_line_that_serve_reads(tmp_path: Path) -> None:
    """`calibrate` prints what each line trades, what it chose and how sure that is, and writes settings and curve."""
    data, settings, curve = (tmp_path / name for name in ("data.jsonl", "fitted.toml", "curve.png"))
    lone = {"reference": ANSWERED["reference"], "claim": "Verdane Bridge is 430 metres long.", "label": "false"}
    data.write_text("\n".join(map(json.dumps, [ANSWERED] * 5 + [lone] * 3)))
    arguments = ("calibrate", "--data", str(data), "--output", str(settings), "--curve", str(curve))
    done = run(*arguments, "--target-precision", "0.9")
    assert done.returncode == 0, done.stderr
    assert "8 answers with 18 claims: 10 true, 8 false, 0 open; NLI model embedded" in done.stdout
    for part in ("chosen", "in use", "precision 1.00 [0.6", "Not assured", "35 edits"):
        assert part in done.stdout
    assert set(tomllib.loads(settings.read_text())) == {"k", "tau_floor", "tau_ceiling"}
    assert curve.read_bytes().startswith(b"\x89PNG")
    assert load_settings(settings).tau_floor is not None


def test_calibrate_names_what_stops_it(tmp_path: Path) -> None:
    """A bad line is told in one line, before a model is loaded; two aims at once are a wrong use."""
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps(ANSWERED) + '\n{"reference": "A."}\n')
    done = run("calibrate", "--data", str(data))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("corrigenda: ")
    assert "line 2" in done.stderr
    assert done.stderr.count("\n") == 1
    both = run("calibrate", "--data", str(data), "--target-precision", "0.9", "--cost-ratio", "5")
    assert both.returncode == 2
    assert "not both" in both.stderr
