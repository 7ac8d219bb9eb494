# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figure 12 of Krishnamurthy (1998): the speed-up of five NAS Parallel Benchmarks on 1 to 16 processes, what
the rate of computing and the network have to do with it, and barriers inside the benchmarks.

The paper describes its figure in words only; these are checked. Computing takes the official operations at
the description's rate, which is a guess.
"""

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
MIDDLE_PROCESSES = 8
"""Processes up to which three of the speed-ups are linear."""


@dataclass(frozen=True)
class NasBenchmark:
    """A benchmark in the size that the paper has `printed`, which is the class `size` of the workload.
    According to the paper, its speed-up is linear up to `linear_to` processes. A barrier may be placed after
    each of its `iterations`."""

    title: str
    size: str
    printed: str
    linear_to: int
    iterations: int


BENCHMARKS = {
    "ep": NasBenchmark("EP", "W", "67108864 random numbers", MAX_PROCESSES, 10),
    "bt": NasBenchmark("BT", "W", "24 x 24 x 24", MAX_PROCESSES, 200),
    "cg": NasBenchmark("CG", "A", "n = 14000", MIDDLE_PROCESSES, 15),
    "mg": NasBenchmark("MG", "paper", "64 x 64 x 64", MIDDLE_PROCESSES, 40),
    "lu": NasBenchmark("LU", "W", "33 x 33 x 33", MIDDLE_PROCESSES, 300),
}
"""Benchmarks by workload."""
WORKLOADS = tuple(BENCHMARKS)
KERNELS, SWITCH, FOUR = "kernels", "kernels-switch", "kernels-four-per-node"
FAST, FAST_SWITCH, MYRINET = "kernels-fast", "kernels-fast-switch", "kernels-myrinet"
BARRIERS = "kernel-barriers"
NETWORKS = {
    KERNELS: ("switched-ethernet", "one medium"),
    SWITCH: ("switched-ethernet+true-switch", "true switch"),
    FAST: ("switched-ethernet+fast-medium", "one medium, 100 Mbit/s"),
    FAST_SWITCH: ("switched-ethernet+fast-switch", "true switch, 100 Mbit/s"),
    FOUR: ("switched-ethernet+four-per-node", "four on a node, 100 Mbit/s"),
    MYRINET: ("switched-ethernet+myrinet", "Myrinet"),
}
"""Machine and title of the parts that have all numbers of processes."""
BENCHMARKS_ON = {MYRINET: ("bt", "mg")}
"""The benchmarks of parts that have not all of them."""
RATES = {KERNELS: ("kernel-rates", (0.5, 2.0)), FAST_SWITCH: ("kernel-rates-fast-switch", (0.25, 0.5))}
"""The part with other rates of computing, and their factors, by network."""
FACTORS = {0.25: "a quarter of the rate", 0.5: "half the rate", 1.0: "the rate", 2.0: "double the rate"}
PLACED_BARRIERS = {MPI: "mpi", "dissemination": "dissemination_mcs", "tournament": "tournament_parity"}
"""Barriers that are placed after each iteration: by the name in the paper's rows the engine's."""
SKELETON = "arithmetic=none"
WITH_TOURNAMENT = f"barrier_at=iteration barrier={PLACED_BARRIERS['tournament']}"
"""The paper's benchmarks synchronised by it."""
TABLE = "speed-up (figure 12)"
ALMOST_LINEAR = 0.8
"""A speed-up is almost linear if it is at least this share of the processes."""
FALLING_OFF = 0.9
"""A speed-up falls off if it is below this share of the speed-up that the efficiency on 8 processes gives."""

Answers = Mapping[str, Answer]


def parts(catalog: Catalog) -> Iterator[Part]:
    """The runs on the described machine compute and verify; elsewhere computing only takes its time."""
    for name, (machine, _) in NETWORKS.items():
        platform = simulated.platform(machine)
        skeleton = "" if name == KERNELS else SKELETON
        texts = (
            _line(kernel, platform, p, f"{WITH_TOURNAMENT} {skeleton}")
            for kernel in BENCHMARKS_ON.get(name, BENCHMARKS)
            for p in PROCESSES
        )
        yield Part(name, machine, tuple(map(catalog.case, texts)))
    for network, (part, factors) in RATES.items():
        machine, _ = NETWORKS[network]
        rates = (
            _line(kernel, simulated.platform(machine), p, f"{WITH_TOURNAMENT} {SKELETON}", factor)
            for kernel in BENCHMARKS
            for factor in factors
            for p in (MIDDLE_PROCESSES, MAX_PROCESSES)
        )
        yield Part(part, machine, tuple(map(catalog.case, rates)))
    machine, _ = NETWORKS[KERNELS]
    platform = simulated.platform(machine)
    barriers = (
        _line(kernel, platform, MAX_PROCESSES, f"{SKELETON} {inside}")
        for kernel in BENCHMARKS
        for inside in (
            "",
            *(f"barrier_at=iteration barrier={barrier}" for barrier in PLACED_BARRIERS.values()),
        )
    )
    yield Part(BARRIERS, machine, tuple(map(catalog.case, barriers)))


def _line(kernel: str, platform: Platform, processes: int, options: str, factor: float = 1) -> str:
    words = [kernel, f"class={BENCHMARKS[kernel].size}", f"rate={factor * platform.rates[kernel]:.6g}"]
    if kernel in PIPELINED:
        words.append(f"startup={message_startup(platform, processes):.6g}")
    return " ".join([*words, f"ranks={processes}", options]).rstrip()


def seconds(answers: Answers, kernel: str, processes: int, network: str = KERNELS) -> float | None:
    """The time of a benchmark (s); None also if it did not run on this network."""
    if kernel not in BENCHMARKS_ON.get(network, BENCHMARKS):
        return None
    return answers[network].seconds(kernel, ranks=processes)


def speed_up(answers: Answers, kernel: str, processes: int, network: str = KERNELS) -> float | None:
    one_process_s, parallel_s = (seconds(answers, kernel, p, network) for p in (1, processes))
    return one_process_s / parallel_s if one_process_s and parallel_s else None


def speed_up_at_rate(
    answers: Answers, kernel: str, processes: int, factor: float, network: str = KERNELS
) -> float | None:
    """The speed-up with `factor` times the rate of computing; None also if that did not run."""
    if factor == 1:
        return speed_up(answers, kernel, processes, network)
    part, factors = RATES.get(network, ("", ()))
    if factor not in factors:
        return None
    rate = factor * answers[part].platform.rates[kernel]
    one_process_s = seconds(answers, kernel, 1, network)
    parallel_s = answers[part].seconds(kernel, ranks=processes, rate=rate)
    return one_process_s / factor / parallel_s if one_process_s and parallel_s else None


def rate_for_linear(answers: Answers, kernel: str, network: str = KERNELS) -> float | None:
    """Operations a second with which the speed-up would be almost linear as far as the paper states, if
    everything that is not computing takes as long as it does: for an efficiency e, 1 - e of the time."""
    processes = BENCHMARKS[kernel].linear_to
    one_process_s, parallel_s = (seconds(answers, kernel, p, network) for p in (1, processes))
    if one_process_s is None or parallel_s is None:
        return None
    communication_s = parallel_s - one_process_s / processes
    computing_s = communication_s * ALMOST_LINEAR / (1 - ALMOST_LINEAR)
    return (
        answers[network].platform.rates[kernel] * one_process_s / processes / computing_s
        if computing_s > 0
        else None
    )


# what the paper states


def compare(answers: Answers) -> list[ComparedNumber]:
    """Speed-ups that the paper calls linear."""
    rows = []
    for network, (_, title) in NETWORKS.items():
        mechanism = "" if network == KERNELS else title
        for kernel in BENCHMARKS_ON.get(network, BENCHMARKS):
            benchmark = BENCHMARKS[kernel]
            processes = benchmark.linear_to
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
                    table=f"{TABLE}, {title}" if mechanism else TABLE,
                )
            )
    return rows


def checks(answers: Answers, network: str = KERNELS, factor: float = 1) -> list[Check]:
    """Checks of the paper's description of its figure 12, with `factor` times the rate of computing."""
    return [_speed_up_check(answers, kernel, network, factor) for kernel in BENCHMARKS]


def _speed_up_check(answers: Answers, kernel: str, network: str, factor: float) -> Check:
    benchmark = BENCHMARKS[kernel]
    middle, end = (
        speed_up_at_rate(answers, kernel, p, factor, network) for p in (MIDDLE_PROCESSES, MAX_PROCESSES)
    )
    claim = f"the speed-up of {benchmark.title} is almost linear to {benchmark.linear_to} processes"
    if benchmark.linear_to < MAX_PROCESSES:
        claim += ", then falls off"
    statement = Statement(f"speed-up-{kernel}", "figure 12", claim)
    if middle is None or end is None:
        return statement.unknown()
    if benchmark.linear_to == MAX_PROCESSES:
        holds = end >= ALMOST_LINEAR * MAX_PROCESSES
    else:
        holds = (
            middle >= ALMOST_LINEAR * MIDDLE_PROCESSES
            and end < FALLING_OFF * middle * MAX_PROCESSES / MIDDLE_PROCESSES
        )
    return statement.check(holds, f"{middle:.1f} on {MIDDLE_PROCESSES}, {end:.1f} on {MAX_PROCESSES}")


def summary(answers: Answers) -> tuple[str, ...]:
    """Sentences on which of the paper's statements hold, and on which machine the others would."""
    if all(speed_up(answers, kernel, MAX_PROCESSES) is None for kernel in BENCHMARKS):
        return ()
    as_stated = _benchmarks_as_stated(answers, KERNELS)
    text = (
        "Figure 12 has speed-ups of NAS benchmarks: EP and BT linear to 16 processes; CG, MG and LU to 8, "
        f"then falling off. Simulated, {_title_list(as_stated)} {'is' if len(as_stated) < 2 else 'are'} as "
        f"stated"
    )
    needed = {
        kernel: rate / answers[KERNELS].platform.rates[kernel]
        for kernel in BENCHMARKS
        if kernel not in as_stated and (rate := rate_for_linear(answers, kernel))
    }
    if needed:
        text += (
            f"; {_title_list([*needed])} would need processors of about {min(needed.values()):.0%} to "
            f"{max(needed.values()):.0%} of the assumed speed"
        )
    return tuple(
        filter(None, (f"{text}. {_other_networks_sentence(answers)}".strip(), _myrinet_sentence(answers)))
    )


def _myrinet_sentence(answers: Answers) -> str:
    """A sentence on the paper's second network, for which it prints no number."""
    speed_ups = {
        kernel: speed_up(answers, kernel, MAX_PROCESSES, MYRINET) for kernel in BENCHMARKS_ON[MYRINET]
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
    """A sentence on where more statements hold: on the other networks and at other rates. The paper prints
    neither the rates nor the processes of a node."""
    own_as_stated = set(_benchmarks_as_stated(answers, KERNELS))
    variants = [(network, 1.0) for network in NETWORKS if network not in (KERNELS, MYRINET)]
    variants += [(network, factor) for network, (_, factors) in RATES.items() for factor in factors]
    more_as_stated = {
        NETWORKS[network][1] + (f" and {FACTORS[factor]} of computing" if factor != 1 else ""): as_stated
        for network, factor in variants
        if set(as_stated := _benchmarks_as_stated(answers, network, factor)) - own_as_stated
    }
    variant_list = "; ".join(
        f"{title}: {_title_list(as_stated)}" for title, as_stated in more_as_stated.items()
    )
    return (
        f"On other networks and at other rates, more are as stated: {variant_list}." if more_as_stated else ""
    )


def _benchmarks_as_stated(answers: Answers, network: str, factor: float = 1) -> list[str]:
    checked = zip(BENCHMARKS, checks(answers, network, factor), strict=True)
    return [kernel for kernel, check in checked if check.holds]


def _title_list(kernels: Sequence[str]) -> str:
    return join_words(BENCHMARKS[kernel].title for kernel in kernels) if kernels else "none"


# figures and tables


def sections(answers: Answers) -> list[Section]:
    """The figure of the paper, then the same on other networks, at other rates, and with barriers."""
    return [
        Section(
            "Speed-up of NAS benchmarks",
            figures=(_figure(answers, KERNELS),),
            tables=(_speed_ups_table(answers), _rates_table(answers)),
        ),
        Section(
            "Speed-up on other networks",
            figures=tuple(_figure(answers, network) for network in NETWORKS if network != KERNELS),
            multiples=True,
        ),
        Section("Barriers inside NAS benchmarks", tables=(_barriers_table(answers),)),
    ]


def _figure(answers: Answers, network: str) -> Figure:
    series = [pages.make_series("linear", [(p, float(p)) for p in PROCESSES], "line")]
    for kernel in BENCHMARKS_ON.get(network, BENCHMARKS):
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
        marks=((float(MIDDLE_PROCESSES), "8"),) if network == KERNELS else (),
    )


def _two_decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _rate(value: float | None) -> str:
    return "" if value is None else f"{float(f'{value / 1e6:.2g}'):g} Mop/s"


def _speed_ups_table(answers: Answers) -> Table:
    rows = [
        (
            benchmark.title,
            title,
            *(_two_decimals(speed_up(answers, kernel, p, network)) for p in PROCESSES[1:]),
            _rate(rate_for_linear(answers, kernel, network)),
        )
        for kernel, benchmark in BENCHMARKS.items()
        for network, (_, title) in NETWORKS.items()
        if kernel in BENCHMARKS_ON.get(network, BENCHMARKS)
    ]
    columns = ("benchmark", "network", *map(str, PROCESSES[1:]), "rate for linear")
    return Table(
        "speed-ups",
        "Speed-up, by processes",
        columns,
        tuple(rows),
        numeric=tuple(range(2, len(columns))),
        caption=f"Sizes: {'; '.join(f'{b.title} {b.printed}' for b in BENCHMARKS.values())}. Computing: "
        f"{_assumed_rates(answers)}. With the rate for linear, a speed-up would be {ALMOST_LINEAR:.0%} "
        f"of linear to as many processes as in the paper. {_verification_sentence(answers)}",
    )


def _assumed_rates(answers: Answers) -> str:
    rates: dict[float, list[str]] = {}
    for kernel in BENCHMARKS:
        rates.setdefault(answers[KERNELS].platform.rates[kernel], []).append(kernel)
    return ", ".join(f"{_title_list(kernels)} {_rate(rate)}" for rate, kernels in rates.items())


def _verification_sentence(answers: Answers) -> str:
    """A sentence on how many runs computed; their errors are reported with the part."""
    records = answers[KERNELS].run.records
    right = sum(record.verified.bytes > 0 and not record.verified.errors for record in records)
    return (
        f"On one medium, {right} of {len(records)} runs computed and were verified; all others left the "
        "arithmetic out, which changes no time, and verified nothing."
    )


def _rates_table(answers: Answers) -> Table:
    rows = [
        (
            benchmark.title,
            NETWORKS[network][1],
            str(p),
            *(_two_decimals(speed_up_at_rate(answers, kernel, p, factor, network)) for factor in FACTORS),
        )
        for network in RATES
        for kernel, benchmark in BENCHMARKS.items()
        for p in (MIDDLE_PROCESSES, MAX_PROCESSES)
    ]
    columns = ("benchmark", "network", "processes", *FACTORS.values())
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
        for name, engine in PLACED_BARRIERS.items():
            with_barrier = answers[BARRIERS].seconds(kernel, barrier=engine, barrier_at="iteration")
            barrier_s = answers["barrier" if name == MPI else "algorithms"].seconds(
                "barrier", algorithm=engine, ranks=MAX_PROCESSES
            )
            extra_s = None if with_barrier is None or baseline_s is None else with_barrier - baseline_s
            rows.append(
                (
                    benchmark.title,
                    "MPI_Barrier" if name == MPI else name,
                    _time(baseline_s),
                    _time(extra_s),
                    "" if extra_s is None or not baseline_s else f"{extra_s / baseline_s:+.1%}",
                    _time(None if extra_s is None else extra_s / benchmark.iterations),
                    _time(barrier_s),
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


def _time(value: float | None) -> str:
    return "" if value is None else Amount(format_value(value, "s"), (value,), "s")
