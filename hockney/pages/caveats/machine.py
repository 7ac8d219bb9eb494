# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""Caveats about the machine: its description, the placement of ranks, and the processors that ranks and
threads shared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from hockney.core.catalog import PING_PONG
from hockney.core.layout import sort_levels
from hockney.core.machine import Machine
from hockney.core.platform import Platform
from hockney.core.record import ROUNDING, Launch
from hockney.core.wording import join_words, plural
from hockney.draw.page import Caveat
from hockney.mpi import families
from hockney.pages.evidence import Evidence, RunCaveat, run_caveat
from hockney.pages.format import format_share, quantity
from hockney.pages.levels import level_phrase

ALL_NUMBERS = "all numbers"
MAX_ROUNDING_ERROR = 0.01
"""Largest relative rounding error of a time without a caveat."""
MIN_LONG_BYTES = 1 << 18
"""Messages of at least this size show the rate of a wire, which takes most of their time."""
MIN_RATE_SHARE = 0.7


def simulated(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.platform is None:
        return
    name = evidence.settings.machine or evidence.machine.host
    yield run_caveat(
        "simulated",
        f"these numbers were simulated on a description of {evidence.machine.platform.title}, not measured",
        f"'hockney machines --show {name}' shows which of its parameters were printed, fitted or guessed",
    )


def emulated(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.emulated is None or any(wire_not_reached(evidence)):
        return
    yield run_caveat(
        "emulated",
        f"the hosts and the wire of {evidence.machine.emulated.title} were emulated: messages take the "
        "described time on the wire, plus the cost of TCP, MPI and waking a rank on this host",
        "for the accuracy, see docs/emulated.md",
    )


def wire_not_reached(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat if long messages show that this host cannot forward messages at the described rate of an
    emulated Ethernet."""
    ethernet = evidence.machine.emulated
    if ethernet is None:
        return
    rates = {
        measured_case.case.line: measured_case.size / measured_case.summary.typical.value
        for measured_case in evidence.of_role(*PING_PONG)
        if measured_case.size >= MIN_LONG_BYTES
        and measured_case.summary.nodes != 1
        and measured_case.summary.typical.value > 0
    }
    max_rate = max(rates.values(), default=math.inf)
    if max_rate >= MIN_RATE_SHARE * ethernet.payload_rate:
        return
    yield run_caveat(
        "wire-not-reached",
        f"long messages reached {quantity(max_rate, 'B/s')}, "
        f"{format_share(max_rate / ethernet.payload_rate)} "
        f"of the emulated wire's {quantity(ethernet.payload_rate, 'B/s')}: this host, and not the wire "
        f"of {ethernet.title}, is the limit",
        "describe a slower wire, or use a faster or less loaded host",
        touches="times of long messages",
        cases=rates,
    )


def calibration(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.platform is not None:
        yield from map(RunCaveat, calibration_caveats(evidence.machine.platform))


def calibration_caveats(platform: Platform) -> Iterator[Caveat]:
    """Yield the caveats about the run from which the description was made."""
    if platform.poor_fit:
        yield Caveat(
            "poor-calibration",
            f"the messages of {platform.title} were calibrated from a poor fit: {platform.poor_fit}",
            ALL_NUMBERS,
            "survey on a quieter machine, or with a larger --budget, and calibrate again",
        )
    if platform.two_modes:
        yield Caveat(
            "two-mode-calibration",
            f"{platform.title} was calibrated from typical times, and {platform.two_modes}: its times are "
            "between both modes",
            ALL_NUMBERS,
            "calibrate again with --cost undisturbed, or from a longer survey",
        )


def not_computed(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat about benchmarks without their arithmetic, which only a simulator can run."""
    affected = {
        record.case for record in evidence.run.records if record.parse_case().get("arithmetic") == "none"
    }
    if affected:
        yield run_caveat(
            "not-computed",
            "computing only took its simulated time (arithmetic=none), so no result was verified",
            "use arithmetic=real, which computes and verifies in the same simulated time",
            cases=affected,
        )


def overlap(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat because a simulator overlaps communication and computation perfectly."""
    platform = evidence.machine.platform
    cases = {
        measured_case.case.line
        for measured_case in evidence.measured
        if measured_case.workload.role == "overlap"
    }
    if platform is None or not cases:
        return
    yield run_caveat(
        "simulated-overlap",
        f"simulated messages on {platform.title} need no processor: messages advance while a rank "
        "computes, whether it calls MPI or not, as on an ideal network interface",
        "use a real machine",
        touches="what computing hides",
        cases=cases,
    )


def between_nodes(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat about ranks on several nodes if messages between nodes were never measured."""
    platform = evidence.machine.platform
    if platform is None:
        return
    ranks = {record.case: record.parse_case().ranks for record in evidence.run.records}
    for caveat in between_nodes_caveats(platform, sorted(set(ranks.values())), "cases"):
        inter_node_cases = (
            case for case, case_ranks in ranks.items() if case_ranks > platform.nodes[0].cores
        )
        yield RunCaveat(caveat, frozenset(inter_node_cases))


def between_nodes_caveats(platform: Platform, ranks: Iterable[int], numbers: str) -> Iterator[Caveat]:
    """Yield a caveat about `numbers` on more ranks than a node has cores, if the cost of messages between
    nodes is a guess."""
    from hockney.machines.simulated import between_nodes_guessed

    node_cores = platform.nodes[0].cores
    inter_node_ranks = [count for count in ranks if count > node_cores]
    if inter_node_ranks and (reason := between_nodes_guessed(platform)):
        yield Caveat(
            "between-nodes",
            f"{join_words(inter_node_ranks)} ranks of {platform.title} are on several nodes; the cost of "
            "messages between "
            f"nodes was not measured and is a guess ({reason})",
            f"{numbers} on more than {plural(node_cores, 'rank')}",
            "calibrate from a survey between two hosts, or with the --network of a machine that states where "
            "its costs are from",
        )


def published(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.traits.published:
        yield run_caveat(
            "published",
            f"these numbers were copied from a publication, not measured here: {evidence.machine.citation}",
            f"'hockney machines --show {evidence.machine.host}' shows which of them contradict each other",
        )


def imported(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat about imported numbers. It replaces the one about few launches: nothing else is known
    about a printed mean."""
    if not evidence.machine.traits.imported:
        return
    min_launches = min((summary.launches for summary in evidence.fits.summaries), default=1)
    interval_text = (
        "one launch does not show how much they vary, so most have no interval"
        if min_launches < 2
        else "intervals are those between launches"
    )
    yield run_caveat(
        "imported",
        f"these numbers were printed by {evidence.machine.cpu}, not measured by hockney: each is one mean of "
        f"a launch; {interval_text}",
        "import the output of several launches, or measure with hockney run --like BENCHMARK",
    )


def rounded(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat about imported times with too few digits."""
    if not evidence.machine.traits.imported:
        return
    errors = {
        record.case: (record.metric(ROUNDING) or 0.0) / record.times_s[0]
        for record in evidence.run.records
        if record.times_s
    }
    coarse_errors = {case: error for case, error in errors.items() if error > MAX_ROUNDING_ERROR}
    if coarse_errors:
        yield run_caveat(
            "rounded-times",
            f"the printed times of {plural(len(coarse_errors), 'case')} have too few digits: rounding "
            "changes them "
            f"by up to {100 * max(coarse_errors.values()):.0f}%",
            "compare longer messages, or measure with hockney",
            cases=coarse_errors,
        )


def virtual(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.virtual:
        yield run_caveat(
            "virtual",
            f"this machine is virtual ({evidence.machine.virtual}): other guests can slow it down "
            "undetected; a mode that lasts longer than the run may be several times as slow or fast",
            "compare several runs before trusting differences",
        )


def governor(evidence: Evidence) -> Iterator[RunCaveat]:
    if evidence.machine.governor in ("", "performance"):
        return
    yield run_caveat(
        "governor",
        f"the processors change their frequency (governor {evidence.machine.governor})",
        "set the governor 'performance', for example with cpupower frequency-set -g performance",
    )


def levels_mixed(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat about cases with ranks at different levels or on different numbers of nodes. The
    launcher places the ranks of cases that name neither. If a case names nodes, the engine selects the same
    ranks of a node in every launch; two ranks then meet at several levels only if the launcher places all
    ranks differently."""
    mixed_cases, places, all_node_counts = set(), set(), set()
    for case, records in evidence.run.by_case().items():
        case_places = {record.place for record in records if record.place}
        node_counts = {record.nodes for record in records if record.nodes}
        if len(case_places) > 1 or len(node_counts) > 1:
            mixed_cases.add(case)
            places |= case_places
            all_node_counts |= node_counts if len(node_counts) > 1 and len(case_places) < 2 else set()
    if not mixed_cases:
        return
    placements = [level_phrase(level) for level in sort_levels(places)] if len(places) > 1 else []
    if all_node_counts:
        placements.append(f"on {join_words(sorted(all_node_counts))} nodes")
    yield run_caveat(
        "mixed-levels",
        f"{plural(len(mixed_cases), 'case')} ran at different levels in different launches "
        f"({join_words(placements)}): "
        "the typical times are a mixture",
        "name the level or the nodes in the case, with place= or nodes=",
        cases=mixed_cases,
    )


def parse_cpu_list(cpu_list: str) -> set[int]:
    """Parse a list such as "0-2,8" into processor numbers; the set is empty if the text is not a list."""
    numbers: set[int] = set()
    for part in cpu_list.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            numbers.update(range(int(first), min(int(last or first), int(first) + 65536) + 1))
    return numbers


def is_oversubscribed(launch: Launch, machine: Machine) -> bool:
    """Check whether a host runs more ranks than it has processors for them."""
    cpu_lists_by_host: dict[str, list[str]] = {}
    for rank in launch.ranks:
        cpu_lists_by_host.setdefault(rank.host, []).append(rank.cpus)
    for host_name, cpu_lists in cpu_lists_by_host.items():
        cpus = {cpu for cpu_list in cpu_lists for cpu in parse_cpu_list(cpu_list)}
        if cpus and len(cpu_lists) > len(cpus):
            return True
        if not cpus and host_name == machine.host and len(cpu_lists) > machine.threads:
            return True
    return False


def is_bound(cpu_list: str, machine: Machine) -> bool:
    """Check whether a rank with these processors is bound to a core. It may use all hardware threads of the
    core."""
    threads_per_core = -(-machine.threads // max(1, machine.cores))
    return 0 < len(parse_cpu_list(cpu_list)) <= threads_per_core


THREADS_ROLE = "threads"
"""The role of workloads with several threads in each rank."""
OFF_VALUES = ("", "0", "no", "off", "false", "disable")
"""Values of a variable that disable MPI's progress thread."""


def threads_share_cores(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat about ranks with more threads than processors: their threads alternate instead of
    running simultaneously."""
    launches = {launch.launch: launch for launch in evidence.run.launches}
    shortages: dict[str, tuple[int, int]] = {}
    for measured_case in evidence.of_role(THREADS_ROLE):
        threads = int(measured_case.case.number("threads"))
        for record in evidence.run.by_case().get(measured_case.case.line, []):
            cpu_counts = [len(parse_cpu_list(rank.cpus)) for rank in launches[record.launch].ranks]
            if cpu_counts and 0 < min(cpu_counts) < threads:
                shortages[measured_case.case.line] = (threads, min(cpu_counts))
    if not shortages:
        return
    threads, cpus = max(shortages.values(), key=lambda each: each[0] / each[1])
    yield run_caveat(
        "threads-share-cores",
        f"the {threads} threads of a rank share {plural(cpus, 'processor')}: they communicate in turn, "
        "not at the same time",
        "leave ranks unbound (--no-bind), or bind each to several cores (--mpiexec-args)",
        cases=shortages,
    )


def progress_thread_shares_core(evidence: Evidence) -> Iterator[RunCaveat]:
    """Yield a caveat about launches with a progress thread if a rank has a single processor, or the ranks of
    a host have fewer processors than threads."""
    machine_variables = evidence.machine.settings or {}
    affected_launches = set()
    for launch in evidence.run.launches:
        rank_cpus = [parse_cpu_list(rank.cpus) for rank in launch.ranks]
        is_short = len(set().union(*rank_cpus)) < 2 * len(rank_cpus) / max(1, len(launch.hosts))
        if (
            has_progress_thread(machine_variables | launch.variables)
            and all(rank_cpus)
            and (min(map(len, rank_cpus)) == 1 or is_short)
        ):
            affected_launches.add(launch.launch)
    if affected_launches:
        yield run_caveat(
            "progress-thread-shares-core",
            "MPI's progress thread shares a processor with its rank: each waits while the other runs",
            "use fewer ranks and leave them unbound (--no-bind), or bind each to several cores "
            "(--mpiexec-args)",
            cases={record.case for record in evidence.run.records if record.launch in affected_launches},
        )


def has_progress_thread(variables: Mapping[str, str]) -> bool:
    """Check whether these variables of a launch enable a progress thread."""
    names = (name for family in families() for name in family.progress_variables)
    return any(variables.get(name, "").lower() not in OFF_VALUES for name in names)
