# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of repeated measurements, behind one interface: the names below.

How a case's median and interval are computed (repetitions, launches, logarithms, quantiles) is decided only
in this folder. Models get observations and summaries of cases, an `ObservationTable` or `Medians` of a
subject's times with their variances, and intervals of the quantities they derive from them."""

from hockney.models.loaded_launches import (
    FEWEST_QUIET,
    LOADED_OUTSIDE_CORES,
    LOADED_STEAL,
    loaded_launches,
    select_records,
)
from hockney.models.significance import (
    NOTABLE,
    UNDECIDED_VERDICTS,
    Verdict,
    interval_stretch,
    time_to_decide,
    time_to_exclude,
    verdict,
)
from hockney.models.statistics.common_seeds import (
    Attempts,
    ValuesBySeed,
    common_keys,
    expected_time,
    mean_by_seed,
    mean_difference,
    ratio_of_expected_times,
)
from hockney.models.statistics.independent_launches import independent_ratio
from hockney.models.statistics.interleaved_settings import InterleavedSettings
from hockney.models.statistics.interval import median_interval
from hockney.models.statistics.launch_modes import LaunchModes, launch_modes
from hockney.models.statistics.level_changes import ChangePoint, change_points, change_significance
from hockney.models.statistics.location import (
    FEWEST_TO_WINSORISE,
    Z,
    center,
    estimate,
    half_width,
    student,
    winsorise,
)
from hockney.models.statistics.matrix import (
    Medians,
    ObservationTable,
    shared_variance,
    sum_quantile,
    tabulate,
)
from hockney.models.statistics.metrics import over_launches
from hockney.models.statistics.modes import fast_visits
from hockney.models.statistics.noise import MeasuredNoise, noise
from hockney.models.statistics.observations import SHORTEST_S, Observation, pool_launches
from hockney.models.statistics.paired_launches import (
    common_pairs,
    pair_count,
    paired_ratio,
    pairs_with_weight,
    ratio_of_pairs,
)
from hockney.models.statistics.ratio_estimate import RatioEstimate, adjust_p_values
from hockney.models.statistics.ratios import FEWEST_PAIRS, mean_ratio, ratio, ratio_of_estimates, ratio_to_sum
from hockney.models.statistics.split_pairs import MachineModes, exchange_launches, machine_modes
from hockney.models.statistics.summary import (
    Times,
    observe,
    observe_case,
    relative_precision,
    select_cost,
    summaries,
    summarise,
    typical_time,
)
from hockney.models.statistics.variance_components import PooledCase
from hockney.models.statistics.visits import LaunchTimesCache, launch_times, visit_medians

__all__ = [
    "FEWEST_PAIRS",
    "FEWEST_QUIET",
    "FEWEST_TO_WINSORISE",
    "LOADED_OUTSIDE_CORES",
    "LOADED_STEAL",
    "NOTABLE",
    "SHORTEST_S",
    "UNDECIDED_VERDICTS",
    "Attempts",
    "ChangePoint",
    "InterleavedSettings",
    "LaunchModes",
    "LaunchTimesCache",
    "MachineModes",
    "MeasuredNoise",
    "Medians",
    "Observation",
    "ObservationTable",
    "PooledCase",
    "RatioEstimate",
    "Times",
    "ValuesBySeed",
    "Verdict",
    "Z",
    "adjust_p_values",
    "center",
    "change_points",
    "change_significance",
    "common_keys",
    "common_pairs",
    "estimate",
    "exchange_launches",
    "expected_time",
    "fast_visits",
    "half_width",
    "independent_ratio",
    "interval_stretch",
    "launch_modes",
    "launch_times",
    "loaded_launches",
    "machine_modes",
    "mean_by_seed",
    "mean_difference",
    "mean_ratio",
    "median_interval",
    "noise",
    "observe",
    "observe_case",
    "over_launches",
    "pair_count",
    "paired_ratio",
    "pairs_with_weight",
    "pool_launches",
    "ratio",
    "ratio_of_estimates",
    "ratio_of_expected_times",
    "ratio_of_pairs",
    "ratio_to_sum",
    "relative_precision",
    "select_cost",
    "select_records",
    "shared_variance",
    "student",
    "sum_quantile",
    "summaries",
    "summarise",
    "tabulate",
    "time_to_decide",
    "time_to_exclude",
    "typical_time",
    "verdict",
    "visit_medians",
    "winsorise",
]
