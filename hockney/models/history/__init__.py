# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times over the runs of a machine: their changes, and whether the newest run is unusual."""

from typing import TYPE_CHECKING

from hockney.core import lazy
from hockney.models.history.times import CaseTime, DatedRun, FactChange, RunTimes, fact_changes

if TYPE_CHECKING:
    from hockney.models.history.series import (
        MIN_RUNS,
        CheckedOperation,
        CheckedSeries,
        CheckState,
        LevelChange,
        RunPoint,
        TimeSeries,
        Trend,
        case_series,
        check_run,
        detect_trends,
        operation_series,
    )
else:
    __getattr__ = lazy.attribute_getter(__name__)  # an archive's index has times, and needs no numpy
