"""The rest of the API, which passes through: models, embeddings, uploads, the Responses API."""

from __future__ import annotations

from typing import Final

from openai import OpenAI

from compat.clients.openai_python.session import connect
from compat.clients.outcomes import KEY, QUESTION, Scene, Stage


def models(stage: Stage) -> object:
    """List the models."""
    return [model.id for model in connect(stage.proxy_url).models.list()]


def embeddings(stage: Stage) -> object:
    """Embed a text; the SDK asks for base64 and unpacks it, but checks types before that."""
    client = OpenAI(base_url=stage.proxy_url, api_key=KEY)
    reply = client.embeddings.create(model=stage.model("embeddings"), input="Verdane Bridge")
    return reply.data[0].embedding


def upload(stage: Stage) -> object:
    """Upload a file of a mebibyte."""
    sent = ("facts.bin", bytes(range(256)) * 4096)
    return connect(stage.proxy_url).files.create(file=sent, purpose="assistants").id


def responses(stage: Stage) -> object:
    """Ask through the Responses API."""
    client = connect(stage.proxy_url)
    return client.responses.create(model=stage.model("responses"), input=QUESTION).output_text


def responses_stream(stage: Stage) -> object:
    """Ask for a stream through the Responses API."""
    client = connect(stage.proxy_url)
    events = client.responses.create(model=stage.model("responses_stream"), input=QUESTION, stream=True)
    return [(event.type, event.delta if event.type == "response.output_text.delta" else None) for event in events]


SCENES: Final[tuple[Scene, ...]] = (models, embeddings, upload, responses, responses_stream)
