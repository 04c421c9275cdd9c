"""The command line: serve, check, verify, calibrate, demo (contract, section 1).

In: options. Out: exit status 0, or 1 with one line that says what to do. Each command is a few lines here and does
its work elsewhere; what is imported for one command is not paid for by another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

import typer
import uvloop

from proxy import __version__
from proxy.errors import CorrigendaError
from proxy.settings import Settings, load_settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A drop-in proxy for OpenAI's chat API that corrects false claims in the answers.",
)

DEFAULT_TARGET: Final = 0.95
"""Precision that `calibrate` aims at."""

Config = Annotated[Path | None, typer.Option(help="TOML file with settings.", show_default=False)]
UpstreamOption = Annotated[
    str | None, typer.Option("--upstream", help="Base URL of the model's API, or `embedded`.", show_default=False)
]


def main() -> None:
    """Run the command line."""
    app()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on [127.0.0.1].", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on [8080].", show_default=False)] = None,
    upstream: UpstreamOption = None,
    config: Config = None,
) -> None:
    """Run the proxy."""
    settings = _load(config, listen_host=host, listen_port=port, upstream_url=upstream)
    from proxy.server import run_server

    _run(run_server(settings))


@app.command()
def check(config: Config = None) -> None:
    """Load the NLI model, run its self-test and print what it runs on."""
    settings = _load(config)
    from proxy.inspection import check_model

    _run(check_model(settings))


@app.command()
def verify(
    question: Annotated[str, typer.Option(help="What was asked.")],
    answer: Annotated[typer.FileText, typer.Option(help="File with the answer to be verified; - for standard input.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the `verification` object.")] = False,
    upstream: UpstreamOption = None,
    config: Config = None,
) -> None:
    """Verify one answer without a server."""
    settings = _load(config, upstream_url=upstream)
    from proxy.inspection import verify_text

    _run(verify_text(settings, question, answer.read(), as_json=as_json))


@app.command()
def calibrate(  # noqa: PLR0913, PLR0917  # one argument an option
    data: Annotated[Path, typer.Option(help="JSONL file of labelled answers.")],
    target_precision: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Part of the edits that must be right [0.95].", show_default=False),
    ] = None,
    cost_ratio: Annotated[
        float | None,
        typer.Option(
            min=0, help="Instead: how many missed false claims one wrong edit is as bad as.", show_default=False
        ),
    ] = None,
    output: Annotated[Path, typer.Option(help="Settings file to be written.")] = Path("corrigenda.toml"),
    curve: Annotated[Path, typer.Option(help="PNG file to be drawn.")] = Path("calibration.png"),
    no_curve: Annotated[bool, typer.Option("--no-curve", help="Draw none.")] = False,
    config: Config = None,
) -> None:
    """Fit k, floor and ceiling on labelled examples of your own.

    One answer a line: {"reference": TEXT, "claims": [{"claim": TEXT, "label": "true"}, ...]}, where a label is true,
    false, or open if the reference does not tell. A lone claim: {"reference": TEXT, "claim": TEXT, "label": "false"}.
    """
    if target_precision is not None and cost_ratio is not None:
        raise typer.BadParameter("give --target-precision or --cost-ratio, not both")
    settings = _load(config)
    from proxy.calibration import choice, command

    precise = choice.PrecisionAim(DEFAULT_TARGET if target_precision is None else target_precision)
    aim = precise if cost_ratio is None else choice.CostAim(cost_ratio)
    outputs = command.Outputs(output, None if no_curve else curve)
    _run(command.calibrate(settings, data, aim, outputs))


@app.command()
def demo() -> None:
    """Show a real correction, from the embedded models alone, over HTTP."""
    from proxy.demo import run_demo

    _run(run_demo())


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def _load(config: Path | None, **options: object) -> Settings:
    try:
        return load_settings(config, **options)
    except CorrigendaError as error:
        _fail(error)


def _run(command: Coroutine[Any, Any, bool | None]) -> None:
    """Run a command to its end; False means that it did what it could and the outcome is no success."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            succeeded = runner.run(command)
    except CorrigendaError as error:
        _fail(error)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if succeeded is False:
        raise typer.Exit(1)


def _fail(error: CorrigendaError) -> NoReturn:
    typer.echo(f"corrigenda: {' '.join(str(error).split())}", err=True)
    raise typer.Exit(1)


if __name__ == "__main__":
    main()
