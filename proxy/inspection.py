"""The pipeline and its model without a server: `corrigenda verify` and `corrigenda check` (contract, section 1).

In: settings, a question and an answer. Out: a report printed, and whether all went well.
"""

from __future__ import annotations

import msgspec
import typer

from proxy.app import build_deployment, join_models, load_models
from proxy.errors import SelfTestFailed
from proxy.nli.onnx import OnnxNli
from proxy.nli.selftest import SelfTest, run_selftest
from proxy.pipeline import Draft, verify_completion
from proxy.server import configure_log, find_upstream
from proxy.settings import Settings
from proxy.terminal import make_console, print_choice
from proxy.wire import ChatRequest, read_completion


async def verify_text(settings: Settings, question: str, answer: str, *, as_json: bool) -> bool:
    """Verify an answer to a question with the settings' upstream, as the proxy would, and print the report.

    Returns:
        False where verification could not finish.

    Raises:
        CorrigendaError: settings, model or embedded upstream cannot be used.
    """
    configure_log("error")
    controls = settings.controls.model_copy(update={"detail": settings.detail if as_json else "full"})
    chat = ChatRequest({"model": settings.model, "messages": [{"role": "user", "content": question}]}, b"")
    completion = {"choices": [{"index": 0, "message": {"role": "assistant", "content": answer}}]}
    raw = msgspec.json.encode(completion)

    async def fetch_draft() -> Draft:
        return Draft(200, [], raw, read_completion(raw))

    async with find_upstream(settings) as url:
        deployment = build_deployment(settings, upstream_url=url)
        try:
            await deployment.readiness.prove()
            if deployment.readiness.usable is None:
                raise SelfTestFailed(deployment.readiness.reason)
            credentials = deployment.gate.server_credentials()
            verified = await verify_completion(deployment.open_work(chat, controls, credentials, ""), fetch_draft)
        finally:
            await deployment.close()
    answered = msgspec.json.decode(verified.body)
    report = answered["verification"]
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        text = answered["choices"][0]["message"]["content"]
        print_choice(make_console(), report["choices"][0], text, report["reference"])
    return bool(report["status"] != "unavailable")


async def check_model(settings: Settings) -> None:
    """Load the NLI model, or both of a cascade, test it and print what an operator should know of it.

    Raises:
        ModelFolderInvalid, SelfTestFailed: the proxy may not serve with it.
    """
    models = load_models(settings)
    try:
        tests = [await run_selftest(model) for model in models]
    finally:
        for model in models:
            model.close()
    rows = [row for model, test in zip(models, tests, strict=True) for row in _describe_model(model, test)]
    if len(models) > 1:
        cascade = join_models(models)
        rows += [("cascade", cascade.name), ("languages", ", ".join(sorted(cascade.languages)))]
    for name, value in rows:
        typer.echo(f"{name:<10} {value}")


def _describe_model(model: OnnxNli, test: SelfTest) -> list[tuple[str, str]]:
    """Return the rows about one model."""
    facts = model.describe()
    labels = ", ".join(f"{getattr(facts.labels, name)} {name}" for name in ("entailment", "neutral", "contradiction"))
    return [
        ("model", facts.name),
        ("labels", labels),
        ("languages", ", ".join(facts.languages)),
        ("limit", f"{facts.max_tokens} tokens a pair"),
        ("provider", facts.provider),
        ("threads", str(facts.threads)),
        ("workers", f"{facts.workers} pairs at a time"),
        ("CPU", " ".join(facts.cpu_flags) or "unknown"),
        ("self-test", f"passed; {test.pair_ms:.1f} ms a pair, the first {test.first_ms:.1f} ms"),
        ("line", f"floor {model.tau_floor}, ceiling {model.tau_ceiling}"),
    ]
