"""Our own calls over real sockets: on whose account, how often, and what is made of the reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from fakes import CLOSE, HANG, Call, Gate, Script, ScriptedUpstream, Step, completion, error, html, sse, talk
from proxy.errors import LlmCallFailed
from proxy.headers import RawHeaders
from proxy.llm import CONCURRENT_CALLS, LlmSession, OpenAiModels, parse_query
from proxy.services import Reply
from proxy.upstream import read_upstream_url

INSTRUCTION = "State the facts."
TEXT = "When did Verdane Bridge open?"
ANSWER = "It opened in 1913."
KEY = "Bearer sk-client"
CHOICE = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}

Open = Callable[..., LlmSession]


@pytest.fixture(scope="module")
def far() -> Iterator[ScriptedUpstream]:
    """Return one scripted upstream for all tests."""
    with ScriptedUpstream(Script(draft=completion(ANSWER))) as running:
        yield running


@pytest.fixture(scope="module")
async def models(far: ScriptedUpstream) -> AsyncIterator[OpenAiModels]:
    """Return the upstream seen through the SDK, once for all tests, as in the product."""
    opened = OpenAiModels(read_upstream_url(far.url), timeout_s=5)
    yield opened
    await opened.close()


def open_session(models: OpenAiModels, name: str, **options: Any) -> LlmSession:  # noqa: ANN401  # see `session`
    """Return a door under whose every task the model of this name stands."""
    names: Any = dict.fromkeys(("recall", "claims", "correction"), name)
    return models.session(**{"models": names, "credentials": [], "query": "", "max_calls": 32} | options)


@pytest.fixture
def model(request: pytest.FixtureRequest) -> str:
    """Return a model name that no other test uses: what a model refuses is remembered."""
    return str(request.node.name)


@pytest.fixture
def start(models: OpenAiModels, model: str) -> Open:
    """Return what opens a session for the test's own model."""

    def open_own(**options: Any) -> LlmSession:  # noqa: ANN401  # as above
        return open_session(models, model, **options)

    return open_own


@pytest.fixture
def play(far: ScriptedUpstream, model: str) -> Callable[..., None]:
    """Return what sets the answers to the test's own model."""

    def play_own(reply: Any) -> None:  # noqa: ANN401  # whatever a script takes
        far.play(Script(draft=reply), model=model)

    return play_own


@pytest.fixture
def calls(far: ScriptedUpstream, model: str) -> Callable[[], list[Call]]:
    """Return what lists the calls to the test's own model."""
    return lambda: [call for call in far.calls if call.model == model]


def as_json(value: object, status: int = 200) -> Step:
    """Return any JSON as an answer."""
    return Step(status=status, headers=(("content-type", "application/json"),), body=(json.dumps(value).encode(),))


async def ask(session: LlmSession) -> Reply:
    """Ask as a recall does."""
    return await session.ask("recall", INSTRUCTION, TEXT)


pytestmark = pytest.mark.anyio


class TestRequest:
    """What the upstream sees."""

    async def test_body(self, start: Open, model: str, calls: Callable[[], list[Call]]) -> None:
        """An ordinary call: model, two messages, temperature 0, and nothing of the user's settings or of ours."""
        assert await ask(start()) == Reply(ANSWER)
        (call,) = calls()
        messages = [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": TEXT}]
        assert call.json == {"model": model, "messages": messages, "temperature": 0}
        assert (call.method, call.target) == ("POST", "/v1/chat/completions")

    async def test_each_task_has_its_model(self, far: ScriptedUpstream, models: OpenAiModels, model: str) -> None:
        """Recall, decomposition and correction may be put to models of their own."""
        names: Any = {task: f"{model}-{task}" for task in ("recall", "claims", "correction")}
        session = models.session(models=names, credentials=[], query="", max_calls=9)
        for task in names:
            await session.ask(task, INSTRUCTION, TEXT)
            assert far.calls[-1].model == session.model_of(task) == f"{model}-{task}"

    @pytest.mark.parametrize(
        ("credentials", "sent"),
        [
            ([], {}),
            ([(b"Authorization", KEY.encode())], {"authorization": [KEY]}),
            ([(b"API-Key", b"azure")], {"api-key": ["azure"]}),
            (
                [(b"authorization", KEY.encode()), (b"openai-organization", b"o"), (b"OpenAI-Project", b"p")],
                {"authorization": [KEY], "openai-organization": ["o"], "openai-project": ["p"]},
            ),
            (
                [
                    (b"authorization", KEY.encode()),
                    (b"cookie", b"a=1"),
                    (b"x-verify", b"detect"),
                    (b"x-vendor", b"1"),
                    (b"openai-beta", b"assistants=v2"),
                    (b"user-agent", b"somebody"),
                ],
                {"authorization": [KEY]},
            ),
        ],
    )
    async def test_credentials(
        self, credentials: RawHeaders, sent: dict[str, list[str]], start: Open, calls: Callable[[], list[Call]]
    ) -> None:
        """A call is on the account of the user's request, and carries nothing else of it."""
        await ask(start(credentials=credentials))
        (call,) = calls()
        who = ("authorization", "api-key", "openai-organization", "openai-project")
        assert {name: call.header(name) for name in who if call.header(name)} == sent
        assert [call.header(name) for name in ("cookie", "x-verify", "x-vendor", "openai-beta")] == [[]] * 4
        assert call.header("user-agent") != ["somebody"]

    async def test_nothing_from_the_operator_s_environment(
        self, far: ScriptedUpstream, model: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The SDK's environment variables neither pay for a user's request nor lead it elsewhere."""
        environment = {
            "OPENAI_API_KEY": "leak-key",
            "OPENAI_ADMIN_KEY": "leak-admin",
            "OPENAI_ORG_ID": "leak-org",
            "OPENAI_PROJECT_ID": "leak-project",
            "OPENAI_BASE_URL": "http://127.0.0.1:9/leak",
            "OPENAI_CUSTOM_HEADERS": "X-Leak: leak-header\nAuthorization: Bearer leak-custom",
            "AZURE_OPENAI_API_KEY": "leak-azure",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        models = OpenAiModels(read_upstream_url(far.url), timeout_s=5)
        for credentials in ([], [(b"authorization", KEY.encode())]):
            await ask(open_session(models, model, credentials=credentials))
            sent = far.calls[-1]
            assert sent.model == model
            assert "leak" not in f"{sent.target} {sent.headers} {sent.body!r}"
            assert sent.header("authorization") == [value.decode() for _, value in credentials]
        await models.close()

    async def test_address(self, far: ScriptedUpstream, model: str) -> None:
        """Our calls go where the user's go: the base's path and query, then the query of the user's call."""
        models = OpenAiModels(read_upstream_url(f"{far.url}/openai/d/?api-version=2"), timeout_s=5)
        await ask(open_session(models, model, query="key=a%26b"))
        assert far.calls[-1].target == "/openai/d/chat/completions?api-version=2&key=a%26b"
        await models.close()

    async def test_no_cookie_jar(self, start: Open, play: Callable[..., None], calls: Callable[[], list[Call]]) -> None:
        """What the upstream sets on one call comes back on none."""
        play(completion(ANSWER).with_headers(("set-cookie", "a=1; Path=/")))
        await ask(start())
        await ask(start())
        assert [call.header("cookie") for call in calls()] == [[], []]


class TestOnce:
    """How often a call is made."""

    @pytest.mark.parametrize(
        "step",
        [
            error(400, "Too long."),
            error(401),
            error(404),
            error(408),
            error(409),
            error(429).with_headers(("retry-after", "0")),
            error(500).with_headers(("x-should-retry", "true")),
            error(503),
            html(502),
            Step().held(CLOSE),
            completion(ANSWER).interrupt(20, CLOSE),
            Step(status=307, headers=(("location", "/v1/elsewhere"),)),
        ],
    )
    async def test_no_retry(
        self, step: Step, start: Open, play: Callable[..., None], calls: Callable[[], list[Call]]
    ) -> None:
        """What fails has failed: no retry, no redirect; the failure tells no prompt, key or answer."""
        play(step)
        session = start(credentials=[(b"authorization", KEY.encode())])
        with capture_logs() as logs, pytest.raises(LlmCallFailed) as caught:
            await ask(session)
        assert len(calls()) == session.usage.calls == 1
        assert not [secret for secret in (INSTRUCTION, TEXT, ANSWER, "sk-client") if secret in f"{caught.value} {logs}"]

    @pytest.mark.parametrize(
        "refusal",
        [
            error(400, "Unsupported value: 'temperature' does not support 0.", param="temperature"),
            error(400, "This model takes no temperature.", param=None),
            as_json({"error": {"message": "Bad value.", "param": "temperature"}}, 400),
            as_json({"object": "error", "message": "temperature is not supported"}, 400),
            as_json({"detail": "temperature is not supported"}, 400),
            as_json({"error": "temperature is not supported"}, 400),
            Step(status=400, headers=(("content-type", "text/plain"),), body=(b"no temperature here",)),
        ],
    )
    async def test_refused_parameter(
        self, refusal: Step, start: Open, play: Callable[..., None], calls: Callable[[], list[Call]]
    ) -> None:
        """A parameter that the model refuses is left out once and for all; the repeated call counts as a call."""
        play(lambda call: refusal if "temperature" in call.json else completion(ANSWER))
        first, second = start(), start()
        assert [await ask(session) for session in (first, first, second)] == [Reply(ANSWER)] * 3
        assert ["temperature" in (call.json or {}) for call in calls()] == [True, False, False, False]
        assert (first.usage.calls, second.usage.calls) == (3, 1)

    async def test_other_models_keep_the_parameter(
        self, models: OpenAiModels, model: str, play: Callable[..., None], far: ScriptedUpstream
    ) -> None:
        """What one model refuses, others still get."""
        play(lambda call: error(400, param="temperature") if "temperature" in call.json else completion(ANSWER))
        await ask(open_session(models, model))
        await ask(open_session(models, f"{model}-other"))
        assert (far.calls[-1].json or {})["temperature"] == 0

    async def test_refused_again(self, start: Open, play: Callable[..., None], calls: Callable[[], list[Call]]) -> None:
        """The call is repeated once and no more."""
        play(error(400, param="temperature"))
        with pytest.raises(LlmCallFailed):
            await ask(start())
        assert len(calls()) == 2

    async def test_repetition_is_within_the_budget(
        self, start: Open, play: Callable[..., None], calls: Callable[[], list[Call]]
    ) -> None:
        """A request that has no call left does not repeat one; the next request knows what to leave out."""
        play(lambda call: error(400, param="temperature") if "temperature" in call.json else completion(ANSWER))
        with pytest.raises(LlmCallFailed):
            await ask(start(max_calls=1))
        assert len(calls()) == 1
        assert await ask(start(max_calls=1)) == Reply(ANSWER)

    async def test_budget(self, start: Open, calls: Callable[[], list[Call]]) -> None:
        """A request makes as many calls as it may, whatever becomes of them, and not one more."""
        session = start(max_calls=2)
        assert session.calls_left() == 2
        await ask(session)
        await session.ask("claims", INSTRUCTION, TEXT)
        assert session.calls_left() == 0
        for _ in range(2):
            with pytest.raises(LlmCallFailed, match="CORRIGENDA_MAX_CALLS"):
                await session.ask("correction", INSTRUCTION, TEXT)
        assert len(calls()) == session.usage.calls == 2

    async def test_calls_at_a_time(
        self, start: Open, play: Callable[..., None], calls: Callable[[], list[Call]]
    ) -> None:
        """Of one request's calls eight run at a time: all eight are out before the first is answered, never more."""
        play(completion(ANSWER).held(Gate(parties=CONCURRENT_CALLS)))
        session = start()
        await asyncio.gather(*(ask(session) for _ in range(12)))
        assert len(calls()) == 12
        for call in calls():
            out = [one for one in calls() if one.entered_s <= call.entered_s < (one.answered_s or 0)]
            assert len(out) <= CONCURRENT_CALLS == 8

    async def test_cancelled_call_is_given_up(
        self, start: Open, play: Callable[..., None], calls: Callable[[], list[Call]], far: ScriptedUpstream
    ) -> None:
        """When nobody waits any more, the upstream's work is ended too."""
        play(Step().held(HANG))
        asking = asyncio.create_task(ask(start()))
        await asyncio.to_thread(far.wait_for, lambda: len(calls()) == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.to_thread(far.wait_for, lambda: calls()[0].peer_closed, timeout_s=1)

    async def test_silence(self, far: ScriptedUpstream, model: str, play: Callable[..., None]) -> None:
        """An upstream that says nothing for as long as we wait has failed."""
        play(Step().held(HANG))
        models = OpenAiModels(read_upstream_url(far.url), timeout_s=0.05)
        with pytest.raises(LlmCallFailed, match="Timeout"):
            await ask(open_session(models, model))
        await models.close()


class TestReply:
    """What is made of the reply."""

    @pytest.mark.parametrize(
        ("step", "reply"),
        [
            (completion(ANSWER), Reply(ANSWER)),
            (completion("서울 🌉 naïve"), Reply("서울 🌉 naïve")),
            (completion("서울 🌉 naïve").gzipped(), Reply("서울 🌉 naïve")),
            (completion(""), Reply("")),
            (completion(ANSWER, "Another choice."), Reply(ANSWER)),
            (completion(ANSWER, finish_reason="length"), Reply(ANSWER, complete=False)),
            (completion(ANSWER, finish_reason="eos"), Reply(ANSWER)),
            (completion(ANSWER, message={"tool_calls": None, "reasoning_content": "Hm."}), Reply(ANSWER)),
            (completion(ANSWER, message={"tool_calls": [], "refusal": None, "annotations": []}), Reply(ANSWER)),
            (completion([{"type": "text", "text": "It "}, {"type": "text", "text": "opened."}]), Reply("It opened.")),
            (as_json({"choices": [{"message": {"content": ANSWER}}]}), Reply(ANSWER)),
            (as_json({"choices": [CHOICE], "usage": "a lot", "created": "today", "x": 1}), Reply(ANSWER)),
            (as_json({"choices": [CHOICE | {"message": {"content": "half \ud83d"}}]}), Reply("half ?")),
            (Step(body=completion(ANSWER).body), Reply(ANSWER)),
        ],
    )
    async def test_text(self, step: Step, reply: Reply, start: Open, play: Callable[..., None]) -> None:
        """The first choice's text is the reply, whatever else some servers add or leave out."""
        play(step)
        assert await ask(start()) == reply

    @pytest.mark.parametrize(
        "step",
        [
            html(200),
            sse(*talk(ANSWER)),
            as_json({}),
            as_json({"choices": None}),
            as_json({"choices": []}),
            as_json({"choices": {}}),
            as_json({"choices": {"0": CHOICE}}),
            as_json({"choices": ANSWER}),
            as_json({"choices": [ANSWER]}),
            as_json({"choices": [None]}),
            as_json({"choices": [{"text": ANSWER}]}),
            as_json({"choices": [{"message": None}]}),
            as_json({"choices": [{"message": ANSWER}]}),
            as_json({"choices": [{"message": {"content": 5}}]}),
            as_json({"choices": [{"message": {"content": {"text": ANSWER}}}]}),
            as_json({"choices": [{"message": {"content": [{"type": "text", "text": 5}]}}]}),
            as_json({"error": {"message": "no"}}),
            as_json([CHOICE]),
            as_json(ANSWER),
            as_json(None),
            completion(None),
            completion(None, message={"tool_calls": [{"id": "1", "type": "function"}]}),
            completion(ANSWER).with_headers(("content-encoding", "gzip")),
            Step(status=204),
            Step(headers=(("content-type", "application/json"),), body=(b"",)),
            Step(headers=(("content-type", "application/json"),), body=(b'{"choices": [',)),
            Step(
                headers=(("content-type", "application/json"),),
                body=(b'{"choices": [{"message": {"content": "\xff"}}]}',),
            ),
        ],
    )
    async def test_no_text(self, step: Step, start: Open, play: Callable[..., None]) -> None:
        """A reply without text is a failed call, never another error: the user's own answer must not suffer."""
        play(step)
        with capture_logs() as logs, pytest.raises(LlmCallFailed) as caught:
            await ask(start())
        assert ANSWER not in f"{caught.value} {logs}"

    @pytest.mark.parametrize(
        ("usage", "counted"),
        [
            ({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}, (11, 7, 18)),
            ({"prompt_tokens": 11, "completion_tokens": 7}, (11, 7, 0)),
            ({"prompt_tokens": None, "completion_tokens": "7", "total_tokens": 18}, (0, 0, 18)),
            ({}, (0, 0, 0)),
            (None, (0, 0, 0)),
            ("a lot", (0, 0, 0)),
        ],
    )
    async def test_usage(
        self, usage: object, counted: tuple[int, int, int], start: Open, play: Callable[..., None]
    ) -> None:
        """The bill is the sum of what the upstream states; an odd bill spoils no reply."""
        play(as_json({"choices": [CHOICE], "usage": usage}))
        session = start()
        await ask(session)
        await ask(session)
        bill = session.usage
        assert (bill.prompt_tokens, bill.completion_tokens, bill.total_tokens) == tuple(2 * count for count in counted)
        assert bill.calls == 2

    async def test_reply_without_text_is_billed(self, start: Open, play: Callable[..., None]) -> None:
        """What was of no use to us was paid for all the same."""
        play(completion(None))
        session = start()
        with pytest.raises(LlmCallFailed):
            await ask(session)
        assert session.usage.total_tokens == 18


@pytest.mark.parametrize(
    ("queries", "parameters"),
    [
        ((), {}),
        (("", ""), {}),
        (("a=1&b=", "c=%20+"), {"a": "1", "b": "", "c": "  "}),
        (("a=1&b=2", "a=3"), {"a": "3", "b": "2"}),
    ],
)
async def test_parse_query(queries: tuple[str, ...], parameters: dict[str, str]) -> None:
    """Queries are read as forms are, and a later one wins."""
    assert parse_query(*queries) == parameters
