# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""Caveats that follow from the machine, from its description, from where the ranks were, and from the
processors that ranks and threads shared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hockney.core.catalog import PING_PONG
from hockney.core.layout import sort_levels
from hockney.core.machine import Machine
from hockney.core.record import ROUNDING, Launch
from hockney.core.wording import join_words, plural
from hockney.draw.page import Caveat
from hockney.mpi import families
from hockney.pages.evidence import Evidence, RunCaveat, run_caveat
from hockney.pages.format import percent, quantity
from hockney.pages.levels import place_words

ROUNDED = 0.01
"""Of a time: more is stated."""
LONG_BYTES = 1 << 18
"""Messages from this size on show a wire's rate: it takes most of their time."""
REACHED = 0.7


def simulated(evidence: Evidence) -> RunCaveat | None:
    if evidence.machine.platform is None:
        return None
    name = evidence.settings.machine or evidence.machine.host
    return run_caveat(
        Caveat(
            "simulated",
            f"these numbers were simulated on a description of {evidence.machine.platform.title}, not "
            "measured",
            "",
            f"'hockney machines --show {name}' shows which of its parameters were printed, fitted or guessed",
        )
    )


def emulated(evidence: Evidence) -> RunCaveat | None:
    if evidence.machine.emulated is None or wire_not_reached(evidence):
        return None
    return run_caveat(
        Caveat(
            "emulated",
            f"the hosts and the wire of {evidence.machine.emulated.title} were emulated: messages take the "
            "described time on the wire, plus the cost of TCP, MPI and waking a rank on this host",
            "",
            "for the accuracy, see docs/emulated.md",
        )
    )


def wire_not_reached(evidence: Evidence) -> RunCaveat | None:
    """The caveat that this host cannot forward messages at the described rate of an emulated Ethernet, as the
    long ones show."""
    ethernet = evidence.machine.emulated
    if ethernet is None:
        return None
    rates = {
        m.case.line: m.size / m.summary.typical.value
        for m in evidence.of_role(*PING_PONG)
        if m.size >= LONG_BYTES and m.summary.nodes != 1 and m.summary.typical.value > 0
    }
    fastest = max(rates.values(), default=math.inf)
    if fastest >= REACHED * ethernet.payload_rate:
        return None
    return run_caveat(
        Caveat(
            "wire-not-reached",
            f"long messages reached {quantity(fastest, 'B/s')}, {percent(fastest / ethernet.payload_rate)} "
            f"of the emulated wire's {quantity(ethernet.payload_rate, 'B/s')}: this host, and not the wire "
            f"of {ethernet.title}, is the limit",
            "times of long messages",
            "describe a slower wire, or use a faster or less loaded host",
        ),
        rates,
    )


def poor_calibration(evidence: Evidence) -> RunCaveat | None:
    platform = evidence.machine.platform
    if platform is None or not platform.poor_fit:
        return None
    return run_caveat(
        Caveat(
            "poor-calibration",
            f"the messages of {platform.title} were calibrated from a poor fit: {platform.poor_fit}",
            "",
            "survey on a quieter machine, or with a larger --budget, and calibrate again",
        )
    )


def two_mode_calibration(evidence: Evidence) -> RunCaveat | None:
    platform = evidence.machine.platform
    if platform is None or not platform.two_modes:
        return None
    return run_caveat(
        Caveat(
            "two-mode-calibration",
            f"{platform.title} was calibrated from typical times, and {platform.two_modes}: its times are "
            "between both modes",
            "",
            "calibrate again with --cost undisturbed, or from a longer survey",
        )
    )


def not_computed(evidence: Evidence) -> RunCaveat | None:
    """The caveat about benchmarks without their arithmetic, which only a simulator can run."""
    left_out = {r.case for r in evidence.run.records if r.parse_case().get("arithmetic") == "none"}
    return (
        run_caveat(
            Caveat(
                "not-computed",
                "computing only took its simulated time (arithmetic=none), so no result was verified",
                "",
                "use arithmetic=real, which computes and verifies in the same simulated time",
            ),
            left_out,
        )
        if left_out
        else None
    )


def overlap(evidence: Evidence) -> RunCaveat | None:
    """A simulator overlaps communication and computation perfectly."""
    platform = evidence.machine.platform
    cases = {m.case.line for m in evidence.measured if m.workload.role == "overlap"}
    if platform is None or not cases:
        return None
    return run_caveat(
        Caveat(
            "simulated-overlap",
            f"simulated messages on {platform.title} need no processor: messages advance while a rank "
            "computes, whether it calls MPI or not, as on an ideal network interface",
            "what computing hides",
            "use a real machine",
        ),
        cases,
    )


def between_nodes(evidence: Evidence) -> RunCaveat | None:
    """Ranks on more nodes than anybody measured messages between."""
    platform = evidence.machine.platform
    if platform is None:
        return None
    from hockney.machines.simulated import between_nodes_guessed

    if not (reason := between_nodes_guessed(platform)):
        return None
    most = platform.nodes[0].cores
    far = {r.case: r.parse_case().ranks for r in evidence.run.records if r.parse_case().ranks > most}
    if not far:
        return None
    return run_caveat(
        Caveat(
            "between-nodes",
            f"{join_words(sorted(set(far.values())))} ranks of {platform.title} are on several nodes; the "
            f"cost of messages between nodes was not measured and is a guess ({reason})",
            f"cases on more than {plural(most, 'rank')}",
            "calibrate from a survey between two hosts, or with the --network of a machine that states where "
            "its costs are from",
        ),
        far,
    )


def published(evidence: Evidence) -> RunCaveat | None:
    if not evidence.machine.traits.published:
        return None
    return run_caveat(
        Caveat(
            "published",
            f"these numbers were copied from a publication, not measured here: {evidence.machine.citation}",
            "",
            f"'hockney machines --show {evidence.machine.host}' shows which of them contradict each other",
        )
    )


def imported(evidence: Evidence) -> RunCaveat | None:
    """Few launches need no other caveat: nothing else is known about a mean that was printed."""
    if not evidence.machine.traits.imported:
        return None
    fewest = min((summary.launches for summary in evidence.fits.summaries), default=1)
    return run_caveat(_imported(evidence.machine.cpu, fewest))


def rounded(evidence: Evidence) -> RunCaveat | None:
    """The caveat about imported times that have too few digits."""
    if not evidence.machine.traits.imported:
        return None
    errors = {r.case: (r.metric(ROUNDING) or 0.0) / r.times_s[0] for r in evidence.run.records if r.times_s}
    coarse = {case: error for case, error in errors.items() if error > ROUNDED}
    return (
        run_caveat(
            Caveat(
                "rounded-times",
                f"the printed times of {plural(len(coarse), 'case')} have too few digits: rounding changes "
                f"them by up to {100 * max(coarse.values()):.0f}%",
                "",
                "compare longer messages, or measure with hockney",
            ),
            coarse,
        )
        if coarse
        else None
    )


def virtual(evidence: Evidence) -> RunCaveat | None:
    if not evidence.machine.virtual:
        return None
    return run_caveat(
        Caveat(
            "virtual",
            f"this machine is virtual ({evidence.machine.virtual}): other guests can slow it down "
            "undetected; a mode that lasts longer than the run may be several times as slow or fast",
            "",
            "compare several runs before trusting differences",
        )
    )


def governor(evidence: Evidence) -> RunCaveat | None:
    if evidence.machine.governor in ("", "performance"):
        return None
    return run_caveat(
        Caveat(
            "governor",
            f"the processors change their frequency (governor {evidence.machine.governor})",
            "",
            "set the governor 'performance', for example with cpupower frequency-set -g performance",
        )
    )


def _imported(benchmark: str, launches: int) -> Caveat:
    """`launches` of the case that has the fewest."""
    spread = (
        "one launch does not show how much they vary, so most have no interval"
        if launches < 2
        else "intervals are those between launches"
    )
    return Caveat(
        "imported",
        f"these numbers were printed by {benchmark}, not measured by hockney: each is one mean of a launch; "
        f"{spread}",
        "",
        "import the output of several launches, or measure with hockney run --like BENCHMARK",
    )


def levels_mixed(evidence: Evidence) -> RunCaveat | None:
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
        return None
    words = [place_words(level) for level in sort_levels(places)] if len(places) > 1 else []
    return run_caveat(_mixed_levels(len(mixed), words, sorted(counts)), mixed)


def _mixed_levels(cases: int, places: Sequence[str], nodes: Sequence[int]) -> Caveat:
    """`places` are the levels of pairs, in words, `nodes` the numbers of nodes of other cases."""
    where = [*places, *([f"on {join_words(nodes)} nodes"] if nodes else [])]
    return Caveat(
        "mixed-levels",
        f"{plural(cases, 'case')} ran at different levels in different launches "
        f"({join_words(where)}): the typical times are a mixture",
        "",
        "name the level or the nodes in the case, with place= or nodes=",
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


def threads_share_cores(evidence: Evidence) -> RunCaveat | None:
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
        return None
    threads, cpus = max(few.values(), key=lambda each: each[0] / each[1])
    return run_caveat(
        Caveat(
            "threads-share-cores",
            f"the {threads} threads of a rank share {plural(cpus, 'processor')}: they communicate in turn, "
            "not at the same time",
            "",
            "leave ranks unbound (--no-bind), or bind each to several cores (--mpiexec-args)",
        ),
        few,
    )


def progress_thread_shares_core(evidence: Evidence) -> RunCaveat | None:
    """Launches with a progress thread whose ranks have a single processor each, or fewer than threads on a
    host together."""
    machine = evidence.machine.settings or {}
    sharing = set()
    for launch in evidence.run.launches:
        masks = [processors(rank.cpus) for rank in launch.ranks]
        few = len(set().union(*masks)) < 2 * len(masks) / max(1, len(launch.hosts))
        if switched_on(machine | launch.variables) and all(masks) and (min(map(len, masks)) == 1 or few):
            sharing.add(launch.launch)
    if not sharing:
        return None
    return run_caveat(
        Caveat(
            "progress-thread-shares-core",
            "MPI's progress thread shares a processor with its rank: each waits while the other runs",
            "",
            "use fewer ranks and leave them unbound (--no-bind), or bind each to several cores "
            "(--mpiexec-args)",
        ),
        {r.case for r in evidence.run.records if r.launch in sharing},
    )


def switched_on(variables: Mapping[str, str]) -> bool:
    """Whether these variables of a launch switch a progress thread on."""
    names = (name for family in families() for name in family.progress_variables)
    return any(variables.get(name, "").lower() not in OFF for name in names)
