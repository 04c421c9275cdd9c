"""Tiny random models of the architectures that are exported, saved as transformers saves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

LABELS: Final = {0: "entailment", 1: "neutral", 2: "contradiction"}
WORDS: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", "the", "bridge", "is", "long", "short", "red", "old", "not")
SIZES: Final = {
    "vocab_size": 160,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "id2label": LABELS,
    "label2id": {name: index for index, name in LABELS.items()},
}


def make_deberta(**changes: object) -> PreTrainedModel:
    """Return a DeBERTa of the v3 kind."""
    settings: dict[str, Any] = {
        **SIZES,
        "position_buckets": 256,
        "relative_attention": True,
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "norm_rel_ebd": "layer_norm",
        "position_biased_input": False,
        "type_vocab_size": 0,
        "layer_norm_eps": 1e-7,
        "pooler_dropout": 0,
        **changes,
    }
    torch.manual_seed(0)
    return spread(DebertaV2ForSequenceClassification(DebertaV2Config(**settings)))


def make_bert(**changes: object) -> PreTrainedModel:
    """Return a BERT."""
    torch.manual_seed(0)
    return spread(BertForSequenceClassification(BertConfig(**{**SIZES, **changes})))


def make_roberta(**changes: object) -> PreTrainedModel:
    """Return a RoBERTa, which counts positions from its padding index on."""
    settings = {**SIZES, "max_position_embeddings": 514, "pad_token_id": 1, "type_vocab_size": 1, **changes}
    torch.manual_seed(0)
    return spread(RobertaForSequenceClassification(RobertaConfig(**settings)))


def spread(model: PreTrainedModel) -> PreTrainedModel:
    """Widen fresh weights, which are so small that all inputs would get the same answer and no bias would count."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("bias"):
                weight.normal_(0, 0.1)
            elif "LayerNorm" in name:
                weight.add_(torch.randn_like(weight) * 0.1)
            else:
                weight.normal_(0, 0.2)
    return model.eval()


def save_model(model: PreTrainedModel, folder: Path, *, licence: str = "mit") -> Path:
    """Save a model with a tokenizer of a few words and a card."""
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    model.save_pretrained(folder)
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **marks).save_pretrained(folder)
    (folder / "README.md").write_text(f"---\nlicense: {licence}\nlanguage: en\n---\n# A tiny model\n")
    return folder
