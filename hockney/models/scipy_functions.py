# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Wrappers of the SciPy functions that hockney uses, imported at their first call.

The import takes 0.7 s, which verbs without fits avoid.
"""

from __future__ import annotations

import numpy as np


def student_quantile(freedom: float, probability: float) -> float:
    """Quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def student_tail(freedom: float, value: float) -> float:
    """Probability that a variable with Student's t distribution exceeds `value`."""
    from scipy.special import stdtr

    return float(stdtr(freedom, -value))


def normal_quantiles(probabilities: np.ndarray) -> np.ndarray:
    """Quantiles of the standard normal distribution."""
    from scipy.special import ndtri

    return np.asarray(ndtri(probabilities))


def chi_square_upper_quantile(freedom: float, probability: float) -> float:
    """Value that a chi-square variable exceeds with this probability."""
    from scipy.special import chdtri

    return float(chdtri(freedom, probability))


def nonnegative_least_squares(matrix: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float]:
    """Lawson and Hanson's NNLS: the solution and the norm of its residual."""
    from scipy.optimize import nnls

    solution, norm = nnls(matrix, right)
    return solution, float(norm)


def f_quantile(above: float, below: float, share: float) -> float:
    """Quantile of the F distribution with these degrees of freedom of numerator and denominator."""
    from scipy.special import fdtri

    return float(fdtri(above, below, share))
