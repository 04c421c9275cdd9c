"""`corrigenda demo`: a real correction by the two embedded models, over HTTP, found by honest sampling.

In: nothing. Out: draft, claims with scores, the line and the corrected answer, printed as they came through the
official SDK; True once an answer was corrected. Each try is a draft of its own, and is shown; nothing is canned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from openai import AsyncOpenAI
from rich.console import Console

from proxy.embedded import MODEL_NAME
from proxy.server import configure_log, start_server
from proxy.settings import load_settings
from proxy.terminal import make_console, print_choice

COUNTRIES: Final = ("Australia", "New Zealand", "India", "Nigeria")
"""Whose capitals the model names right when it takes no chances, and often wrong when it does."""
INSTRUCTION: Final = "You are a helpful assistant. Answer briefly."
SEEDS: Final = range(1, 13)
TEMPERATURE: Final = 0.9
TOP_P: Final = 0.9


async def run_demo() -> bool:
    """Ask until a sampled draft is wrong and gets corrected; return whether that happened.

    Raises:
        CorrigendaError: the embedded models cannot be started.
    """
    configure_log("error")
    console = make_console()
    settings = load_settings(None, listen_host="127.0.0.1", listen_port=0, upstream_url="embedded", claims="local")
    console.print(f"Starting the embedded model ({MODEL_NAME}) and the proxy ...\n", style="dim")
    async with start_server(settings) as running:
        await running.readiness.settled.wait()
        async with AsyncOpenAI(base_url=f"{running.url}/v1", api_key="none-needed", max_retries=0) as client:
            for attempt, (seed, question) in enumerate(list_tries(), 1):
                if await ask(client, console, f"{attempt:>2}. {question} (seed {seed})", question, seed):
                    return True
    console.print("No draft was corrected: on this machine the samples were right, or could not be told wrong.")
    return False


def list_tries() -> Iterator[tuple[int, str]]:
    """Yield seeds and questions in the order in which they are asked."""
    return ((seed, f"What is the capital of {country}?") for seed in SEEDS for country in COUNTRIES)


async def ask(client: AsyncOpenAI, console: Console, title: str, question: str, seed: int) -> bool:
    """Ask one question with one seed; print a line, or all there is to see where the answer was corrected."""
    completion = await client.chat.completions.create(
        model=MODEL_NAME,
        messages=[{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": question}],
        temperature=TEMPERATURE,
        top_p=TOP_P,
        seed=seed,
        extra_headers={"X-Verify-Detail": "full"},
    )
    report = (completion.model_extra or {})["verification"]
    choice = report["choices"][0]
    console.print(f"{title}  {choice['status']}", markup=False)
    if choice["status"] != "corrected":
        return False
    console.print()
    print_choice(console, choice, completion.choices[0].message.content or "", report["reference"])
    timings = report["timings_ms"]
    console.print(
        f"Times   draft {timings['draft']:.0f} ms, recall {timings['recall']:.0f} ms beside it, "
        f"NLI {timings['nli']:.0f} ms, correction {timings['correction']:.0f} ms"
    )
    return True
