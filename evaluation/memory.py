"""An NLI model that remembers: every distinct pair is scored once, however many rules, answers and rewrites ask it.

In: any `Nli`. Out: one with the same answers. It changes no figure, since a pair's score does not depend on its
company; it makes a dozen rules cost as much as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proxy.nli.scoring import Pair, Probabilities
from proxy.services import Nli


class RememberingNli:
    """An `Nli` in front of another one."""

    def __init__(self, nli: Nli) -> None:
        """Remember what `nli` says."""
        self.name: Final = nli.name
        self.languages: Final = nli.languages
        self.max_tokens: Final = nli.max_tokens
        self.tau_floor: Final = nli.tau_floor
        self.tau_ceiling: Final = nli.tau_ceiling
        self._nli = nli
        self._known: dict[Pair, Probabilities] = {}

    @property
    def pairs(self) -> int:
        """How many distinct pairs were scored."""
        return len(self._known)

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of `text` without special tokens."""
        return self._nli.count_tokens(text)

    async def score(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Score pairs, results in input order; errors as of the model."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        if new:
            self._known.update(zip(new, await self._nli.score(new), strict=True))
        return [self._known[pair] for pair in pairs]
