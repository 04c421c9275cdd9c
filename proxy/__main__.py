"""The command line: serve, check, verify, demo (contract, section 1).

In: options. Out: exit status 0, or 1 with one line that says what to do. Each command is a few lines here and does
its work elsewhere; what is imported for one command is not paid for by another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn

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
