"""The folded graph gives what the transformers model gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedModel
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

from export.tiny_models import make_deberta
from exporting.deberta import build_graph, is_foldable, list_buckets
from exporting.gate import MOST_GRAPH_ERROR, draw_feed, run_source
from exporting.graph import Graph
from exporting.precision import FP32, Precision, apply_linear
from exporting.sessions import Classifier
from proxy.nli.scoring import softmax

VOCABULARY = 160


def _build(model: PreTrainedModel, precision: Precision = FP32) -> Classifier:
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    return Classifier(build_graph(model.config, weights, precision).SerializeToString(), threads=1)


@pytest.fixture(scope="module")
def pair() -> tuple[PreTrainedModel, Classifier]:
    """A model and its graph."""
    model = make_deberta()
    return model, _build(model)


@pytest.mark.parametrize("length", [1, 2, 3, 31, 64, 127, 128, 129, 130, 131, 200, 255, 256, 257, 300, 511, 512])
def test_same_probabilities_at_every_length(pair: tuple[PreTrainedModel, Classifier], length: int) -> None:
    """Probabilities are the model's on both sides of each border of the position scale, padding included."""
    model, graph = pair
    feed = draw_feed(np.random.default_rng(length), VOCABULARY, length)
    expected = softmax(run_source(model, feed))
    assert expected.max() - expected.min() > 0.1
    assert np.abs(softmax(graph.run(feed)) - expected).max() < MOST_GRAPH_ERROR


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_same_probabilities_for_any_padding(pair: tuple[PreTrainedModel, Classifier], data: st.DataObject) -> None:
    """Whatever rows share a batch, each gets the model's probabilities."""
    model, graph = pair
    length = data.draw(st.integers(1, 160))
    kept = data.draw(st.lists(st.integers(1, length), min_size=1, max_size=4))
    ids = np.random.default_rng(data.draw(st.integers(0, 9))).integers(0, VOCABULARY, (len(kept), length))
    mask = (np.arange(length) < np.array(kept)[:, None]).astype(np.int64)
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    difference = softmax(graph.run(feed)) - softmax(run_source(model, feed))
    assert np.abs(difference).max() < MOST_GRAPH_ERROR


def test_a_pair_alone_scores_as_in_a_padded_batch(pair: tuple[PreTrainedModel, Classifier]) -> None:
    """In fp32 padding changes nothing."""
    _, graph = pair
    feed = draw_feed(np.random.default_rng(0), VOCABULARY, 90)
    alone = {name: value[1:, :45] for name, value in feed.items()}
    assert np.abs(graph.run(feed)[1] - graph.run(alone)[0]).max() < 1e-5


def test_a_row_of_padding_stays_finite(pair: tuple[PreTrainedModel, Classifier]) -> None:
    """A row without a single token is no NaN, nor does it make one of its neighbour."""
    _, graph = pair
    ids = np.full((2, 8), 7, np.int64)
    logits = graph.run({"input_ids": ids, "attention_mask": np.array([[0] * 8, [1] * 8])})
    assert np.isfinite(logits).all()


@pytest.mark.parametrize(
    "changes", [{"share_att_key": False}, {"norm_rel_ebd": "none"}, {"position_buckets": 32}, {"num_hidden_layers": 1}]
)
def test_variants(changes: dict[str, Any]) -> None:
    """Settings that the graph follows are followed."""
    model = make_deberta(**changes)
    assert is_foldable(model.config)
    feed = draw_feed(np.random.default_rng(0), VOCABULARY, 150)
    difference = softmax(_build(model).run(feed)) - softmax(run_source(model, feed))
    assert np.abs(difference).max() < MOST_GRAPH_ERROR


@pytest.mark.parametrize(
    "changes",
    [
        {"conv_kernel_size": 3},
        {"pos_att_type": ["c2p"]},
        {"position_biased_input": True},
        {"type_vocab_size": 2},
        {"hidden_act": "relu"},
        {"relative_attention": False},
        {"position_buckets": -1},
    ],
)
def test_other_settings_are_left_to_the_stock_export(changes: dict[str, Any]) -> None:
    """A setting that the graph does not follow is noticed."""
    assert not is_foldable(make_deberta(**changes).config)


@pytest.mark.parametrize(
    "precision", [Precision("int8"), Precision("int8", int8_embedding=True), Precision("weights8")]
)
def test_quantised_graphs_stay_near(precision: Precision) -> None:
    """Eight bits move no probability far, at a short and at a long length."""
    model = make_deberta()
    graph = _build(model, precision)
    for length in (12, 140):
        feed = draw_feed(np.random.default_rng(1), VOCABULARY, length)
        difference = softmax(graph.run(feed)) - softmax(run_source(model, feed))
        assert np.abs(difference).max() < 0.05


@pytest.mark.parametrize(("buckets", "longest"), [(256, 512), (32, 512), (256, 1024)])
def test_buckets_are_the_models(buckets: int, longest: int) -> None:
    """Each distance has the row that the model's own formula gives it."""
    distances = torch.arange(1 - longest, longest)
    own = make_log_bucket_position(distances, buckets, longest).long() + buckets
    expected = own.clamp(0, 2 * buckets - 1).tolist()
    assert list_buckets(buckets, longest)[:-1].tolist() == expected


def test_seven_bits_never_saturate() -> None:
    """The largest weights and activations together are multiplied exactly by the fast kernels of any CPU."""
    graph = Graph()
    table = np.stack([np.ones(256), -np.ones(256)]).astype(np.float32)
    rows = graph.apply("Gather", graph.constant(table), "input_ids")
    sums = apply_linear(graph, rows, np.ones((256, 3), np.float32), np.zeros(3, np.float32), "int7")
    model = graph.finish(graph.apply("Squeeze", sums, graph.integers(1)), classes=3)
    fast = Classifier(model.SerializeToString(), threads=1, weight_bits=7)
    logits = fast.run({"input_ids": np.array([[0], [1]]), "attention_mask": np.ones((2, 1), np.int64)})
    assert logits == pytest.approx(np.array([[256.0] * 3, [-256.0] * 3]), rel=0.01)
