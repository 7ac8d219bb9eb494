# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of repeated measurements, behind one interface: the names imported here.

How a case's median and interval are computed (repetitions, launches, logarithms, quantiles) is decided only
in this folder. Models use observations and summaries of cases, the times of a subject with their variances
(`ObservationTable`, `Medians`), and intervals of derived quantities."""

from hockney.models.loaded_launches import (
    LOADED_OUTSIDE_CORES,
    LOADED_STEAL,
    MIN_QUIET_LAUNCHES,
    loaded_launches,
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
from hockney.models.statistics.launch_modes import LaunchModes, find_launch_modes
from hockney.models.statistics.level_changes import ChangePoint, change_significance, find_change_points
from hockney.models.statistics.location import (
    Z,
    center,
    estimate,
    half_width,
    student,
    variance_of_center,
    winsorise_if_enough,
)
from hockney.models.statistics.matrix import (
    Medians,
    ObservationTable,
    shared_variance,
    sum_quantile,
    tabulate,
)
from hockney.models.statistics.metrics import summarise_launches
from hockney.models.statistics.modes import fast_visits
from hockney.models.statistics.noise import MeasuredNoise, measure_noise
from hockney.models.statistics.observations import Observation, log_ratios, pool_launches
from hockney.models.statistics.paired_launches import (
    common_pairs,
    pair_count,
    paired_ratio,
    ratio_of_pairs,
    select_weighted_pairs,
)
from hockney.models.statistics.quantile_ratios import (
    fewest_repetitions,
    min_repetitions,
    quantile_ratio,
    quantile_s,
    smallest_detectable_ratio,
)
from hockney.models.statistics.ratio_estimate import RatioEstimate, adjust_p_values
from hockney.models.statistics.ratios import MIN_PAIRS, mean_ratio, ratio, ratio_of_estimates, ratio_to_sum
from hockney.models.statistics.split_pairs import MachineModes, exchange_launches, find_machine_modes
from hockney.models.statistics.summary import (
    ComputeTimes,
    observe,
    observe_case,
    relative_precision,
    select_cost,
    summarise,
    summarise_observations,
    typical_time,
)
from hockney.models.statistics.variance_components import PooledCase
from hockney.models.statistics.visits import MIN_TIME_S, LaunchTimesCache, launch_times
