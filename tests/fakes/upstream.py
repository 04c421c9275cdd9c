"""A real HTTP/1.1 server on loopback that plays scripts and records every request.

In: a `Script` for any model, more of them by model name, and how to tell our own calls from the user's. Out: the
recorded `Call`s. It runs on an event loop in a thread of its own, so it serves blocking and async clients alike.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Self

import h11
from anyio.from_thread import start_blocking_portal

from fakes.call import AnyTask, Call, JsonObject, parse_object
from fakes.gate import Gate
from fakes.incoming import Incoming
from fakes.replies import error
from fakes.script import Script
from fakes.step import Act, Pause, Step
from proxy.prompts import claims, correction, recall
from proxy.services import Task

Classify = Callable[[JsonObject], AnyTask]

INSTRUCTIONS: Mapping[Task, str] = {
    "recall": recall.SMALL_MODEL_INSTRUCTION,  # the longer instruction starts with it
    "claims": claims.INSTRUCTION,
    "correction": correction.INSTRUCTION,
}
"""How each of our own calls begins."""

_GATE_LIMIT_S = 10.0
"""A gate that stays shut this long is a failure of the test, and better told than waited for."""


def by_instruction(instructions: Mapping[Task, str]) -> Classify:
    """Return a classifier of chat requests: the task whose instruction starts the first message, else `draft`."""

    def classify(request: JsonObject) -> AnyTask:
        messages = request.get("messages")
        first = messages[0] if isinstance(messages, list) and messages else None
        if not isinstance(first, dict):
            return "draft"
        is_ours = first.get("role") in ("system", "developer") and isinstance(first.get("content"), str)
        starts = (task for task, start in instructions.items() if is_ours and first["content"].startswith(start))
        return next(starts, "draft")

    return classify


class ScriptedUpstream:
    """The fake upstream; a context manager, listening inside it."""

    url: str
    """`http://127.0.0.1:PORT`, without a path; `https` where it speaks TLS."""

    def __init__(
        self, script: Script | None = None, *, classify: Classify | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._tls = tls
        self._scripts: dict[str | None, Script] = {None: script or Script()}
        self._classify = classify or by_instruction(INSTRUCTIONS)
        self._turns: Counter[tuple[str | None, AnyTask]] = Counter()
        self._calls: list[Call] = []
        self._failures: list[Exception] = []
        self._changed = threading.Condition()
        self._conversations: set[asyncio.Task[None]] = set()
        self._running = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal(name="scripted-upstream"))
            server = portal.call(self._listen)
            stack.callback(portal.call, self._shut_down, server)
            scheme = "http" if self._tls is None else "https"
            self.url = "{}://{}:{}".format(scheme, *server.sockets[0].getsockname())
            self._running = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._running.close()
        if self._failures and exc is None:
            raise ExceptionGroup("the scripted upstream could not play its script", self._failures)

    def play(self, script: Script, *, model: str | None = None) -> None:
        """Play this script from now on, for one model name or for all that have none of their own."""
        with self._changed:
            self._scripts[model] = script
            for turn in [turn for turn in self._turns if turn[0] == model]:
                del self._turns[turn]

    @property
    def calls(self) -> list[Call]:
        """All requests so far, in the order in which they came."""
        with self._changed:
            return list(self._calls)

    def of(self, task: AnyTask) -> list[Call]:
        """Return the requests so far of one kind."""
        return [call for call in self.calls if call.task == task]

    def tasks(self) -> list[AnyTask]:
        """Return what the requests so far were for, in order."""
        return [call.task for call in self.calls]

    def entered_before_answered(self, *tasks: AnyTask) -> bool:
        """Return whether all calls of these tasks had come before any of them was answered: they overlapped."""
        calls = [self.of(task) for task in tasks]
        if not all(calls):
            return False
        together = [call for of_task in calls for call in of_task]
        answered = [call.answered_s for call in together if call.answered_s is not None]
        return max(call.entered_s for call in together) < min(answered, default=float("inf"))

    def wait_for(self, predicate: Callable[[], bool], *, timeout_s: float = 5.0) -> None:
        """Block until the predicate holds; it is asked again at every change of the record.

        Raises:
            AssertionError: it did not hold in time.
        """
        with self._changed:
            if not self._changed.wait_for(predicate, timeout_s):
                raise AssertionError(f"not so within {timeout_s} s; calls so far: {self.tasks()}")

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)

    async def _shut_down(self, server: asyncio.Server) -> None:
        server.close()
        for _ in range(3):
            await asyncio.sleep(0)  # whoever was just let in begins, and can be told to go
        for conversation in self._conversations:
            conversation.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the sockets
        await server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversation = asyncio.current_task()
        assert conversation is not None
        self._conversations.add(conversation)
        try:
            await self._converse(Incoming(reader), writer)
            writer.close()
            await writer.wait_closed()
        except h11.RemoteProtocolError as failure:
            self._failures.append(failure)
        except ConnectionError:
            pass  # The peer is gone; what that means for its call has been noted.
        finally:
            writer.transport.abort()
            self._conversations.discard(conversation)

    async def _converse(self, incoming: Incoming, writer: asyncio.StreamWriter) -> None:
        while (request := await incoming.read_request()) is not None:
            call, step = self._enter(*request)
            # The peer is watched while it is answered: its hanging up must end even a step that hangs.
            async with asyncio.TaskGroup() as group:
                answer = group.create_task(self._answer(call, step, writer))
                hang_up = group.create_task(incoming.wait_closed())
                await asyncio.wait((answer, hang_up), return_when=asyncio.FIRST_COMPLETED)
                hung_up = not answer.done()
                answer.cancel()
                hang_up.cancel()
            if hung_up:
                self._note_peer_closed(call)
            if hung_up or not answer.result():
                return

    def _enter(self, head: h11.Request, body: bytes) -> tuple[Call, Step]:
        """Record a request and choose its answer; a script that fails answers 500 and is raised at the end."""
        parsed = parse_object(body)
        is_chat = head.target.partition(b"?")[0].endswith(b"/chat/completions")
        call = Call(
            method=head.method.decode("ascii"),
            target=head.target.decode("ascii"),
            headers=tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in head.headers.raw_items()),
            body=body,
            json=parsed,
            task=self._classify(parsed or {}) if is_chat else "other",
            entered_s=time.monotonic(),
        )
        with self._changed:
            self._calls.append(call)
            model = call.model if call.model in self._scripts else None
            script, turn = self._scripts[model], self._turns[model, call.task]
            self._turns[model, call.task] += 1
            self._changed.notify_all()
        try:
            return call, script.choose(call, turn=turn)
        except Exception as failure:  # noqa: BLE001 - any failure of a test's own script belongs to that test
            self._failures.append(failure)
            return call, error(500, "The script failed.")

    async def _answer(self, call: Call, step: Step, writer: asyncio.StreamWriter) -> bool:
        """Perform the step; return whether the connection can go on."""
        for item in step.wire(method=call.method):
            if isinstance(item, bytes):
                self._note_answered(call)
                writer.write(item)
                try:
                    await writer.drain()
                except ConnectionError:
                    self._note_peer_closed(call)
                    return False
            elif item is Act.CLOSE:
                self._note_answered(call)
                return False
            else:
                await self._pause(item)
        return step.keeps_alive

    async def _pause(self, pause: Pause) -> None:
        if isinstance(pause, Gate):
            try:
                async with asyncio.timeout(_GATE_LIMIT_S):
                    await pause.wait()
            except TimeoutError as failure:
                self._failures.append(failure)
                pause.open()
        elif isinstance(pause, Act):
            await asyncio.get_running_loop().create_future()
        else:
            await asyncio.sleep(pause)

    def _note_answered(self, call: Call) -> None:
        if call.answered_s is None:
            with self._changed:
                call.answered_s = time.monotonic()
                self._changed.notify_all()

    def _note_peer_closed(self, call: Call) -> None:
        with self._changed:
            call.peer_closed = True
            self._changed.notify_all()
