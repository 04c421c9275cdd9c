"""`python -m evaluation`: one command for each measure.

In: options. Out: tables, and with `--json` one object on the last line. Every command is a function with typer options
in the module of its measure; a new one is one more line here.
"""

from __future__ import annotations

import typer

from evaluation import decomposition, harm

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Measure Corrigenda's stages on labelled data.",
)


@app.callback()
def describe() -> None:
    """Measure Corrigenda's stages on labelled data."""


app.command("claims")(decomposition.measure_claims)
app.command("harm")(harm.measure_harm)

if __name__ == "__main__":
    app()
