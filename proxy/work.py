"""What the stages of one request share: the request, the two services, the operator's policy, the budgets.

In: nothing. Out: frozen values that the pipeline hands on. Apart from it so that the pipeline holds the story alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from proxy.claims.decompose import Budget
from proxy.controls import Controls
from proxy.llm import LlmSession
from proxy.matching import RequestTexts
from proxy.retrieval import Retrieval
from proxy.services import Nli
from proxy.stopwatch import Stopwatch
from proxy.verdict import Line
from proxy.wire import ChatRequest

DECOMPOSITION_SHARE: Final = 0.75
"""Part of a request's calls that decomposition may take."""
CALLS_A_CHOICE: Final = 8
SEARCHES: Final = 8
"""Claims of one request that are looked up; every choice may have one."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator decided for all requests."""

    recall_instruction: str
    recalls: int
    floor: float
    ceiling: float
    flag_share: float
    max_calls: int
    max_claims: int
    fail_if_unavailable: bool


@dataclass(frozen=True, slots=True)
class Work:
    """One request to be verified."""

    id: str
    """Names the verification in the report, the reply's headers and the log."""
    request: ChatRequest
    controls: Controls
    policy: Policy
    llm: LlmSession
    nli: Nli | None
    """None while the model is not ready."""
    request_texts: RequestTexts
    watch: Stopwatch
    retrieval: Retrieval | None = None
    """None where the operator runs no search."""

    @property
    def line(self) -> Line:
        """How each choice's threshold is to be drawn."""
        return Line(self.controls.rule, self.controls.k, self.policy.floor, self.policy.ceiling)

    @property
    def searches(self) -> int:
        """How many claims of one choice may be looked up."""
        return max(1, SEARCHES // self.request.n)

    def budget_of(self, position: int) -> Budget:
        """Return a choice's share of the calls and claims (contract, section 10).

        Shares follow from the number of choices asked for, so that a streamed draft is split by the same calls.
        """
        n = self.request.n
        calls = int(self.policy.max_calls * DECOMPOSITION_SHARE)
        # With more choices than calls the first ones get one each; the rest is reported as too many.
        share = min(CALLS_A_CHOICE, calls // n) or int(position < calls)
        return Budget(share, self.policy.max_claims // n)
