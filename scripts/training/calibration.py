"""How far a trained model's probabilities can be trusted, and where its lines lie.

In: logits or probabilities with gold labels. Out: a temperature, thresholds. Pure numpy and scipy; it
stands apart because nothing here knows a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_LINE: Final = 0.5
MOST_LINE: Final = 0.95


def fit_temperature(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the T that makes softmax(logits / T) likeliest (Guo and others, 2017, section 4.2).

    Args:
        logits: Shape (pairs, classes).
        labels: Shape (pairs,), class numbers.
    """

    def loss(log_t: float) -> float:
        chosen = log_softmax(logits / np.exp(log_t), axis=1)[np.arange(len(labels)), labels]
        return -float(chosen.mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-2.0, 2.0), method="bounded").x))


def find_line(
    contradiction: NDArray[np.float64], is_contradiction: NDArray[np.bool_], precision: float
) -> float | None:
    """Return the lowest p from 0.5 to 0.95 from which on calls of a contradiction are right often enough.

    Args:
        contradiction: Shape (pairs,), the probability of a contradiction.
        is_contradiction: Shape (pairs,), whether gold says so.
        precision: Share of the pairs at or over the line that must be contradictions.

    Returns:
        The line in hundredths, or None where 0.95 does not reach the precision.
    """
    for hundredths in range(round(LEAST_LINE * 100), round(MOST_LINE * 100) + 1):
        over = contradiction >= hundredths / 100
        if over.any() and is_contradiction[over].mean() >= precision:
            return hundredths / 100
    return None
