# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats about the machine, and about numbers that nothing here measured.
If `touches` is empty, the affected cases are listed."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.wording import plural, together
from hockney.draw.page import Caveat
from hockney.pages.format import percent, quantity


def coarse_clock(resolution_s: float, cases: int) -> Caveat:
    return Caveat(
        "clock",
        f"the clock is too coarse for {plural(cases, 'case')}: it has steps of {quantity(resolution_s, 's')}",
        "",
        "time many operations together (sync=loop), or measure larger sizes",
    )


def oversubscribed(ranks: Sequence[int]) -> Caveat:
    return Caveat(
        "oversubscribed",
        f"{together(ranks)} ranks share fewer processors: the times include the scheduler",
        f"cases on {together(ranks)} ranks",
        "use fewer ranks (--ranks) or a larger machine",
    )


def unbound(free: int, launches: int) -> Caveat:
    return Caveat(
        "unbound",
        "ranks may move between processors, which occasionally adds long times",
        "" if free == launches else f"{plural(free, 'launch', 'launches')} of {launches}",
        "leave out --no-bind, or let the launcher bind them",
    )


def threads_share_cores(threads: int, processors: int) -> Caveat:
    """Each rank has this many `threads`, bound to fewer `processors`."""
    return Caveat(
        "threads-share-cores",
        f"the {threads} threads of a rank share {plural(processors, 'processor')}: they communicate in turn, "
        "not at the same time",
        "",
        "leave ranks unbound (--no-bind), or bind each to several cores (--mpiexec-args)",
    )


def simulated_overlap(machine: str) -> Caveat:
    return Caveat(
        "simulated-overlap",
        f"simulated messages on {machine} need no processor: they proceed while a rank computes, as on an "
        "ideal network interface, whether it calls MPI or not",
        "what computing hides",
        "use a real machine",
    )


def progress_thread_shares_core() -> Caveat:
    return Caveat(
        "progress-thread-shares-core",
        "MPI's progress thread shares a processor with its rank: each waits while the other runs",
        "",
        "use fewer ranks and leave them unbound (--no-bind), or bind each to several cores (--mpiexec-args)",
    )


def load(
    cores: float, steal: float, loaded: int, launches: int, cases: int, counted: int, fewest_quiet: int
) -> Caveat:
    """The most that other programs used of the processors in one launch, and that the hypervisor took; 0 if
    that is not much. `loaded` of the `launches` had a high load; they measured `cases`, of which `counted`
    include them because they have less than `fewest_quiet` others."""
    facts = [f"other programs used up to {cores:.2f} processors"] if cores else []
    if steal:
        facts.append(f"the hypervisor took up to {percent(steal)} of the processors' time")
    verb = "is" if loaded == 1 else "are"
    use = f"{verb} included because fewer than {fewest_quiet} quiet ones exist"
    if counted < cases:
        use = f"{verb} excluded from {plural(cases - counted, 'case')}"
    if 0 < counted < cases:
        use += f", but included in {counted} with fewer than {fewest_quiet} quiet ones"
    text = (
        f"during a launch, {' and '.join(facts)}; {loaded} of {plural(launches, 'launch', 'launches')} had a "
        f"high load and {use}"
    )
    remedy = (
        "stop them and measure again" if cores else "measure again later, or on a machine that is not shared"
    )
    remedy += ", or give more time (--budget) for launches to replace them"
    return Caveat("load", text, "", remedy)


def simulated_on(title: str) -> str:
    return f"Simulated on a description of {title}, not measured."


def assumed_network() -> str:
    return "Assumed network: nobody has measured messages between the nodes of this machine."


def under_load(loaded: int, launches: int) -> str:
    of = plural(launches, "launch", "launches")
    return f"{loaded} of {of} had a high load: the numbers below are those of a busy machine."


def virtual(kind: str) -> Caveat:
    return Caveat(
        "virtual",
        f"this machine is virtual ({kind}): other guests can slow it down undetected; a mode that "
        "lasts longer than the run may be several times as slow or fast",
        "",
        "compare several runs before trusting differences",
    )


def governor(name: str) -> Caveat:
    return Caveat(
        "governor",
        f"the processors change their frequency (governor {name})",
        "",
        "set the governor 'performance', for example with cpupower frequency-set -g performance",
    )


def survey_elsewhere(where: str, differences: Sequence[str]) -> Caveat:
    return Caveat(
        "survey",
        f"message costs are from the survey {where}, made on another machine or with other settings: "
        f"{'; '.join(differences)}",
        "all predictions",
        "survey this machine with 'hockney survey'",
    )


def fake() -> Caveat:
    return Caveat(
        "fake",
        "these numbers were made up by the fake machine",
        "",
        "leave out --machine fake, or unset HOCKNEY_MACHINE, to measure",
    )


def simulated(title: str, machine: str) -> Caveat:
    """`machine` as typed."""
    return Caveat(
        "simulated",
        f"these numbers were simulated on a description of {title}, not measured",
        "",
        f"'hockney machines --show {machine}' shows which of its parameters were printed, fitted or guessed",
    )


def emulated(title: str) -> Caveat:
    return Caveat(
        "emulated",
        f"the hosts and the wire of {title} were emulated: messages take the described time on the wire, and "
        "in addition what TCP, MPI and waking a rank cost on this host",
        "",
        "for the accuracy, see docs/emulated.md",
    )


def wire_not_reached(title: str, reached: float, rate: float) -> Caveat:
    """In bytes a second."""
    return Caveat(
        "wire-not-reached",
        f"long messages reached {quantity(reached, 'B/s')}, {percent(reached / rate)} of the emulated "
        f"wire's {quantity(rate, 'B/s')}: this host, and not the wire of {title}, is the limit",
        "times of long messages",
        "describe a slower wire, or use a faster or less loaded host",
    )


def poor_calibration(title: str, reason: str) -> Caveat:
    return Caveat(
        "poor-calibration",
        f"the messages of {title} were calibrated from a poor fit: {reason}",
        "",
        "survey on a quieter machine, or with a larger --budget, and calibrate again",
    )


def two_mode_calibration(title: str, found: str) -> Caveat:
    return Caveat(
        "two-mode-calibration",
        f"{title} was calibrated from typical times, and {found}: its times are between both modes",
        "",
        "calibrate again with --cost undisturbed, or from a longer survey",
    )


def not_computed() -> Caveat:
    return Caveat(
        "not-computed",
        "computing only took its simulated time (arithmetic=none), so no result was verified",
        "",
        "use arithmetic=real, which computes and verifies in the same simulated time",
    )


def between_nodes(title: str, ranks: Sequence[int], most: int, reason: str) -> Caveat:
    """A node has room for `most` ranks; `reason` is why the cost is a guess."""
    return Caveat(
        "between-nodes",
        f"{together(ranks)} ranks of {title} are on several nodes; the cost of messages between nodes was "
        f"not measured and is a guess ({reason})",
        f"cases on more than {plural(most, 'rank')}",
        "calibrate from a survey between two hosts, or with the --network of a machine that states where its "
        "costs are from",
    )


def published(citation: str, machine: str) -> Caveat:
    return Caveat(
        "published",
        f"these numbers were copied from a publication, not measured here: {citation}",
        "",
        f"'hockney machines --show {machine}' shows which of them contradict each other",
    )


def imported(benchmark: str, launches: int) -> Caveat:
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


def rounded(cases: int, share: float) -> Caveat:
    """By up to this `share`."""
    return Caveat(
        "rounded-times",
        f"the printed times of {plural(cases, 'case')} have too few digits: rounding changes them by up to "
        f"{100 * share:.0f}%",
        "",
        "compare longer messages, or measure with hockney",
    )
