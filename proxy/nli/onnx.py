"""The NLI model on ONNX Runtime: the one file that knows the runtime and the tokenizer.

In: a model folder, then pairs. Out: probabilities. It stands apart so that all else sees only the `Nli` Protocol.
One pair is one run of the model, on one worker thread beside the event loop. Padding pairs of different length
together would cost up to twice the time, batching equal lengths gains a sixth on the embedded model for short
pairs and nothing from 64 tokens on, and int8 results would come to depend on what happens to share a batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from proxy.errors import ModelFolderInvalid, NliBusy, NliFailed
from proxy.nli.cpu import read_cpu_flags, usable_cores
from proxy.nli.folder import TOKENIZER, ModelFolder, read_folder
from proxy.nli.scoring import LABEL_STEMS, LabelOrder, Pair, Probabilities

QUEUE_LIMIT_PAIRS: Final = 2048
"""Pairs that may wait. At some 15 ms a pair they fill a request's default time budget (30 s), so whoever joins a
longer queue would wait in vain."""
FEEDABLE: Final = ("input_ids", "attention_mask", "token_type_ids")
"""The inputs that a graph may ask for."""
ERRORS_ONLY: Final = 3
"""The runtime's log level: its warnings are about the graph, which an operator cannot change."""

Feed = dict[str, NDArray[np.int64]]


class Session(Protocol):
    """What we use of `onnxruntime.InferenceSession`; a node has `name`, `type` and `shape`."""

    def get_inputs(self) -> Sequence[Any]:
        """Return the graph's inputs."""
        ...

    def get_outputs(self) -> Sequence[Any]:
        """Return the graph's outputs."""
        ...

    def get_providers(self) -> Sequence[str]:
        """Return the execution providers in use, the preferred one first."""
        ...

    def get_session_options(self) -> Any:  # noqa: ANN401 - the runtime ships no types
        """Return the options that the session was made with."""
        ...

    def run(self, output_names: Sequence[str], input_feed: Mapping[str, NDArray[np.int64]]) -> Sequence[Any]:
        """Run the graph."""
        ...


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What an operator should know of a loaded model; `corrigenda check` prints it."""

    name: str
    labels: LabelOrder
    languages: tuple[str, ...]
    max_tokens: int
    provider: str
    threads: int
    cpu_flags: tuple[str, ...]
    """Those that matter to int8 models; empty where the system does not tell."""


class OnnxNli:
    """An `Nli` that scores pairs one at a time, each in the same way whatever else is waiting.

    It belongs to one event loop; only the runs themselves leave it.
    """

    def __init__(
        self, folder: ModelFolder, session: Session, tokenizer: Tokenizer, *, queue_limit: int = QUEUE_LIMIT_PAIRS
    ) -> None:
        """Serve the folder's model from a session of its graph and from its tokenizer.

        Raises:
            ModelFolderInvalid: the graph is no three-way classifier over inputs that we can feed.
        """
        _check_graph(session)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # A mark such as [SEP] written in a text is text: it must not move the border between premise and claim.
        tokenizer.encode_special_tokens = True
        self.name: Final = folder.name
        self.languages: Final = folder.config.languages
        self.max_tokens: Final = folder.max_tokens
        self.tau_floor: Final = folder.config.tau_floor
        self.tau_ceiling: Final = folder.config.tau_ceiling
        self._labels = folder.labels
        self._session = session
        self._inputs = [node.name for node in session.get_inputs()]
        self._output = session.get_outputs()[0].name
        self._tokenizer = tokenizer
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nli")
        self._queue_limit = queue_limit
        self._waiting = 0
        self._closed = False

    def describe(self) -> ModelFacts:
        """Return the facts of the model as it runs here."""
        return ModelFacts(
            name=self.name,
            labels=self._labels,
            languages=tuple(sorted(self.languages)),
            max_tokens=self.max_tokens,
            provider=self._session.get_providers()[0],
            threads=self._session.get_session_options().intra_op_num_threads,
            cpu_flags=read_cpu_flags(),
        )

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of `text` without special tokens."""
        return len(_tokenize(self._tokenizer, text))

    async def score(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Score pairs, results in input order; calls at the same time take turns pair by pair.

        A cancelled call ends at once: none of its waiting pairs is run, and the one being run goes unseen.

        Raises:
            NliFailed: the model gave no finite result, a hypothesis leaves no room for a premise, or it is closed.
            NliBusy: as many pairs as allowed are waiting already.
        """
        if self._waiting >= self._queue_limit:
            raise NliBusy(f"{self._waiting} pairs wait for the NLI model; try again later")
        self._waiting += len(pairs)
        try:
            return [await self._queue(pair) for pair in pairs]
        finally:
            self._waiting -= len(pairs)

    def close(self) -> None:
        """Stop the worker after the pair it is at; calls that still have pairs get `NliFailed`."""
        self._closed = True
        self._worker.shutdown(wait=False)

    async def _queue(self, pair: Pair) -> Probabilities:
        """Have one pair scored when its turn comes; cancelling takes it out of the queue."""
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._score_pair, pair)

    def _score_pair(self, pair: Pair) -> Probabilities:
        """Score one pair, on the worker thread."""
        self._check_open()
        feed = build_feed(encode_pair(self._tokenizer, pair, self.max_tokens), self._inputs)
        try:
            (logits,) = self._session.run([self._output], feed)
        except Exception as error:
            # The runtime raises classes of its own that share no root below Exception.
            raise NliFailed(f"the NLI model could not be run ({type(error).__name__})") from error
        return self._labels.read_logits(logits[0])

    def _check_open(self) -> None:
        """Refuse work after `close`."""
        if self._closed:
            raise NliFailed("the NLI model is closed")


def load_onnx_nli(path: Path, threads: int | None = None) -> OnnxNli:
    """Load the model of a folder; blocks for as long as reading it takes.

    Args:
        path: A model folder (contract, section 11).
        threads: Threads of one run; by default the cores that this process may use.

    Raises:
        ModelFolderInvalid: the folder or its model cannot be used; the message says what to do.
    """
    folder = read_folder(path)
    try:
        tokenizer = Tokenizer.from_file(str(folder.path / TOKENIZER))
        session = onnxruntime.InferenceSession(
            str(folder.graph), _make_options(threads or usable_cores()), providers=["CPUExecutionProvider"]
        )
        return OnnxNli(folder, session, tokenizer)
    except ModelFolderInvalid as error:
        raise ModelFolderInvalid(f"model folder {path}: {error}") from error
    except Exception as error:
        # Both libraries raise what shares no root below Exception for files they cannot read.
        reason = str(error).partition("\n")[0]
        raise ModelFolderInvalid(f"model folder {path}: cannot be loaded ({reason}); export it again") from error


def encode_pair(tokenizer: Tokenizer, pair: Pair, max_tokens: int) -> Encoding:
    """Encode a pair in at most `max_tokens`, special ones included; only the premise is ever cut, at its end.

    Raises:
        NliFailed: the hypothesis leaves no room for a premise.
    """
    premise = _tokenize(tokenizer, pair.premise)
    hypothesis = _tokenize(tokenizer, pair.hypothesis)
    room = max_tokens - len(hypothesis) - tokenizer.num_special_tokens_to_add(is_pair=True)
    if room < 1:
        raise NliFailed(f"a claim of {len(hypothesis)} tokens leaves no room for a premise")
    premise.truncate(room)
    return tokenizer.post_process(premise, hypothesis)


def build_feed(encoding: Encoding, inputs: Sequence[str]) -> Feed:
    """Return what the graph asks for, as a batch of one: arrays of shape (1, tokens)."""
    columns = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    return {name: np.array([columns[name]], dtype=np.int64) for name in inputs}


def _tokenize(tokenizer: Tokenizer, text: str) -> Encoding:
    """Encode one text without special tokens; half a surrogate pair, which JSON can carry, becomes `?`."""
    return tokenizer.encode(text.encode(errors="replace").decode(), add_special_tokens=False)


def _make_options(threads: int) -> onnxruntime.SessionOptions:
    """Return the options of a session that shares its machine with a server."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = ERRORS_ONLY
    # Each run has a length of its own: kept memory would grow to the longest and layouts would never be reused.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    # Idle threads sleep, as the server needs the cores between two runs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # CPUs without VNNI saturate in products of unsigned and signed bytes and then give plainly wrong answers.
    options.add_session_config_entry("session.x64quantprecision", "1")
    return options


def _check_graph(session: Session) -> None:
    """Refuse a graph that asks for what we cannot feed or does not give three logits a pair."""
    inputs = [f"{node.name}: {node.type}" for node in session.get_inputs()]
    if unknown := set(inputs) - {f"{name}: tensor(int64)" for name in FEEDABLE}:
        raise ModelFolderInvalid(
            f"its graph asks for {', '.join(sorted(unknown))}; export it with int64 {', '.join(FEEDABLE)}"
        )
    width = session.get_outputs()[0].shape[-1]
    if isinstance(width, int) and width != len(LABEL_STEMS):
        raise ModelFolderInvalid(f"its graph gives {width} logits a pair; take a three-way NLI model")
