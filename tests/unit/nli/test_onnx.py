"""The NLI worker on a scripted session: what is fed, in which order, and what happens when it goes wrong."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from anyio.lowlevel import checkpoint
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from proxy.errors import ModelFolderInvalid, NliBusy, NliFailed
from proxy.nli.encoding import FEEDABLE, PairEncoder, build_feed
from proxy.nli.folder import ModelConfig, ModelFolder
from proxy.nli.onnx import OnnxNli
from proxy.nli.scoring import LabelOrder, Pair
from proxy.services import Nli

pytestmark = pytest.mark.anyio

WORDS = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "the", "bridge", "opened", "in", "1913", "1931"]
LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}
Feed = Mapping[str, NDArray[np.int64]]
PAIR = Pair("The bridge opened in 1913", "bridge opened 1931")


def make_tokenizer() -> Tokenizer:
    """Return a tokenizer of ten words that marks the pair as BERT's does."""
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["[CLS]", "[SEP]"])
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    return tokenizer


class ScriptedSession:
    """A session that records its feeds and answers with what it is told to."""

    def __init__(
        self,
        answer: Callable[[Feed], Sequence[float]] = lambda _: (0.0, 1.0, 2.0),
        inputs: Sequence[str] = FEEDABLE,
        kind: str = "tensor(int64)",
        width: int | str = 3,
        threads: int = 1,
    ) -> None:
        """Take the logits by feed, the inputs and their type, the width of the logits as stated, and the threads."""
        self._threads = threads
        self._answer = answer
        self._inputs = [SimpleNamespace(name=name, type=kind) for name in inputs]
        self._outputs = [SimpleNamespace(name="logits", shape=["batch", width]), SimpleNamespace(name="hidden")]
        self.feeds: list[Feed] = []

    def get_inputs(self) -> Sequence[SimpleNamespace]:
        return self._inputs

    def get_outputs(self) -> Sequence[SimpleNamespace]:
        return self._outputs

    def get_providers(self) -> Sequence[str]:
        return ["CPUExecutionProvider"]

    def get_session_options(self) -> SimpleNamespace:
        return SimpleNamespace(intra_op_num_threads=self._threads)

    def run(self, output_names: Sequence[str], input_feed: Feed) -> Sequence[NDArray[np.float32]]:
        assert output_names == ["logits"]
        self.feeds.append(input_feed)
        return [np.array([self._answer(input_feed)], dtype=np.float32)]


@contextmanager
def serving(session: ScriptedSession, *, max_tokens: int = 16, queue_limit: int = 100) -> Iterator[OnnxNli]:
    """Serve a scripted session as a model whose labels are in the order contradiction, entailment, neutral."""
    config = ModelConfig(id2label=LABELS, languages=frozenset({"en", "ko"}))
    folder = ModelFolder(Path("toy"), Path("toy/model.onnx"), config, LabelOrder(1, 2, 0), max_tokens)
    nli = OnnxNli(folder, session, PairEncoder(make_tokenizer(), max_tokens), queue_limit=queue_limit)
    try:
        yield nli
    finally:
        nli.close()


class Turnstile:
    """Logits that let one run at a time pass, when told so."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.allowed = threading.Semaphore(0)

    def __call__(self, _: Feed) -> Sequence[float]:
        self.entered.release()
        assert self.allowed.acquire(timeout=10)
        return 0.0, 1.0, 2.0

    async def wait_for_run(self) -> None:
        """Wait until a run has begun, without blocking the event loop."""
        assert await asyncio.to_thread(self.entered.acquire, timeout=10)


def test_it_is_an_nli() -> None:
    """The model fits the service Protocol, and tells its facts."""
    with serving(ScriptedSession(threads=2)) as model:
        nli: Nli = model
        assert (nli.name, nli.languages, nli.max_tokens) == ("toy", frozenset({"en", "ko"}), 16)
        assert (nli.tau_floor, nli.tau_ceiling) == (0.5, 0.9)
        facts = model.describe()
    assert (facts.labels, facts.languages, facts.threads) == (LabelOrder(1, 2, 0), ("en", "ko"), 2)
    assert facts.provider == "CPUExecutionProvider"


async def test_results_are_named_by_the_folders_labels() -> None:
    """C29: logits in the order contradiction, entailment, neutral come out under these names."""
    with serving(ScriptedSession(lambda _: np.log([1, 2, 5]).tolist())) as nli:
        (found,) = await nli.score([PAIR])
    assert (found.contradiction, found.entailment, found.neutral) == pytest.approx((0.125, 0.25, 0.625))


@pytest.mark.parametrize("inputs", [FEEDABLE, FEEDABLE[:2], FEEDABLE[::-1]])
async def test_the_feed_follows_the_graph(inputs: Sequence[str]) -> None:
    """C30: the graph gets exactly what it asks for; the ids do not depend on it, and segments mark the pair."""
    session = ScriptedSession(inputs=inputs)
    with serving(session) as nli:
        await nli.score([PAIR])
    (feed,) = session.feeds
    expected = {
        "input_ids": [[1, 4, 5, 6, 7, 8, 2, 5, 6, 9, 2]],
        "attention_mask": [[1] * 11],
        "token_type_ids": [[0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]],
    }
    assert {name: array.tolist() for name, array in feed.items()} == {name: expected[name] for name in inputs}
    assert all(array.dtype == np.int64 for array in feed.values())


def test_segments_are_zero_where_the_tokenizer_has_none() -> None:
    """C30: a graph that requires segment ids gets zeros from a tokenizer that does not set them."""
    tokenizer = make_tokenizer()
    tokenizer.post_processor = TemplateProcessing(
        pair="[CLS] $A [SEP] $B:0 [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    feed = build_feed(PairEncoder(tokenizer, 16).encode(PAIR), FEEDABLE)
    assert feed["token_type_ids"].tolist() == [[0] * 11]


def test_only_the_premise_is_cut() -> None:
    """Contract 5: where both do not fit, the premise loses its end and the claim nothing."""
    encoding = PairEncoder(make_tokenizer(), 9).encode(PAIR)
    assert encoding.tokens == ["[CLS]", "the", "bridge", "opened", "[SEP]", "bridge", "opened", "1931", "[SEP]"]


async def test_a_claim_without_room_fails() -> None:
    """A claim that fills the input by itself is an error here; the caller keeps such claims away."""
    with serving(ScriptedSession(), max_tokens=6) as nli, pytest.raises(NliFailed, match="no room"):
        await nli.score([PAIR])


async def test_marks_in_a_text_are_text() -> None:
    """A text that says [SEP] does not move the border between premise and claim."""
    session = ScriptedSession()
    with serving(session, max_tokens=32) as nli:
        await nli.score([Pair("the [SEP] bridge", "opened [CLS] in")])
    assert session.feeds[0]["input_ids"].tolist()[0].count(2) == 2
    assert session.feeds[0]["input_ids"].tolist()[0].count(1) == 1


async def test_half_a_surrogate_pair_is_scored() -> None:
    """JSON can carry half a character; it costs one unknown word, not the request."""
    with serving(ScriptedSession()) as nli:
        assert nli.count_tokens("the \ud83c bridge") == 3
        assert len(await nli.score([Pair("the \ud83c bridge", "\udf09")])) == 1


def test_tokens_are_counted_without_marks_and_limits() -> None:
    """Neither special tokens nor the model's limit change the count."""
    with serving(ScriptedSession(), max_tokens=8) as nli:
        assert nli.count_tokens("the bridge opened " * 10) == 30
        assert nli.count_tokens("") == 0


async def test_results_keep_the_order_of_pairs() -> None:
    """Each pair is a run of its own, the longest first, and results come as the pairs did."""
    session = ScriptedSession(lambda feed: (0.0, float(feed["input_ids"].size), 0.0))
    pairs = [Pair("the " * words, "bridge") for words in (5, 1, 3)]
    with serving(session) as nli:
        together = await nli.score(pairs)
        alone = [(await nli.score([pair]))[0] for pair in pairs]
        assert await nli.score([]) == []
    assert together == alone
    assert [feed["input_ids"].shape for feed in session.feeds[:3]] == [(1, 9), (1, 7), (1, 5)]


@pytest.mark.parametrize("logits", [[math.nan] * 3, [math.inf, -math.inf, 0.0], [0.0, 1.0]])
async def test_unusable_logits_fail(logits: Sequence[float]) -> None:
    """C33: what is no three finite numbers is an error, and the next pair is scored as ever."""
    answers = iter([logits, (0.0, 1.0, 2.0)])
    with serving(ScriptedSession(lambda _: next(answers))) as nli:
        with pytest.raises(NliFailed):
            await nli.score([PAIR])
        assert len(await nli.score([PAIR])) == 1


async def test_a_run_that_raises_fails() -> None:
    """The runtime's own errors come out as ours, without what they say of the input."""

    def refuse(_: Feed) -> Sequence[float]:
        raise RuntimeError("secret text")

    with serving(ScriptedSession(refuse)) as nli, pytest.raises(NliFailed, match="RuntimeError") as caught:
        await nli.score([PAIR])
    assert "secret" not in str(caught.value)


async def test_the_event_loop_stays_free() -> None:
    """While a run is under way the loop goes on: this test could not end otherwise."""
    turnstile = Turnstile()
    with serving(ScriptedSession(turnstile)) as nli:
        scoring = asyncio.create_task(nli.score([PAIR]))
        await turnstile.wait_for_run()
        turnstile.allowed.release()
        assert len(await scoring) == 1


async def test_pairs_of_a_cancelled_call_are_dropped() -> None:
    """C06: of a caller who is gone only the pair being run is finished; the next caller's pair comes right after."""
    turnstile = Turnstile()
    session = ScriptedSession(turnstile)
    with serving(session) as nli:
        gone = asyncio.create_task(nli.score([Pair("the", "bridge")] * 20))
        await turnstile.wait_for_run()
        waiting = asyncio.create_task(nli.score([Pair("in", "1913")] * 20))
        stays = asyncio.create_task(nli.score([PAIR]))
        await checkpoint()
        for task in (gone, waiting):
            task.cancel()
        for task in (gone, waiting):
            with pytest.raises(asyncio.CancelledError):
                await task
        turnstile.allowed.release(2)
        assert len(await stays) == 1
    assert [feed["input_ids"].shape[1] for feed in session.feeds] == [5, 11]


async def test_callers_take_turns() -> None:
    """A call with many pairs does not keep a small one waiting till its end."""
    turnstile = Turnstile()
    session = ScriptedSession(turnstile)
    with serving(session) as nli:
        large = asyncio.create_task(nli.score([Pair("the", "bridge")] * 4))
        await turnstile.wait_for_run()
        small = asyncio.create_task(nli.score([PAIR]))
        await checkpoint()
        turnstile.allowed.release(5)
        await asyncio.gather(large, small)
    assert [feed["input_ids"].shape[1] for feed in session.feeds] == [5, 11, 5, 5, 5]


async def test_a_full_queue_is_busy() -> None:
    """Contract 8: who comes to a full queue is refused; when it has emptied, all is as before."""
    turnstile = Turnstile()
    with serving(ScriptedSession(turnstile), queue_limit=2) as nli:
        first = asyncio.create_task(nli.score([PAIR] * 3))
        await turnstile.wait_for_run()
        with pytest.raises(NliBusy, match="3 pairs wait"):
            await nli.score([PAIR])
        turnstile.allowed.release(4)
        await first
        assert len(await nli.score([PAIR])) == 1


async def test_a_closed_model_fails() -> None:
    """After closing, waiting pairs and new ones get an error at once, none hangs."""
    turnstile = Turnstile()
    with serving(ScriptedSession(turnstile)) as nli:
        running = asyncio.create_task(nli.score([PAIR] * 2))
        await turnstile.wait_for_run()
        queued = asyncio.create_task(nli.score([PAIR]))
        await checkpoint()
        nli.close()
        turnstile.allowed.release()
        for task in (running, queued, asyncio.create_task(nli.score([PAIR]))):
            with pytest.raises(NliFailed, match="closed"):
                await task


@pytest.mark.parametrize(
    ("session", "reason"),
    [
        (ScriptedSession(inputs=(*FEEDABLE, "position_ids")), "position_ids"),
        (ScriptedSession(kind="tensor(int32)"), "int64"),
        (ScriptedSession(width=2), "2 logits"),
    ],
)
def test_graphs_that_do_not_fit(session: ScriptedSession, reason: str) -> None:
    """Inputs that we cannot feed and another number of classes stop the start."""
    with pytest.raises(ModelFolderInvalid, match=reason), serving(session):
        pass
