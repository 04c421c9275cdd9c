"""The NLI model on ONNX Runtime: the one file that knows the runtime.

In: a model folder, then pairs. Out: probabilities. It stands apart so that all else sees only the `Nli` Protocol.
One pair is one run of the model, and as many runs go on at once as the session has threads, all over one session:
a lone pair has every core to itself, many pairs keep every core busy. Nothing is batched. Padding pairs of different
length together costs up to twice the time; batches of equal lengths gained nothing over runs side by side, but for
the shortest pairs; and dynamic int8 has one scale for a whole batch, so that a pair's probabilities moved with its
batch mates by up to 0.38, 1.3 pairs in a hundred over the line of 0.5. So a score alone is the score in any company,
to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import onnxruntime

from proxy.errors import ModelFolderInvalid, NliFailed
from proxy.nli.cpu import read_cpu_flags, usable_cores
from proxy.nli.encoding import FEEDABLE, Feed, PairEncoder, build_feed, load_encoder
from proxy.nli.folder import TOKENIZER, ModelFolder, read_folder
from proxy.nli.scoring import LABEL_STEMS, LabelOrder, Pair, Probabilities
from proxy.nli.workers import Workers

QUEUE_LIMIT_PAIRS: Final = 2048
"""Pairs that may wait. At some 15 ms a pair they fill a request's default time budget (30 s), so whoever joins a
longer queue would wait in vain."""
FULL_BITS: Final = 8
"""Bits of an int8 weight that uses them all."""
ERRORS_ONLY: Final = 3
"""The runtime's log level: its warnings are about the graph, which an operator cannot change."""


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

    def run(self, output_names: Sequence[str], input_feed: Feed) -> Sequence[Any]:
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
    """Threads of one run."""
    workers: int
    """Runs at a time."""
    cpu_flags: tuple[str, ...]
    """Those that matter to int8 models; empty where the system does not tell."""


class OnnxNli:
    """An `Nli` that scores pairs one a run, each in the same way whatever else is waiting."""

    def __init__(
        self, folder: ModelFolder, session: Session, encoder: PairEncoder, *, queue_limit: int = QUEUE_LIMIT_PAIRS
    ) -> None:
        """Serve the folder's model from a session of its graph, with its tokenizer.

        Raises:
            ModelFolderInvalid: the graph is no three-way classifier over inputs that we can feed.
        """
        _check_graph(session)
        self.name: Final = folder.name
        self.languages: Final = folder.config.languages
        self.max_tokens: Final = folder.max_tokens
        self.tau_floor: Final = folder.config.tau_floor
        self.tau_ceiling: Final = folder.config.tau_ceiling
        self._labels = folder.labels
        self._session = session
        self._inputs = [node.name for node in session.get_inputs()]
        self._output = session.get_outputs()[0].name
        self._encoder = encoder
        self._workers = Workers(session.get_session_options().intra_op_num_threads, limit=queue_limit)

    def describe(self) -> ModelFacts:
        """Return the facts of the model as it runs here."""
        return ModelFacts(
            name=self.name,
            labels=self._labels,
            languages=tuple(sorted(self.languages)),
            max_tokens=self.max_tokens,
            provider=self._session.get_providers()[0],
            threads=self._session.get_session_options().intra_op_num_threads,
            workers=self._workers.count,
            cpu_flags=read_cpu_flags(),
        )

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of `text` without special tokens."""
        return self._encoder.count_tokens(text)

    async def score(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Score pairs, results in input order; calls at the same time take turns.

        Cancelling, fairness and closing are as in `Workers.map`.

        Raises:
            NliFailed: the model gave no finite result, a hypothesis leaves no room for a premise, or it is closed.
            NliBusy: as many pairs as allowed are waiting already.
        """
        return await self._workers.map(self._score_pair, pairs, size=_estimate_length)

    def close(self) -> None:
        """Stop after the pairs being run; calls that still have pairs get `NliFailed`."""
        self._workers.close()

    def _score_pair(self, pair: Pair) -> Probabilities:
        """Score one pair, on one of the threads."""
        feed = build_feed(self._encoder.encode(pair), self._inputs)
        try:
            (logits,) = self._session.run([self._output], feed)
        except Exception as error:
            # The runtime raises classes of its own that share no root below Exception.
            raise NliFailed(f"the NLI model could not be run ({type(error).__name__})") from error
        return self._labels.read_logits(logits[0])


def load_onnx_nli(path: Path, threads: int | None = None) -> OnnxNli:
    """Load the model of a folder; blocks for as long as reading it takes.

    Args:
        path: A model folder (contract, section 11).
        threads: Threads of one run, and runs at a time; by default the cores that this process may use.

    Raises:
        ModelFolderInvalid: the folder or its model cannot be used; the message says what to do.
    """
    folder = read_folder(path)
    try:
        encoder = load_encoder(folder.path / TOKENIZER, folder.max_tokens)
        session = onnxruntime.InferenceSession(
            str(folder.graph),
            make_options(threads or usable_cores(), folder.config.weight_bits),
            providers=["CPUExecutionProvider"],
        )
        return OnnxNli(folder, session, encoder)
    except ModelFolderInvalid as error:
        raise ModelFolderInvalid(f"model folder {path}: {error}") from error
    except Exception as error:
        # Both libraries raise what shares no root below Exception for files they cannot read.
        reason = str(error).partition("\n")[0]
        raise ModelFolderInvalid(f"model folder {path}: cannot be loaded ({reason}); export it again") from error


def _estimate_length(pair: Pair) -> int:
    """Return how long a run will take beside others, in characters: good enough to begin with the longest."""
    return len(pair.premise) + len(pair.hypothesis)


def make_options(threads: int, weight_bits: int) -> onnxruntime.SessionOptions:
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
    # CPUs without VNNI saturate in products of unsigned and signed bytes and then give plainly wrong answers, unless
    # the weights leave one bit unused. The exact kernels that this asks for are a third slower.
    options.add_session_config_entry("session.x64quantprecision", "0" if weight_bits < FULL_BITS else "1")
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
