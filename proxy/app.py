"""The application put together: the only file that knows all the parts.

In: settings, and in tests an NLI model. Out: an ASGI application. Whatever can be wrong with the settings or the
model's folder is found here, before anything listens.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import structlog
from litestar import Litestar, Request
from litestar.datastructures import State
from litestar.exceptions import HTTPException, TooManyRequestsException
from litestar.middleware import DefineMiddleware
from litestar.middleware.rate_limit import DurationUnit, RateLimitConfig, get_remote_address
from litestar.openapi import OpenAPIConfig
from litestar.response import Response
from litestar.stores.memory import MemoryStore

import proxy
from proxy.asgi import ClientGone
from proxy.background import in_background
from proxy.credentials import Gate
from proxy.deployment import Deployment, InFlight, Readiness
from proxy.errors import ANSWERS, HttpError, SettingsInvalid, VerifierFailed, error_body
from proxy.headers import credentials_of
from proxy.llm import OpenAiModels
from proxy.nli.cascade import CascadeNli
from proxy.nli.onnx import OnnxNli, load_onnx_nli
from proxy.prompts import recall as recall_prompt
from proxy.retrieval import Retrieval
from proxy.routes import build_routes
from proxy.services import Nli
from proxy.settings import Settings
from proxy.upstream import Upstream, read_upstream_url
from proxy.work import Policy

CLIENT_CLOSED: Final = 499
"""Status in our log for a client that hung up; nobody is left to read it."""
FORGET_EVERY_S: Final = 60

_log = structlog.get_logger()


def build_app(settings: Settings, *, upstream_url: str | None = None, nli: Nli | None = None) -> Litestar:
    """Build the application.

    Args:
        settings: the operator's.
        upstream_url: where the upstream really is, for `embedded`; else that of the settings.
        nli: a scorer to use as it is; by default the settings' model folder is loaded, and has to pass its self-test
            before anything is verified.

    Raises:
        ModelFolderInvalid: the NLI model's folder cannot be used.
        SettingsInvalid: settings and model do not fit together.
    """
    deployment = build_deployment(settings, upstream_url=upstream_url, nli=nli)

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        # The self-test runs beside the first requests, which pass unverified until it is through.
        proving = deployment.readiness.prove() if nli is None else asyncio.sleep(0)
        async with in_background(proving), in_background(forget_expired(app)):
            yield
        await deployment.close()

    return Litestar(
        route_handlers=build_routes(deployment),
        lifespan=[lifespan],
        exception_handlers={
            HttpError: answer_own_error,
            TooManyRequestsException: answer_over_rate,
            HTTPException: answer_framework_error,
            ClientGone: answer_nobody,
            Exception: answer_fault,
        },
        middleware=limit_rate(settings.rate_limit),
        state=State({"readiness": deployment.readiness}),
        openapi_config=OpenAPIConfig(title="Corrigenda", version=proxy.__version__),
        logging_config=None,
    )


def limit_rate(limit: str | None) -> list[DefineMiddleware]:
    """Return the middleware that counts the requests under `/v1`, each key's apart; none without a limit."""
    if limit is None:
        return []
    count, unit = limit.split("/")
    config = RateLimitConfig(
        rate_limit=(cast("DurationUnit", unit), int(count)),
        identifier_for_request=identify,
        exclude=["^/healthz", "^/readyz", "^/schema"],
    )
    return [config.middleware]


async def forget_expired(app: Litestar) -> None:
    """Drop the counts of keys that have not asked for a while, for as long as the proxy runs."""
    while True:
        await asyncio.sleep(FORGET_EVERY_S)
        await cast("MemoryStore", app.stores.get("rate_limit")).delete_expired()


def identify(request: Request[Any, Any, Any]) -> str:
    """Return who asks: a digest of the credentials, so that no key is kept, or the address."""
    lines = credentials_of(request.scope["headers"])
    if not lines:
        return get_remote_address(request)
    return hashlib.sha256(b"\n".join(value for _, value in lines)).hexdigest()


def build_deployment(settings: Settings, *, upstream_url: str | None = None, nli: Nli | None = None) -> Deployment:
    """Build what requests are served with; arguments and errors as for `build_app`."""
    url = read_upstream_url(upstream_url or settings.upstream_url)
    readiness = Readiness(load_nli(settings)) if nli is None else Readiness(nli, ready=True)
    return Deployment(
        settings=settings,
        gate=Gate(settings),
        upstream=Upstream(url, timeout_s=settings.upstream_timeout_s),
        models=OpenAiModels(url, timeout_s=settings.upstream_timeout_s),
        readiness=readiness,
        policy=make_policy(settings, readiness.nli),
        in_flight=InFlight(settings.max_in_flight),
        retrieval=None if settings.retrieval_url is None else Retrieval(settings.retrieval_url),
    )


def load_nli(settings: Settings) -> Nli:
    """Load the settings' NLI model, or both models of a cascade as one."""
    return join_models(load_models(settings))


def load_models(settings: Settings) -> list[OnnxNli]:
    """Load the settings' NLI models, in the order in which a pair meets them: the cascade's if set, then the model."""
    folders = [settings.nli_cascade, settings.nli_model or find_embedded_model()]
    return [load_onnx_nli(folder, settings.nli_threads) for folder in folders if folder is not None]


def join_models(models: Sequence[OnnxNli]) -> Nli:
    """Return one model as it is, two as a cascade."""
    return models[0] if len(models) == 1 else CascadeNli(*models)


def find_embedded_model() -> Path:
    """Return the shipped model's folder: inside the installed package, or beside it in a checkout."""
    package = Path(proxy.__file__).parent
    inside = package / "models" / "embedded"
    return inside if inside.is_dir() else package.parent / "models" / "embedded"


def make_policy(settings: Settings, nli: Nli) -> Policy:
    """Decide what holds for all requests."""
    floor = nli.tau_floor if settings.tau_floor is None else settings.tau_floor
    ceiling = nli.tau_ceiling if settings.tau_ceiling is None else settings.tau_ceiling
    if floor > ceiling:
        raise SettingsInvalid(
            f"tau_floor ({floor}) is above tau_ceiling ({ceiling}), one of them the model folder's; set both."
        )
    small = settings.upstream_url == "embedded"
    return Policy(
        recall_instruction=recall_prompt.SMALL_MODEL_INSTRUCTION if small else recall_prompt.INSTRUCTION,
        recalls=settings.recalls,
        floor=floor,
        ceiling=ceiling,
        flag_share=settings.flag_share,
        max_calls=settings.max_calls,
        max_claims=settings.max_claims,
        fail_if_unavailable=settings.on_verifier_error == "fail",
    )


def answer_own_error(_: Request[Any, Any, Any], error: HttpError) -> Response[bytes]:
    """Answer one of our own errors as the table says."""
    status, kind, code = ANSWERS[type(error)]
    headers = {}
    if error.retry_after_s is not None:
        headers["retry-after"] = str(error.retry_after_s)
    if isinstance(error, VerifierFailed):
        headers["x-should-retry"] = "false"
    return _answer(status, error_body(str(error), kind, error.param, code), headers)


def answer_framework_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """Answer what the framework refused: an unknown path or a wrong method."""
    message = f"{error.detail}: {request.method} {request.url.path}. The API is under /v1; see /schema/openapi.json."
    return _answer(
        error.status_code, error_body(message, "invalid_request_error", None, "not_found"), dict(error.headers or {})
    )


def answer_over_rate(_: Request[Any, Any, Any], error: TooManyRequestsException) -> Response[bytes]:
    """Answer a key that has made as many requests as it may."""
    headers = dict(error.headers or {})
    headers["retry-after"] = headers.get("RateLimit-Reset", "1")
    message = f"This key has made its {headers.get('RateLimit-Limit')} requests; try again after `retry-after` seconds."
    return _answer(429, error_body(message, "rate_limit_error", None, "rate_limit_exceeded"), headers)


def answer_nobody(_: Request[Any, Any, Any], __: ClientGone) -> Response[bytes]:
    """End a request whose client has gone."""
    return _answer(CLIENT_CLOSED, {}, {})


def answer_fault(_: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Answer a fault of our own; the log names its kind and place, never its text, which may hold a user's."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place is not None else "unknown"
    _log.error("internal fault", error=type(error).__name__, where=where)
    message = "The proxy failed on this request; send `X-Verify: off` to pass it through, and report the log line."
    return _answer(500, error_body(message, "internal_error", None, "internal_error"), {})


def _answer(status: int, body: object, headers: dict[str, str]) -> Response[bytes]:
    return Response(msgspec.json.encode(body), status_code=status, headers=headers, media_type="application/json")
