# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times over the runs of a machine: their changes, and whether the newest run is as usual."""

from typing import TYPE_CHECKING

from hockney.core import lazy
from hockney.models.history.times import CaseTime, DatedRun, FactChange, RunTimes, fact_changes

if TYPE_CHECKING:
    from hockney.models.history.newest import (
        FEWEST_RUNS,
        CheckedOperation,
        CheckedSeries,
        CheckState,
        check,
    )
    from hockney.models.history.series import (
        LevelChange,
        RunPoint,
        TimeSeries,
        Trend,
        case_series,
        operation_series,
        trends,
    )
else:
    __getattr__ = lazy.attributes(  # an archive's index has times, and needs no numpy
        __name__,
        {
            "hockney.models.history.newest": "FEWEST_RUNS CheckedOperation CheckedSeries CheckState check",
            "hockney.models.history.series": "LevelChange RunPoint TimeSeries Trend case_series "
            "operation_series trends",
        },
    )

__all__ = [
    "FEWEST_RUNS",
    "CaseTime",
    "CheckState",
    "CheckedOperation",
    "CheckedSeries",
    "DatedRun",
    "FactChange",
    "LevelChange",
    "RunPoint",
    "RunTimes",
    "TimeSeries",
    "Trend",
    "case_series",
    "check",
    "fact_changes",
    "operation_series",
    "trends",
]
