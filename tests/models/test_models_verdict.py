# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from hockney.core.fit import Estimate
from hockney.models.fits.verdict import deviations, format_error, judge_fit, uncertainty

TIMES = np.full(11, 1e-6)


@pytest.mark.parametrize("factor", [3.0, 1 / 3])
def test_too_fast_is_as_wrong_as_too_slow(factor: float) -> None:
    fitted = TIMES.copy()
    fitted[5] *= factor
    assert deviations(TIMES, fitted) == pytest.approx((0.0, 2.0))
    found = judge_fit(TIMES, fitted)
    assert found["verdict"] == "poor" and format_error(2.0) in found["why"]


def test_a_model_that_predicts_no_time_at_all_is_poor() -> None:
    found = judge_fit(TIMES, np.zeros(11))
    assert found["verdict"] == "poor" and found["why"].count(format_error(10.0)) == 2


@pytest.mark.parametrize(("off", "grade"), [(0.0, "good"), (0.04, "good"), (0.1, "fair"), (0.2, "poor")])
def test_grades_follow_the_median_error(off: float, grade: str) -> None:
    assert judge_fit(TIMES, TIMES * (1 + off))["verdict"] == grade


def test_wrong_payloads_make_the_best_fit_poor() -> None:
    assert judge_fit(TIMES, TIMES, errors=1)["verdict"] == "poor"


@pytest.mark.parametrize(("width", "grade"), [(0.0, "good"), (0.25, "good"), (0.5, "fair"), (1.5, "poor")])
def test_grades_follow_the_widest_parameter(width: float, grade: str) -> None:
    found = judge_fit(TIMES, TIMES * 1.03, widths={"a": 0.01, "b": width})
    assert found["verdict"] == grade
    assert [(c.code, c.values) for c in found["caveats"]] == (
        [] if grade == "good" else [("wide-parameter", {"b": width})]
    )


def test_a_sure_parameter_does_not_make_a_bad_model_better() -> None:
    assert judge_fit(TIMES, TIMES * 1.2, widths={"a": 0.5})["verdict"] == "poor"


def test_an_interval_counts_as_far_as_it_matters() -> None:
    """1 us within 150%: all of a time of 1 us, 1% of one of 100 us."""
    wide = Estimate(1e-6, 0.0, 3e-6)
    assert uncertainty(wide, 1 / 1e-6) == pytest.approx(1.5)
    assert uncertainty(wide, 1 / 1e-4) == pytest.approx(0.015)
    assert uncertainty(Estimate(0.0, 0.0, 1e-6), 1 / 1e-6) == pytest.approx(1.0)
    assert uncertainty(Estimate(1e-6, None, None), 1 / 1e-6) == 0
    assert uncertainty(Estimate(1e-6, 0.5e-6, None), 1 / 1e-6) == pytest.approx(0.5)
