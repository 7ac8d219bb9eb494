# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Many tests at once: of hundreds of comparisons, some are significant by chance.

Y. Benjamini, Y. Hochberg, 'Controlling the False Discovery Rate', J. R. Statist. Soc. B 57 (1995) 289."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def adjusted(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Each p value, adjusted so that of those at most q a share of q is false on average. If no difference is
    real, there is one at most q with a probability of q at most. `weights`, with a mean of 1, are chosen
    without looking at the values; a larger one makes a test less strict, at the expense of the others (C. R.
    Genovese, K. Roeder, L. Wasserman, Biometrika 93 (2006) 509). None is below its own p value, so that what
    is significant is so by its interval too."""
    count = len(p_values)
    own = np.asarray(p_values, dtype=float)
    weighted = own / (1.0 if weights is None else np.asarray(weights))
    order = np.argsort(weighted, kind="stable")[::-1]
    scaled = weighted[order] * count / np.arange(count, 0, -1)
    result = np.empty(count)
    result[order] = np.minimum(1.0, np.minimum.accumulate(scaled)) if count else []
    return [float(p) for p in np.maximum(own, result)]
