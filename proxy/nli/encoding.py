"""Pairs of texts turned into what a graph is fed: the one file that knows the tokenizer.

In: a `tokenizer.json` and pairs. Out: token ids, attention mask and segment ids of one pair. It stands apart from
`onnx` because the runtime needs none of it, and because here it is decided what of a text the model gets to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from proxy.errors import NliFailed
from proxy.nli.scoring import Pair

FEEDABLE: Final = ("input_ids", "attention_mask", "token_type_ids")
"""The inputs that a graph may ask for."""

Feed = dict[str, NDArray[np.int64]]


class PairEncoder:
    """A tokenizer that reads pairs, whatever limits and padding its file asks for."""

    def __init__(self, tokenizer: Tokenizer, max_tokens: int) -> None:
        """Take over a tokenizer, for a model that reads at most `max_tokens`, special ones included."""
        tokenizer.no_truncation()
        tokenizer.no_padding()
        # A mark such as [SEP] written in a text is text: it must not move the border between premise and claim.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of `text` without special tokens."""
        return len(self._tokenize(text))

    def encode(self, pair: Pair) -> Encoding:
        """Encode a pair; only the premise is ever cut, at its end.

        Raises:
            NliFailed: the hypothesis leaves no room for a premise.
        """
        premise = self._tokenize(pair.premise)
        hypothesis = self._tokenize(pair.hypothesis)
        room = self._max_tokens - len(hypothesis) - self._tokenizer.num_special_tokens_to_add(is_pair=True)
        if room < 1:
            raise NliFailed(f"a claim of {len(hypothesis)} tokens leaves no room for a premise")
        premise.truncate(room)
        return self._tokenizer.post_process(premise, hypothesis)

    def _tokenize(self, text: str) -> Encoding:
        """Encode one text without special tokens; half a surrogate pair, which JSON can carry, becomes `?`."""
        return self._tokenizer.encode(text.encode(errors="replace").decode(), add_special_tokens=False)


def load_encoder(file: Path, max_tokens: int) -> PairEncoder:
    """Read a `tokenizer.json`; nothing is converted or fetched. The library raises bare `Exception` if it cannot."""
    return PairEncoder(Tokenizer.from_file(str(file)), max_tokens)


def build_feed(encoding: Encoding, inputs: Sequence[str]) -> Feed:
    """Return what the graph asks for, as a batch of one: arrays of shape (1, tokens).

    Segment ids are zeros where the tokenizer marks no segments.
    """
    columns = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    return {name: np.array([columns[name]], dtype=np.int64) for name in inputs}
