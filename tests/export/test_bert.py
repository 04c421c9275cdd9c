"""The BERT graph gives what the transformers model gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedModel

from export.tiny_models import make_bert
from exporting.bert import build_graph, is_foldable
from exporting.gate import MOST_GRAPH_ERROR, run_source
from exporting.precision import FP32, Precision
from exporting.sessions import Classifier, Feed
from proxy.nli.scoring import softmax

VOCABULARY = 160


def _build(model: PreTrainedModel, precision: Precision = FP32) -> Classifier:
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    graph = build_graph(model.config, weights, precision)
    return Classifier(graph.SerializeToString(), threads=1, weight_bits=precision.weight_bits)


def _draw(seed: int, length: int, kept: list[int]) -> Feed:
    """Return random tokens, rows padded after `kept`, the second half of each row another segment."""
    ids = np.random.default_rng(seed).integers(0, VOCABULARY, (len(kept), length))
    mask = (np.arange(length) < np.array(kept)[:, None]).astype(np.int64)
    types = np.broadcast_to((np.arange(length) >= length // 2).astype(np.int64), ids.shape).copy()
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


@pytest.fixture(scope="module")
def pair() -> tuple[PreTrainedModel, Classifier]:
    """A model and its graph."""
    model = make_bert()
    return model, _build(model)


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_same_probabilities_for_any_length_and_padding(
    pair: tuple[PreTrainedModel, Classifier], data: st.DataObject
) -> None:
    """Whatever rows share a batch, each gets the model's probabilities, its segments read."""
    model, graph = pair
    length = data.draw(st.one_of(st.integers(1, 160), st.sampled_from([511, 512])))
    feed = _draw(data.draw(st.integers(0, 9)), length, data.draw(st.lists(st.integers(1, length), min_size=1)))
    difference = softmax(graph.run(feed)) - softmax(run_source(model, feed))
    assert np.abs(difference).max() < MOST_GRAPH_ERROR


def test_segments_count(pair: tuple[PreTrainedModel, Classifier]) -> None:
    """The same tokens as one text get another answer."""
    _, graph = pair
    feed = _draw(0, 20, [20])
    one_text = {**feed, "token_type_ids": np.zeros_like(feed["token_type_ids"])}
    assert np.abs(graph.run(feed) - graph.run(one_text)).max() > 0.01


@pytest.mark.parametrize(
    "precision", [Precision("int7", int8_embedding=True), Precision("int8"), Precision("weights8")]
)
def test_quantised_stays_near(pair: tuple[PreTrainedModel, Classifier], precision: Precision) -> None:
    """Quantisation shifts probabilities a little."""
    model, graph = pair
    feed = _draw(3, 64, [64])
    shift = np.abs(softmax(_build(model, precision).run(feed)) - softmax(graph.run(feed)))
    assert 0 < shift.max() < 0.1


@pytest.mark.parametrize("changes", [{"hidden_act": "relu"}, {"is_decoder": True}])
def test_other_kinds_are_left_to_the_stock_export(changes: dict[str, object]) -> None:
    """What the graph takes for granted is checked."""
    assert is_foldable(make_bert().config)
    assert not is_foldable(make_bert(**changes).config)
