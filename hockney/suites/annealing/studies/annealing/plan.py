# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases to measure: the same annealing with each set-up, on a single rank, and with load balancing,
and the messages and collectives on whose costs predictions are based."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError, unknown
from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.wording import plural
from hockney.pages.evidence import Options, unique_cases
from hockney.studies import places
from hockney.studies.progress import (
    OWN_PROGRESS,
    THREAD_PROGRESS,
    measures_own_progress,
    requested_thread_setting,
)
from hockney.studies.shared_parameters import (
    PREDICT,
    SURVEY,
    SYNC,
    require_simulated_machine,
    synchronization,
)
from hockney.studies.sizes import default_ranks
from hockney.suites.annealing.models.program import SCHEDULE_BYTES, SETUPS, STATISTICS_BYTES

ROLE = "annealing"
WORKLOADS = ("annealing",)
"""Compiled on first use."""
SETUP_PARAMETER = "setup"
"""The parameter of the workload. Its default is the set-up with which the others are compared."""

SETUP_NAMES = StudyParameter(
    "setups",
    "text",
    "set-ups to compare (default: all that this MPI has)",
    many=True,
    example="original,estimated",
)
PROBLEM = StudyParameter("problem", "text", "tsp, spin_glass or qap", default="tsp")
SIZE = StudyParameter(
    "size",
    "integer",
    "of a generated instance: cities, edge of the lattice, or facilities",
    low=2,
    example="200",
)
INSTANCE = StudyParameter(
    "instance",
    "text",
    "one that comes with hockney, or file:PATH of TSPLIB or QAPLIB (default: eil51, nug30 or planted; with a "
    "size: generated)",
    example="berlin52",
)
WALKERS = StudyParameter("walkers", "integer", "copies of the system, on all ranks", default="32", low=1)
STEPS = StudyParameter(
    "steps", "integer", "Metropolis steps of each walker at a temperature", default="50", low=1
)
TEMPERATURES = StudyParameter("temperatures", "integer", "rounds of a run", default="200", low=1)
SPEED = StudyParameter(
    "speed", "real", "thermodynamic speed, of schedule=constant_speed", default="0.5", above=0.0, high=1e6
)
SCHEDULE = StudyParameter(
    "schedule", "text", "of the temperatures: constant_speed or geometric", default="constant_speed"
)
SEEDS = StudyParameter("seeds", "integer", "different seeds, the same for all set-ups", default="50", low=1)
TARGET = StudyParameter(
    "target",
    "real",
    "energy for the time to target (default: what nine in ten runs of the first set-up reach)",
    low=-1e18,
    example="7700",
)
LAG = StudyParameter(
    "lag",
    "integer",
    "rounds after which set-ups that can wait use a schedule; 0: on arrival",
    default="0",
    many=True,
    example="0,1",
)
TEST_EVERY = StudyParameter(
    "test_every",
    "integer",
    "steps of a rank between two calls of MPI_Test; 0: only after a round",
    default="0",
    many=True,
    example="0,20",
)
PROGRESS = StudyParameter(
    "progress",
    "choice",
    "own: by calls of MPI only; thread: also by MPI's progress thread, for set-ups that do not block",
    default=OWN_PROGRESS,
    choices=(OWN_PROGRESS, THREAD_PROGRESS),
    many=True,
    example="own,thread",
)
BALANCE = StudyParameter(
    "balance",
    "choice",
    "yes: also measure uneven ranks with and without load balancing",
    default="yes",
    choices=("yes", "no"),
)
SHARES = StudyParameter(
    "shares",
    "text",
    "times of uneven ranks for a step (default: the last rank takes twice as long)",
    example="1:3",
)
STEP_S = StudyParameter(
    "step_s",
    "real",
    "time of a step on a simulated machine (default: as described)",
    unit="s",
    above=0.0,
    example="100ns",
)
ARITHMETIC = StudyParameter(
    "arithmetic",
    "choice",
    "none: steps only take their time, on a simulated machine",
    default="real",
    choices=("real", "none"),
)
PARAMETERS = (
    SETUP_NAMES, PROBLEM, SIZE, INSTANCE, WALKERS, STEPS, TEMPERATURES, SCHEDULE, SPEED, SEEDS, TARGET, LAG,
    TEST_EVERY, PROGRESS, BALANCE, SHARES, STEP_S, ARITHMETIC, PREDICT, SURVEY, SYNC,
)  # fmt: skip
SHARED_PARAMETERS = (
    PROBLEM, SIZE, INSTANCE, WALKERS, STEPS, TEMPERATURES, SCHEDULE, SPEED, SEEDS, TARGET, STEP_S, ARITHMETIC,
)  # fmt: skip
"""Parameters of the workload that all cases share."""
INSTANCES_WITH_OPTIMUM = {"tsp": "eil51", "qap": "nug30", "spin_glass": "planted"}
"""Instances with a known optimum. With the default numbers of walkers and steps, runs of eil51 end within
a few percent of it, so that differences between set-ups are visible."""


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Returns the cases to measure. One rank is always measured, with all walkers, and for predictions
    with the number of walkers of a rank when there are several."""
    if options.sizes:
        raise UsageError(
            "the messages of an annealing have no choice of sizes",
            "--sizes is for workloads with messages of a chosen size",
            "use size= for the size of the problem, for example size=200",
            code="annealing-has-no-sizes",
        )
    require_simulated_machine(options, machine, STEP_S, ARITHMETIC)
    ranks = sorted({*(options.ranks or default_ranks(machine))} - {1})
    excessive_rank_counts = [p for p in ranks if p > options.value(WALKERS)]
    if excessive_rank_counts:
        walkers = options.value(WALKERS)
        raise UsageError(
            f"{plural(walkers, 'walker')} cannot be divided among {excessive_rank_counts[0]} ranks",
            "every rank needs one",
            f"use walkers={excessive_rank_counts[0]} or more, or fewer ranks (--ranks)",
            code="fewer-walkers-than-ranks",
            walkers=walkers,
            ranks=excessive_rank_counts[0],
        )
    lines = list(_case_lines(ranks, options, catalog, machine))
    if options.value(PREDICT) == "yes" and options.survey is None and machine.platform is None:
        lines += cost_lines(ranks, catalog, machine)
    return unique_cases(catalog.case(line) for line in lines)


def setup_names(options: Options, catalog: Catalog, machine: Machine) -> Sequence[str]:
    """Returns the names of the set-ups: the reference first, then in the order listed."""
    setups = _all_setups(catalog)
    names = options.value(SETUP_NAMES) or [name for name in setups if _is_available(name, machine)]
    for name in names:
        if name not in setups:
            raise unknown("set-up", name, setups, code="unknown-setup")
    reference = reference_name(catalog)
    return sorted(names, key=lambda name: name != reference)


def reference_name(catalog: Catalog) -> str:
    """Returns the set-up with which the others are compared, the workload's default."""
    parameter = catalog.workload(WORKLOADS[0]).parameter(SETUP_PARAMETER)
    return parameter.default if parameter is not None else ""


def _all_setups(catalog: Catalog) -> Sequence[str]:
    parameter = catalog.workload(WORKLOADS[0]).parameter(SETUP_PARAMETER)
    return tuple(parameter.choices) if parameter is not None else ()


def _is_available(name: str, machine: Machine) -> bool:
    """Returns whether this MPI has the set-up, as far as known before it runs."""
    return not machine.traits.simulated or name not in SETUPS or SETUPS[name].simulated


def _case_lines(ranks: Sequence[int], options: Options, catalog: Catalog, machine: Machine) -> Iterator[str]:
    names = setup_names(options, catalog, machine)
    arguments = [WORKLOADS[0], f"sync={synchronization(options, machine)}"]
    arguments += [
        f"{parameter.name}={value}"
        for parameter in SHARED_PARAMETERS
        if (value := _parameter_value(parameter, options)) is not None
    ]
    line = " ".join(arguments)
    one_rank_line = f"{line} setup={reference_name(catalog)} ranks=1"
    yield one_rank_line
    for p in ranks:
        if options.value(PREDICT) == "yes":
            rank_walkers = f"walkers={-(-options.value(WALKERS) // p)}"
            yield one_rank_line.replace(f"walkers={options.value(WALKERS)}", rank_walkers)
        for name in names:
            yield from (
                f"{line} setup={name} {variant} ranks={p}" for variant in _variants(name, options, machine)
            )
        if options.value(BALANCE) == "yes":
            uneven_line = f"{line} setup={names[0]} shares={options.value(SHARES) or uneven_shares(p)}"
            yield from (f"{uneven_line} balance={balance} ranks={p}" for balance in ("no", "yes"))


def _parameter_value(parameter: StudyParameter, options: Options) -> Any:
    """Returns the given value or the default. The default instance has a known optimum unless a size is
    given."""
    value = options.value(parameter)
    if parameter is INSTANCE and value is None and options.value(SIZE) is None:
        return INSTANCES_WITH_OPTIMUM.get(options.value(PROBLEM))
    return value


def launch_settings(options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    """Returns the setting of the progress thread, if it is measured. Raises UsageError if it is requested
    and MPI has none."""
    return requested_thread_setting(options.value(PROGRESS), machine)


def _variants(name: str, options: Options, machine: Machine) -> Iterator[str]:
    """Yields the lags and tests of a set-up that supports them, and the progress thread if it supports
    tests. A set-up without a model may have all."""
    model = SETUPS.get(name)
    lags = options.value(LAG) if model is None or model.has_lag else (0,)
    is_nonblocking = model is None or model.can_test
    test_intervals = options.value(TEST_EVERY) if is_nonblocking else (0,)
    for lag in lags:
        if not is_nonblocking or measures_own_progress(options.value(PROGRESS)):
            yield from (f"lag={lag} test_every={test_interval}" for test_interval in test_intervals)
        if is_nonblocking:
            for setting in launch_settings(options, machine):
                yield f"lag={lag} setting={setting.name}"


def uneven_shares(ranks: int) -> str:
    return ":".join(["1"] * (ranks - 1) + ["2"])


MESSAGE_SIZES = (0, 8, 16, 32, 64, 256, 1024, 4096)
"""Bytes of the ping-pong: the paper's messages, and more sizes for a model of the time."""
STREAM_SIZES = (8, 64, 1024)
COLLECTIVE_SIZES = {"bcast": (8, SCHEDULE_BYTES, 64), "gather": (8, STATISTICS_BYTES, 64)}
"""Bytes of the collectives of the blocking set-up, and sizes close to them."""


def cost_lines(ranks: Sequence[int], catalog: Catalog, machine: Machine) -> Iterator[str]:
    if not ranks:
        return
    yield from places.at_prediction_levels(_message_lines(catalog), machine)
    for operation, sizes in COLLECTIVE_SIZES.items():
        for workload in catalog.with_role("collective"):
            if workload.operation == operation:
                yield from (
                    f"{workload.name} bytes={size} buffers=hot sync=barrier ranks={p}"
                    for p in ranks
                    for size in sizes
                )


def _message_lines(catalog: Catalog) -> Iterator[str]:
    yield from (f"pingpong bytes={size} buffers=hot ranks=2" for size in MESSAGE_SIZES)
    for workload in catalog.with_role("stream"):
        if not workload.bidirectional:
            yield from (f"{workload.name} bytes={size} buffers=hot ranks=2" for size in STREAM_SIZES)
