"""The shipped NLI model on real pairs: its labels, its probabilities, its token ids (C31, C32).

The probabilities below are those of the shipped int8 file on an x86 CPU with AVX2 and without VNNI, recorded with
onnxruntime 1.32; the fp32 weights that it was made from are not at hand, so it is held against itself. Other
CPUs compute int8 products in other ways: a probability may shift a little there, a label may not.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from proxy.inspection import check_model
from proxy.nli.cascade import CascadeNli, is_settled
from proxy.nli.encoding import PairEncoder
from proxy.nli.onnx import OnnxNli, load_onnx_nli
from proxy.nli.scoring import Label, Pair, Probabilities
from proxy.nli.selftest import run_selftest
from proxy.settings import Settings

EMBEDDED = Path(__file__).parents[2] / "models" / "embedded"

BRIDGE = "Verdane Bridge opened in 1913. It is 340 metres long."
CAPITAL = "Canberra is the capital city of Australia."
CURIE = "Marie Curie was born in Warsaw, Poland, in 1867."
WATER = "Water boils at 100 degrees Celsius at sea level."
NOVEL = "The novel was written by Lena Hartwig and published in 1956."
RIVER = "The Tamse rises in the Arn Hills. It flows north for 212 kilometres. It reaches the sea at Port Elm."
PRIZE = "The physicist Ida Morrow received the Halden Prize in 1974 for her work on crystals."
ENGINES = "All three engines failed."


class Golden(NamedTuple):
    """A pair, the label that a person gives it, and what the model says: entailment, neutral, contradiction."""

    label: Label
    premise: str
    hypothesis: str
    recorded: tuple[float, float, float]


GOLDEN = (
    Golden("entailment", BRIDGE, "Verdane Bridge opened in 1913.", (0.9564, 0.0130, 0.0306)),
    Golden("entailment", BRIDGE, "Verdane Bridge did not open in 1931.", (0.9395, 0.0204, 0.0401)),
    Golden("entailment", CAPITAL, "The capital of Australia is Canberra.", (0.9684, 0.0128, 0.0188)),
    Golden("entailment", CURIE, "Marie Curie was born in Poland.", (0.9444, 0.0135, 0.0421)),
    Golden("entailment", WATER, "At sea level, water boils at 100 degrees Celsius.", (0.9690, 0.0136, 0.0174)),
    Golden("entailment", NOVEL, "The novel came out in the 1950s.", (0.2129, 0.0309, 0.7562)),
    Golden("entailment", RIVER, "The Tamse flows into the sea at Port Elm.", (0.9610, 0.0144, 0.0246)),
    Golden("entailment", PRIZE, "Ida Morrow was a physicist.", (0.9262, 0.0579, 0.0158)),
    Golden("neutral", BRIDGE, "Verdane Bridge was painted red in the spring.", (0.0093, 0.9580, 0.0327)),
    Golden("neutral", CAPITAL, "Many visitors to Canberra come from abroad.", (0.0191, 0.9669, 0.0139)),
    Golden("neutral", CURIE, "Marie Curie liked to swim in the sea.", (0.0087, 0.8164, 0.1748)),
    Golden("neutral", WATER, "The cook added salt to the water.", (0.0177, 0.9710, 0.0113)),
    Golden("neutral", NOVEL, "The novel won a literary prize.", (0.0119, 0.9466, 0.0415)),
    Golden("neutral", RIVER, "Port Elm has a large fishing fleet.", (0.0160, 0.9644, 0.0196)),
    Golden("neutral", PRIZE, "Ida Morrow studied in Vienna.", (0.0076, 0.8546, 0.1378)),
    Golden("neutral", ENGINES, "The ship was built in Hamburg.", (0.0117, 0.9687, 0.0196)),
    Golden("contradiction", BRIDGE, "Verdane Bridge opened in 1931.", (0.0122, 0.0183, 0.9695)),
    Golden("contradiction", BRIDGE, "Verdane Bridge is 430 metres long.", (0.0143, 0.0155, 0.9702)),
    Golden("contradiction", CAPITAL, "The capital of Australia is Sydney.", (0.0228, 0.0116, 0.9656)),
    Golden("contradiction", CURIE, "Marie Curie was born in France.", (0.0166, 0.0123, 0.9712)),
    Golden("contradiction", NOVEL, "The novel was never published.", (0.0242, 0.0100, 0.9659)),
    Golden("contradiction", RIVER, "The Tamse flows south.", (0.0208, 0.3134, 0.6658)),
    Golden("contradiction", PRIZE, "Ida Morrow received the Halden Prize in 1979.", (0.0130, 0.0239, 0.9631)),
    Golden("contradiction", ENGINES, "One engine kept running.", (0.1819, 0.0814, 0.7368)),
)
MISSED = {"The novel came out in the 1950s."}
"""Hypotheses whose label the model gets wrong: it does not see that 1956 is in the 1950s."""


@pytest.fixture(scope="module")
def nli() -> Iterator[OnnxNli]:
    """Load the shipped model once."""
    loaded = load_onnx_nli(EMBEDDED)
    yield loaded
    loaded.close()


def score(nli: OnnxNli, pairs: list[Pair]) -> list[Probabilities]:
    return asyncio.run(nli.score(pairs))


def strongest(row: tuple[float, float, float]) -> Label:
    labels: tuple[Label, ...] = ("entailment", "neutral", "contradiction")
    return labels[row.index(max(row))]


def in_order(found: Probabilities) -> tuple[float, float, float]:
    return found.entailment, found.neutral, found.contradiction


def test_labels_and_probabilities(nli: OnnxNli) -> None:
    """C32: the recorded label for at least 23 of 24 pairs, and probabilities within 0.05 on average."""
    rows = [in_order(found) for found in score(nli, [Pair(row.premise, row.hypothesis) for row in GOLDEN])]
    same = sum(strongest(row) == strongest(golden.recorded) for row, golden in zip(rows, GOLDEN, strict=True))
    assert same >= 23
    pairs = zip(rows, GOLDEN, strict=True)
    shifts = [abs(a - b) for row, golden in pairs for a, b in zip(row, golden.recorded, strict=True)]
    assert fmean(shifts) < 0.05


def test_recorded_labels_are_right() -> None:
    """Eight pairs a label, and the model's answer is the person's but for the misses that are named."""
    assert [sum(row.label == label for row in GOLDEN) for label in ("entailment", "neutral", "contradiction")] == [
        8
    ] * 3
    assert {row.hypothesis for row in GOLDEN if strongest(row.recorded) != row.label} == MISSED


def test_it_passes_its_selftest(nli: OnnxNli) -> None:
    """What is shipped may serve, and takes well under a second a pair."""
    assert 0 < asyncio.run(run_selftest(nli)).pair_ms < 1000


@settings(max_examples=4, deadline=None)
@given(order=st.permutations(range(0, 24, 4)))
def test_a_score_does_not_depend_on_its_company(nli: OnnxNli, order: list[int]) -> None:
    """Alone or among others, in any order, concurrently or not: a pair's probabilities are the same to the bit."""
    pairs = [Pair(GOLDEN[index].premise, GOLDEN[index].hypothesis) for index in order]

    async def score_at_once() -> list[list[Probabilities]]:
        return list(await asyncio.gather(*(nli.score([pair]) for pair in pairs)))

    together = score(nli, pairs)
    assert [[found] for found in together] == asyncio.run(score_at_once())
    assert score(nli, pairs[:1]) == together[:1]


def test_only_the_premise_is_cut(nli: OnnxNli) -> None:
    """A premise over the limit is read up to there: what comes later changes nothing, the claim is read whole."""
    long = f"{BRIDGE} " + "The toll was paid in coins. " * 80
    claim = "Verdane Bridge opened in 1931."
    one, other = score(nli, [Pair(long, claim), Pair(f"{long} {CURIE}", claim)])
    assert one == other


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Opened in 1913.\nIt is 340 m long.", "101 2441 1999 5124 1012 2009 2003 16029 1049 2146 1012 102"),
        ("It  opened   in 1913.", "101 2009 2441 1999 5124 1012 102"),
        ("서울은 수도", "101 1461 30008 29999 30014 30022 29999 30017 30021 1461 30014 29993 30011 102"),
    ],
    ids=["newline", "spaces", "Korean"],
)
def test_token_ids(text: str, ids: str) -> None:
    """C31: the shipped tokenizer.json gives these ids, whatever the library's version."""
    tokenizer = Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))
    assert tokenizer.encode(text).ids == [int(number) for number in ids.split()]


def test_a_pair_is_encoded_as_the_tokenizer_does_it() -> None:
    """Our way of cutting the premise alone changes no id and no segment of a pair that fits."""
    tokenizer = Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))
    ours, its = PairEncoder(tokenizer, 512).encode(Pair(RIVER, PRIZE)), tokenizer.encode(RIVER, PRIZE)
    assert (ours.ids, ours.type_ids, ours.attention_mask) == (its.ids, its.type_ids, its.attention_mask)


def link_folder(folder: Path, **changes: object) -> Path:
    """Make a folder of the shipped model's files with another config."""
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).symlink_to(EMBEDDED / name)
    config = json.loads((EMBEDDED / "config.json").read_text()) | changes
    (folder / "config.json").write_text(json.dumps(config))
    files = ("model.onnx", "tokenizer.json", "config.json")
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in files]
    (folder / "SHA256SUMS").write_text("".join(sums))
    return folder


@pytest.mark.parametrize("names", [["CONTRADICTION", "neutral", "entailment"], ["Neutral", "Contradict", "Entailed"]])
def test_label_order_is_the_folders(nli: OnnxNli, tmp_path: Path, names: list[str]) -> None:
    """C29: the same graph under other names of its three logits gives the same numbers under these names."""
    folder = link_folder(tmp_path, id2label=dict(enumerate(names)))
    renamed = load_onnx_nli(folder, threads=nli.describe().threads)
    pair = Pair(GOLDEN[0].premise, GOLDEN[0].hypothesis)
    ((found,), (original,)) = score(renamed, [pair]), score(nli, [pair])
    renamed.close()
    by_index = [
        getattr(found, {"c": "contradiction", "n": "neutral", "e": "entailment"}[name[0].lower()]) for name in names
    ]
    assert by_index == list(in_order(original))


@pytest.mark.parametrize(("bits", "exact"), [(8, "1"), (7, "0")])
def test_exact_kernels_unless_weights_leave_room(tmp_path: Path, bits: int, exact: str) -> None:
    """C32: weights of eight bits overflow on CPUs without VNNI unless the runtime is told to be exact."""
    loaded = load_onnx_nli(link_folder(tmp_path, weight_bits=bits))
    options = loaded._session.get_session_options()
    loaded.close()
    assert options.get_session_config_entry("session.x64quantprecision") == exact


def test_a_cascade_of_one_model_is_that_model(nli: OnnxNli) -> None:
    """With the same model as small and as large one nothing changes, though a good part of the pairs is read once."""
    pairs = [Pair(row.premise, row.hypothesis) for row in GOLDEN]
    alone = score(nli, pairs)
    assert asyncio.run(CascadeNli(nli, nli).score(pairs)) == alone
    settled = [row.label for row, found in zip(GOLDEN, alone, strict=True) if is_settled(found)]
    assert len(settled) >= 6
    assert "contradiction" not in settled


def test_check_tells_of_both_models(capsys: pytest.CaptureFixture[str]) -> None:
    """`check` tests and describes each model of a cascade, and says what they are together."""
    asyncio.run(check_model(Settings(nli_cascade=EMBEDDED, nli_threads=1)))
    rows = [line.split(None, 1) for line in capsys.readouterr().out.splitlines()]
    names = [name for name, _ in rows]
    for name in ("model", "labels", "provider", "threads", "workers", "CPU", "self-test"):
        assert names.count(name) == 2, name
    assert ["cascade", "embedded+embedded"] in rows
