# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from hockney.models.fits.verdict import deviations, error_size, verdict

TIMES = np.full(11, 1e-6)


@pytest.mark.parametrize("factor", [3.0, 1 / 3])
def test_too_fast_is_as_wrong_as_too_slow(factor: float) -> None:
    fitted = TIMES.copy()
    fitted[5] *= factor
    assert deviations(TIMES, fitted) == pytest.approx((0.0, 2.0))
    grade, why = verdict(TIMES, fitted)
    assert grade == "poor" and error_size(2.0) in why


def test_a_model_that_predicts_no_time_at_all_is_poor() -> None:
    grade, why = verdict(TIMES, np.zeros(11))
    assert grade == "poor" and why.count(error_size(10.0)) == 2


@pytest.mark.parametrize(("off", "grade"), [(0.0, "good"), (0.04, "good"), (0.1, "fair"), (0.2, "poor")])
def test_grades_follow_the_median_error(off: float, grade: str) -> None:
    assert verdict(TIMES, TIMES * (1 + off))[0] == grade


def test_wrong_payloads_make_the_best_fit_poor() -> None:
    assert verdict(TIMES, TIMES, errors=1)[0] == "poor"
