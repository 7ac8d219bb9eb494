# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figure 12 of Krishnamurthy (1998): the speed-up of five NAS Parallel Benchmarks on 1 to 16 processes, the
effects of the rate of computation and of the network on it, and barriers inside the benchmarks.

The paper describes its figure in words only, and these statements are checked. Computation executes the
official operations at the description's rate, which is a guess."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hockney.core.case import MPI
from hockney.core.catalog import Catalog
from hockney.core.platform import Platform
from hockney.core.units import format_value
from hockney.core.wording import join_words
from hockney.draw.amount import Amount
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Section, Table
from hockney.machines import simulated
from hockney.models.loggp_sim import message_startup
from hockney.reproductions import pages
from hockney.reproductions.compared import Check, ComparedNumber, Statement, status_of
from hockney.reproductions.parts import Answer, Part
from hockney.suites.npb.programs import PIPELINED

PART_OF = "ethernet"
PROCESSES = (1, 2, 4, 8, 12, 16)
MAX_PROCESSES = PROCESSES[-1]
LINEAR_PROCESSES = 8
"""Number of processes up to which three of the speed-ups are linear."""


@dataclass(frozen=True)
class NasBenchmark:
    """A benchmark with the size printed in the paper, which is class `size` of the workload. In the paper,
    its speed-up is linear up to `linear_limit` processes. A barrier may follow each of its `iterations`."""

    title: str
    size: str
    paper_size: str
    linear_limit: int
    iterations: int


BENCHMARKS = {
    "ep": NasBenchmark("EP", "W", "67108864 random numbers", MAX_PROCESSES, 10),
    "bt": NasBenchmark("BT", "W", "24 x 24 x 24", MAX_PROCESSES, 200),
    "cg": NasBenchmark("CG", "A", "n = 14000", LINEAR_PROCESSES, 15),
    "mg": NasBenchmark("MG", "paper", "64 x 64 x 64", LINEAR_PROCESSES, 40),
    "lu": NasBenchmark("LU", "W", "33 x 33 x 33", LINEAR_PROCESSES, 300),
}
"""Benchmarks by workload."""
WORKLOADS = tuple(BENCHMARKS)
KERNELS, SWITCH, FOUR_PER_NODE = "kernels", "kernels-switch", "kernels-four-per-node"
FAST_MEDIUM, FAST_SWITCH, MYRINET = "kernels-fast", "kernels-fast-switch", "kernels-myrinet"
BARRIERS = "kernel-barriers"
NETWORKS = {
    KERNELS: ("switched-ethernet", "one medium"),
    SWITCH: ("switched-ethernet+true-switch", "true switch"),
    FAST_MEDIUM: ("switched-ethernet+fast-medium", "one medium, 100 Mbit/s"),
    FAST_SWITCH: ("switched-ethernet+fast-switch", "true switch, 100 Mbit/s"),
    FOUR_PER_NODE: ("switched-ethernet+four-per-node", "four on a node, 100 Mbit/s"),
    MYRINET: ("switched-ethernet+myrinet", "Myrinet"),
}
"""Machine and title of the parts with all numbers of processes."""
BENCHMARKS_BY_NETWORK = {MYRINET: ("bt", "mg")}
"""The benchmarks of parts that do not run all of them."""
RATE_PARTS = {KERNELS: ("kernel-rates", (0.5, 2.0)), FAST_SWITCH: ("kernel-rates-fast-switch", (0.25, 0.5))}
"""The part with other rates of computation, and their factors, by network."""
FACTOR_TITLES = {0.25: "a quarter of the rate", 0.5: "half the rate", 1.0: "the rate", 2.0: "double the rate"}
PLACED_BARRIERS = {MPI: "mpi", "dissemination": "dissemination_mcs", "tournament": "tournament_parity"}
"""Barriers placed after each iteration: the engine's name by the name in the paper's rows."""
SKELETON_OPTION = "arithmetic=none"
TOURNAMENT_OPTIONS = f"barrier_at=iteration barrier={PLACED_BARRIERS['tournament']}"
"""Options that synchronise by a tournament, as in the paper's benchmarks."""
SPEED_UP_TABLE = "speed-up (figure 12)"
MIN_LINEAR_SHARE = 0.8
"""A speed-up is almost linear if it is at least this share of the processes."""
MAX_FALLING_SHARE = 0.9
"""A speed-up falls off if it is below this share of the speed-up at the efficiency on 8 processes."""

Answers = Mapping[str, Answer]


def parts(catalog: Catalog) -> Iterator[Part]:
    """Yields the parts. Runs on the described machine compute and verify; on other machines, computation
    only takes its time."""
    for name, (machine, _) in NETWORKS.items():
        platform = simulated.platform(machine)
        skeleton = "" if name == KERNELS else SKELETON_OPTION
        case_lines = (
            _case_line(kernel, platform, p, f"{TOURNAMENT_OPTIONS} {skeleton}")
            for kernel in BENCHMARKS_BY_NETWORK.get(name, BENCHMARKS)
            for p in PROCESSES
        )
        yield Part(name, machine, tuple(map(catalog.case, case_lines)))
    for network, (part, factors) in RATE_PARTS.items():
        machine, _ = NETWORKS[network]
        rate_lines = (
            _case_line(
                kernel, simulated.platform(machine), p, f"{TOURNAMENT_OPTIONS} {SKELETON_OPTION}", factor
            )
            for kernel in BENCHMARKS
            for factor in factors
            for p in (LINEAR_PROCESSES, MAX_PROCESSES)
        )
        yield Part(part, machine, tuple(map(catalog.case, rate_lines)))
    machine, _ = NETWORKS[KERNELS]
    platform = simulated.platform(machine)
    barrier_lines = (
        _case_line(kernel, platform, MAX_PROCESSES, f"{SKELETON_OPTION} {barrier_options}")
        for kernel in BENCHMARKS
        for barrier_options in (
            "",
            *(f"barrier_at=iteration barrier={barrier}" for barrier in PLACED_BARRIERS.values()),
        )
    )
    yield Part(BARRIERS, machine, tuple(map(catalog.case, barrier_lines)))


def _case_line(kernel: str, platform: Platform, processes: int, options: str, factor: float = 1) -> str:
    arguments = [kernel, f"class={BENCHMARKS[kernel].size}", f"rate={factor * platform.rates[kernel]:.6g}"]
    if kernel in PIPELINED:
        arguments.append(f"startup={message_startup(platform, processes):.6g}")
    return " ".join([*arguments, f"ranks={processes}", options]).rstrip()


def seconds(answers: Answers, kernel: str, processes: int, network: str = KERNELS) -> float | None:
    """Returns the time of a benchmark (s); None also if it did not run on this network."""
    if kernel not in BENCHMARKS_BY_NETWORK.get(network, BENCHMARKS):
        return None
    return answers[network].seconds(kernel, ranks=processes)


def speed_up(answers: Answers, kernel: str, processes: int, network: str = KERNELS) -> float | None:
    one_process_s, parallel_s = (seconds(answers, kernel, p, network) for p in (1, processes))
    return one_process_s / parallel_s if one_process_s and parallel_s else None


def speed_up_at_rate(
    answers: Answers, kernel: str, processes: int, factor: float, network: str = KERNELS
) -> float | None:
    """Returns the speed-up with `factor` times the rate of computation; None also if that did not run."""
    if factor == 1:
        return speed_up(answers, kernel, processes, network)
    part, factors = RATE_PARTS.get(network, ("", ()))
    if factor not in factors:
        return None
    rate = factor * answers[part].platform.rates[kernel]
    one_process_s = seconds(answers, kernel, 1, network)
    parallel_s = answers[part].seconds(kernel, ranks=processes, rate=rate)
    return one_process_s / factor / parallel_s if one_process_s and parallel_s else None


def rate_for_linear(answers: Answers, kernel: str, network: str = KERNELS) -> float | None:
    """Returns the operations per second for which the speed-up would be almost linear as far as the paper
    states. Assumes that the non-computing time, 1 - e of the time at efficiency e, stays the same."""
    processes = BENCHMARKS[kernel].linear_limit
    one_process_s, parallel_s = (seconds(answers, kernel, p, network) for p in (1, processes))
    if one_process_s is None or parallel_s is None:
        return None
    communication_s = parallel_s - one_process_s / processes
    computing_s = communication_s * MIN_LINEAR_SHARE / (1 - MIN_LINEAR_SHARE)
    return (
        answers[network].platform.rates[kernel] * one_process_s / processes / computing_s
        if computing_s > 0
        else None
    )


# Statements of the paper


def compare(answers: Answers) -> list[ComparedNumber]:
    """Compares the speed-ups that the paper calls linear."""
    rows = []
    for network, (_, title) in NETWORKS.items():
        mechanism = "" if network == KERNELS else title
        for kernel in BENCHMARKS_BY_NETWORK.get(network, BENCHMARKS):
            benchmark = BENCHMARKS[kernel]
            processes = benchmark.linear_limit
            key = f"barriers/speedup/{kernel}/{processes}"
            rows.append(
                ComparedNumber(
                    key,
                    f"speed-up of {benchmark.title}, {processes} processes",
                    float(processes),
                    speed_up(answers, kernel, processes, network),
                    None,
                    "",
                    status_of(answers[network].platform, key, mechanism),
                    mechanism,
                    note=f"the paper: linear{'' if processes == MAX_PROCESSES else f' to {processes}'}",
                    table=f"{SPEED_UP_TABLE}, {title}" if mechanism else SPEED_UP_TABLE,
                )
            )
    return rows


def checks(answers: Answers, network: str = KERNELS, factor: float = 1) -> list[Check]:
    """Checks the paper's description of its figure 12, with `factor` times the rate of computation."""
    return [_speed_up_check(answers, kernel, network, factor) for kernel in BENCHMARKS]


def _speed_up_check(answers: Answers, kernel: str, network: str, factor: float) -> Check:
    benchmark = BENCHMARKS[kernel]
    linear_speed_up, max_speed_up = (
        speed_up_at_rate(answers, kernel, p, factor, network) for p in (LINEAR_PROCESSES, MAX_PROCESSES)
    )
    claim = f"the speed-up of {benchmark.title} is almost linear to {benchmark.linear_limit} processes"
    if benchmark.linear_limit < MAX_PROCESSES:
        claim += ", then falls off"
    statement = Statement(f"speed-up-{kernel}", "figure 12", claim)
    if linear_speed_up is None or max_speed_up is None:
        return statement.unknown()
    if benchmark.linear_limit == MAX_PROCESSES:
        holds = max_speed_up >= MIN_LINEAR_SHARE * MAX_PROCESSES
    else:
        holds = (
            linear_speed_up >= MIN_LINEAR_SHARE * LINEAR_PROCESSES
            and max_speed_up < MAX_FALLING_SHARE * linear_speed_up * MAX_PROCESSES / LINEAR_PROCESSES
        )
    return statement.check(
        holds, f"{linear_speed_up:.1f} on {LINEAR_PROCESSES}, {max_speed_up:.1f} on {MAX_PROCESSES}"
    )


def summary(answers: Answers) -> tuple[str, ...]:
    """Returns sentences on the paper's statements that hold, and on the machines on which others would
    hold."""
    if all(speed_up(answers, kernel, MAX_PROCESSES) is None for kernel in BENCHMARKS):
        return ()
    confirmed_benchmarks = _confirmed_benchmarks(answers, KERNELS)
    text = (
        "Figure 12 has speed-ups of NAS benchmarks: EP and BT linear to 16 processes; CG, MG and LU to 8, "
        f"then falling off. Simulated, {_title_list(confirmed_benchmarks)} "
        f"{'is' if len(confirmed_benchmarks) < 2 else 'are'} as "
        f"stated"
    )
    needed_factors = {
        kernel: rate / answers[KERNELS].platform.rates[kernel]
        for kernel in BENCHMARKS
        if kernel not in confirmed_benchmarks and (rate := rate_for_linear(answers, kernel))
    }
    if needed_factors:
        text += (
            f"; {_title_list([*needed_factors])} would need processors of about "
            f"{min(needed_factors.values()):.0%} to "
            f"{max(needed_factors.values()):.0%} of the assumed speed"
        )
    return tuple(
        filter(None, (f"{text}. {_other_networks_sentence(answers)}".strip(), _myrinet_sentence(answers)))
    )


def _myrinet_sentence(answers: Answers) -> str:
    """Returns a sentence on the paper's second network, for which it prints no number."""
    speed_ups = {
        kernel: speed_up(answers, kernel, MAX_PROCESSES, MYRINET) for kernel in BENCHMARKS_BY_NETWORK[MYRINET]
    }
    known_speed_ups = [
        f"{BENCHMARKS[kernel].title} {value:.1f}" for kernel, value in speed_ups.items() if value
    ]
    if not known_speed_ups:
        return ""
    return (
        f"On Myrinet, on which the paper ran the same, every cost is a guess; speed-ups on {MAX_PROCESSES} "
        f"processes: {', '.join(known_speed_ups)}."
    )


def _other_networks_sentence(answers: Answers) -> str:
    """Returns a sentence on the other networks and rates with which more statements hold. The paper prints
    neither the rates nor the number of processes per node."""
    base_benchmarks = set(_confirmed_benchmarks(answers, KERNELS))
    variants = [(network, 1.0) for network in NETWORKS if network not in (KERNELS, MYRINET)]
    variants += [(network, factor) for network, (_, factors) in RATE_PARTS.items() for factor in factors]
    confirmed_by_variant = {
        NETWORKS[network][1]
        + (f" and {FACTOR_TITLES[factor]} of computing" if factor != 1 else ""): confirmed_benchmarks
        for network, factor in variants
        if set(confirmed_benchmarks := _confirmed_benchmarks(answers, network, factor)) - base_benchmarks
    }
    variant_list = "; ".join(
        f"{title}: {_title_list(kernels)}" for title, kernels in confirmed_by_variant.items()
    )
    return (
        f"On other networks and at other rates, more are as stated: {variant_list}."
        if confirmed_by_variant
        else ""
    )


def _confirmed_benchmarks(answers: Answers, network: str, factor: float = 1) -> list[str]:
    check_by_kernel = zip(BENCHMARKS, checks(answers, network, factor), strict=True)
    return [kernel for kernel, check in check_by_kernel if check.holds]


def _title_list(kernels: Sequence[str]) -> str:
    return join_words(BENCHMARKS[kernel].title for kernel in kernels) if kernels else "none"


# Figures and tables


def sections(answers: Answers) -> list[Section]:
    """Returns the section with the paper's figure, and those on other networks, other rates and barriers."""
    return [
        Section(
            "Speed-up of NAS benchmarks",
            figures=(_speed_up_figure(answers, KERNELS),),
            tables=(_speed_up_table(answers), _rates_table(answers)),
        ),
        Section(
            "Speed-up on other networks",
            figures=tuple(_speed_up_figure(answers, network) for network in NETWORKS if network != KERNELS),
            multiples=True,
        ),
        Section("Barriers inside NAS benchmarks", tables=(_barriers_table(answers),)),
    ]


def _speed_up_figure(answers: Answers, network: str) -> Figure:
    series = [pages.make_series("linear", [(p, float(p)) for p in PROCESSES], "line")]
    for kernel in BENCHMARKS_BY_NETWORK.get(network, BENCHMARKS):
        speed_ups = [(p, speed_up(answers, kernel, p, network)) for p in PROCESSES]
        series.append(pages.make_series(BENCHMARKS[kernel].title, speed_ups))
    _, title = NETWORKS[network]
    return Figure(
        f"ethernet-figure-12{network.removeprefix(KERNELS)}",
        f"Figure 12: speed-up, {title}",
        Axis("processes", "processes", "linear", include=(0.0,)),
        Axis("speed-up", "", "linear", include=(0.0, float(MAX_PROCESSES))),
        tuple(series),
        "The paper's figure 12: EP and BT linear; LU, MG and CG linear to 8, then falling off."
        if network == KERNELS
        else "",
        marks=((float(LINEAR_PROCESSES), "8"),) if network == KERNELS else (),
    )


def _format_ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _format_rate(value: float | None) -> str:
    return "" if value is None else f"{float(f'{value / 1e6:.2g}'):g} Mop/s"


def _speed_up_table(answers: Answers) -> Table:
    rows = [
        (
            benchmark.title,
            title,
            *(_format_ratio(speed_up(answers, kernel, p, network)) for p in PROCESSES[1:]),
            _format_rate(rate_for_linear(answers, kernel, network)),
        )
        for kernel, benchmark in BENCHMARKS.items()
        for network, (_, title) in NETWORKS.items()
        if kernel in BENCHMARKS_BY_NETWORK.get(network, BENCHMARKS)
    ]
    columns = ("benchmark", "network", *map(str, PROCESSES[1:]), "rate for linear")
    sizes = "; ".join(f"{benchmark.title} {benchmark.paper_size}" for benchmark in BENCHMARKS.values())
    return Table(
        "speed-ups",
        "Speed-up, by processes",
        columns,
        tuple(rows),
        numeric=tuple(range(2, len(columns))),
        caption=f"Sizes: {sizes}. Computing: "
        f"{_assumed_rates(answers)}. With the rate for linear, a speed-up would be {MIN_LINEAR_SHARE:.0%} "
        f"of linear to as many processes as in the paper. {_verification_sentence(answers)}",
    )


def _assumed_rates(answers: Answers) -> str:
    rates: dict[float, list[str]] = {}
    for kernel in BENCHMARKS:
        rates.setdefault(answers[KERNELS].platform.rates[kernel], []).append(kernel)
    return ", ".join(f"{_title_list(kernels)} {_format_rate(rate)}" for rate, kernels in rates.items())


def _verification_sentence(answers: Answers) -> str:
    """Returns a sentence on the number of runs that computed. Their errors are reported with the part."""
    records = answers[KERNELS].run.records
    verified_count = sum(record.verified.bytes > 0 and not record.verified.errors for record in records)
    return (
        f"On one medium, {verified_count} of {len(records)} runs computed and were verified; all "
        "others left the "
        "arithmetic out, which changes no time, and verified nothing."
    )


def _rates_table(answers: Answers) -> Table:
    rows = [
        (
            benchmark.title,
            NETWORKS[network][1],
            str(p),
            *(
                _format_ratio(speed_up_at_rate(answers, kernel, p, factor, network))
                for factor in FACTOR_TITLES
            ),
        )
        for network in RATE_PARTS
        for kernel, benchmark in BENCHMARKS.items()
        for p in (LINEAR_PROCESSES, MAX_PROCESSES)
    ]
    columns = ("benchmark", "network", "processes", *FACTOR_TITLES.values())
    return Table(
        "rates",
        "Speed-ups at other rates of computing",
        columns,
        tuple(rows),
        numeric=tuple(range(2, len(columns))),
    )


def _barriers_table(answers: Answers) -> Table:
    rows = []
    for kernel, benchmark in BENCHMARKS.items():
        baseline_s = answers[BARRIERS].seconds(kernel, barrier_at="none")
        for name, algorithm in PLACED_BARRIERS.items():
            barrier_run_s = answers[BARRIERS].seconds(kernel, barrier=algorithm, barrier_at="iteration")
            barrier_s = answers["barrier" if name == MPI else "algorithms"].seconds(
                "barrier", algorithm=algorithm, ranks=MAX_PROCESSES
            )
            extra_s = None if barrier_run_s is None or baseline_s is None else barrier_run_s - baseline_s
            rows.append(
                (
                    benchmark.title,
                    "MPI_Barrier" if name == MPI else name,
                    _format_time(baseline_s),
                    _format_time(extra_s),
                    "" if extra_s is None or not baseline_s else f"{extra_s / baseline_s:+.1%}",
                    _format_time(None if extra_s is None else extra_s / benchmark.iterations),
                    _format_time(barrier_s),
                )
            )
    columns = (
        "benchmark", "barrier", "time without", "added", "of the time", "for each barrier", "barrier alone",
    )  # fmt: skip
    return Table(
        "barriers-inside",
        f"A barrier after each iteration, {MAX_PROCESSES} processes, one medium",
        columns,
        tuple(rows),
        numeric=(2, 3, 4, 5, 6),
    )


def _format_time(value: float | None) -> str:
    return "" if value is None else Amount(format_value(value, "s"), (value,), "s")
