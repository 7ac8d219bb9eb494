# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""Caveats that follow from the machine, from its description, from where the ranks were, and from the
processors that ranks and threads shared."""

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
from hockney.pages.format import percent, quantity
from hockney.pages.levels import place_words

ALL_NUMBERS = "all numbers"
ROUNDED = 0.01
"""Of a time: more is stated."""
LONG_BYTES = 1 << 18
"""Messages from this size on show a wire's rate: it takes most of their time."""
REACHED = 0.7


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
    """The caveat that this host cannot forward messages at the described rate of an emulated Ethernet, as the
    long ones show."""
    ethernet = evidence.machine.emulated
    if ethernet is None:
        return
    rates = {
        m.case.line: m.size / m.summary.typical.value
        for m in evidence.of_role(*PING_PONG)
        if m.size >= LONG_BYTES and m.summary.nodes != 1 and m.summary.typical.value > 0
    }
    fastest = max(rates.values(), default=math.inf)
    if fastest >= REACHED * ethernet.payload_rate:
        return
    yield run_caveat(
        "wire-not-reached",
        f"long messages reached {quantity(fastest, 'B/s')}, {percent(fastest / ethernet.payload_rate)} "
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
    """The caveats about the run from which the description was made."""
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
    """The caveat about benchmarks without their arithmetic, which only a simulator can run."""
    left_out = {r.case for r in evidence.run.records if r.parse_case().get("arithmetic") == "none"}
    if left_out:
        yield run_caveat(
            "not-computed",
            "computing only took its simulated time (arithmetic=none), so no result was verified",
            "use arithmetic=real, which computes and verifies in the same simulated time",
            cases=left_out,
        )


def overlap(evidence: Evidence) -> Iterator[RunCaveat]:
    """A simulator overlaps communication and computation perfectly."""
    platform = evidence.machine.platform
    cases = {m.case.line for m in evidence.measured if m.workload.role == "overlap"}
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
    """Ranks on more nodes than anybody measured messages between."""
    platform = evidence.machine.platform
    if platform is None:
        return
    ranks = {r.case: r.parse_case().ranks for r in evidence.run.records}
    for caveat in between_nodes_caveats(platform, sorted(set(ranks.values())), "cases"):
        far = (case for case, count in ranks.items() if count > platform.nodes[0].cores)
        yield RunCaveat(caveat, frozenset(far))


def between_nodes_caveats(platform: Platform, ranks: Iterable[int], numbers: str) -> Iterator[Caveat]:
    """The caveat about `numbers` on those of the `ranks` that a node has no room for, if the cost of messages
    between nodes is a guess."""
    from hockney.machines.simulated import between_nodes_guessed

    most = platform.nodes[0].cores
    far = [count for count in ranks if count > most]
    if far and (reason := between_nodes_guessed(platform)):
        yield Caveat(
            "between-nodes",
            f"{join_words(far)} ranks of {platform.title} are on several nodes; the cost of messages between "
            f"nodes was not measured and is a guess ({reason})",
            f"{numbers} on more than {plural(most, 'rank')}",
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
    """Few launches need no other caveat: nothing else is known about a mean that was printed."""
    if not evidence.machine.traits.imported:
        return
    fewest = min((summary.launches for summary in evidence.fits.summaries), default=1)
    spread = (
        "one launch does not show how much they vary, so most have no interval"
        if fewest < 2
        else "intervals are those between launches"
    )
    yield run_caveat(
        "imported",
        f"these numbers were printed by {evidence.machine.cpu}, not measured by hockney: each is one mean of "
        f"a launch; {spread}",
        "import the output of several launches, or measure with hockney run --like BENCHMARK",
    )


def rounded(evidence: Evidence) -> Iterator[RunCaveat]:
    """The caveat about imported times that have too few digits."""
    if not evidence.machine.traits.imported:
        return
    errors = {r.case: (r.metric(ROUNDING) or 0.0) / r.times_s[0] for r in evidence.run.records if r.times_s}
    coarse = {case: error for case, error in errors.items() if error > ROUNDED}
    if coarse:
        yield run_caveat(
            "rounded-times",
            f"the printed times of {plural(len(coarse), 'case')} have too few digits: rounding changes them "
            f"by up to {100 * max(coarse.values()):.0f}%",
            "compare longer messages, or measure with hockney",
            cases=coarse,
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
    """The caveat about cases whose ranks met at different levels or on different numbers of nodes: those that
    name neither, whose ranks the launcher places. If a case names nodes, the engine takes the same ranks of a
    node in every launch: two ranks then meet at several levels only if the launcher places all of them
    differently."""
    mixed, places, counts = set(), set(), set()
    for case, records in evidence.run.by_case().items():
        met = {record.place for record in records if record.place}
        on = {record.nodes for record in records if record.nodes}
        if len(met) > 1 or len(on) > 1:
            mixed.add(case)
            places |= met
            counts |= on if len(on) > 1 and len(met) < 2 else set()
    if not mixed:
        return
    where = [place_words(level) for level in sort_levels(places)] if len(places) > 1 else []
    if counts:
        where.append(f"on {join_words(sorted(counts))} nodes")
    yield run_caveat(
        "mixed-levels",
        f"{plural(len(mixed), 'case')} ran at different levels in different launches ({join_words(where)}): "
        "the typical times are a mixture",
        "name the level or the nodes in the case, with place= or nodes=",
        cases=mixed,
    )


def processors(mask: str) -> set[int]:
    """ "0-2,8" as numbers; empty if it is not such a list."""
    cpus: set[int] = set()
    for part in mask.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            cpus.update(range(int(first), min(int(last or first), int(first) + 65536) + 1))
    return cpus


def crowded(launch: Launch, machine: Machine) -> bool:
    """Whether more ranks run on a host than it has processors for them."""
    hosts: dict[str, list[str]] = {}
    for rank in launch.ranks:
        hosts.setdefault(rank.host, []).append(rank.cpus)
    for host, masks in hosts.items():
        cpus = {cpu for mask in masks for cpu in processors(mask)}
        if cpus and len(masks) > len(cpus):
            return True
        if not cpus and host == machine.host and len(masks) > machine.threads:
            return True
    return False


def bound(mask: str, machine: Machine) -> bool:
    """Whether a rank with this mask is bound to a core, of which it may use all hardware threads."""
    threads = -(-machine.threads // max(1, machine.cores))
    return 0 < len(processors(mask)) <= threads


THREADS = "threads"
"""The role of workloads with several threads in each rank."""
OFF = ("", "0", "no", "off", "false", "disable")
"""Values of a variable that switch MPI's progress thread off."""


def threads_share_cores(evidence: Evidence) -> Iterator[RunCaveat]:
    """Threads of a rank with fewer processors than threads: they take turns instead of running at the same
    time."""
    launches = {launch.launch: launch for launch in evidence.run.launches}
    few: dict[str, tuple[int, int]] = {}
    for m in evidence.of_role(THREADS):
        threads = int(m.case.number("threads"))
        for record in evidence.run.by_case().get(m.case.line, []):
            masks = [len(processors(rank.cpus)) for rank in launches[record.launch].ranks]
            if masks and 0 < min(masks) < threads:
                few[m.case.line] = (threads, min(masks))
    if not few:
        return
    threads, cpus = max(few.values(), key=lambda each: each[0] / each[1])
    yield run_caveat(
        "threads-share-cores",
        f"the {threads} threads of a rank share {plural(cpus, 'processor')}: they communicate in turn, "
        "not at the same time",
        "leave ranks unbound (--no-bind), or bind each to several cores (--mpiexec-args)",
        cases=few,
    )


def progress_thread_shares_core(evidence: Evidence) -> Iterator[RunCaveat]:
    """Launches with a progress thread whose ranks have a single processor each, or fewer than threads on a
    host together."""
    machine = evidence.machine.settings or {}
    sharing = set()
    for launch in evidence.run.launches:
        masks = [processors(rank.cpus) for rank in launch.ranks]
        few = len(set().union(*masks)) < 2 * len(masks) / max(1, len(launch.hosts))
        if switched_on(machine | launch.variables) and all(masks) and (min(map(len, masks)) == 1 or few):
            sharing.add(launch.launch)
    if sharing:
        yield run_caveat(
            "progress-thread-shares-core",
            "MPI's progress thread shares a processor with its rank: each waits while the other runs",
            "use fewer ranks and leave them unbound (--no-bind), or bind each to several cores "
            "(--mpiexec-args)",
            cases={r.case for r in evidence.run.records if r.launch in sharing},
        )


def switched_on(variables: Mapping[str, str]) -> bool:
    """Whether these variables of a launch switch a progress thread on."""
    names = (name for family in families() for name in family.progress_variables)
    return any(variables.get(name, "").lower() not in OFF for name in names)
