"""How far a trained model's probabilities can be trusted, and where its lines lie.

In: logits or probabilities with gold labels. Out: a temperature, thresholds, calibration error, intervals. Pure
numpy and scipy; it stands apart because the figures of the model card and of the benchmark come from here alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from scipy.stats import binomtest

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_LINE: Final = 0.5
MOST_LINE: Final = 0.95
BINS: Final = 15


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


def measure_calibration_error(probabilities: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the expected calibration error of the chosen class, 15 bins of equal width (Guo and others, 2017).

    Args:
        probabilities: Shape (pairs, classes).
        labels: Shape (pairs,), class numbers.
    """
    confidence, chosen = probabilities.max(axis=1), probabilities.argmax(axis=1)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [
        abs((chosen[bins == one] == labels[bins == one]).mean() - confidence[bins == one].mean()) * (bins == one).mean()
        for one in np.unique(bins)
    ]
    return float(sum(gaps))


def bound_share(right: int, of: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share."""
    interval = binomtest(right, of).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)
