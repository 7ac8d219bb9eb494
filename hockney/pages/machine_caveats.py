# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats that follow from the machine: simulated, published, virtual, or with a changing frequency."""

from __future__ import annotations

import math

from hockney import simulated as descriptions
from hockney.core.catalog import PING_PONG
from hockney.core.record import ROUNDING
from hockney.pages.evidence import Evidence
from hockney.pages.messages import surroundings as messages
from hockney.pages.run_caveat import RunCaveat, run_caveat

ROUNDED = 0.01
"""Of a time: more is stated."""
LONG_BYTES = 1 << 18
"""Messages from this size on show a wire's rate: it takes most of their time."""
REACHED = 0.7


def simulated(evidence: Evidence) -> RunCaveat | None:
    if evidence.machine.platform is None:
        return None
    name = evidence.settings.machine or evidence.machine.host
    return run_caveat(messages.simulated(evidence.machine.platform.title, name))


def emulated(evidence: Evidence) -> RunCaveat | None:
    if evidence.machine.emulated is None or wire_not_reached(evidence):
        return None
    return run_caveat(messages.emulated(evidence.machine.emulated.title))


def wire_not_reached(evidence: Evidence) -> RunCaveat | None:
    """Of an emulated Ethernet that this host cannot forward at the described rate, seen at its long
    messages."""
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
    return run_caveat(messages.wire_not_reached(ethernet.title, fastest, ethernet.payload_rate), rates)


def poor_calibration(evidence: Evidence) -> RunCaveat | None:
    platform = evidence.machine.platform
    if platform is None or not platform.poor_fit:
        return None
    return run_caveat(messages.poor_calibration(platform.title, platform.poor_fit))


def two_mode_calibration(evidence: Evidence) -> RunCaveat | None:
    platform = evidence.machine.platform
    if platform is None or not platform.two_modes:
        return None
    return run_caveat(messages.two_mode_calibration(platform.title, platform.two_modes))


def not_computed(evidence: Evidence) -> RunCaveat | None:
    """Of benchmarks without their arithmetic, which only a simulator runs."""
    left_out = {r.case for r in evidence.run.records if r.parsed_case().get("arithmetic") == "none"}
    return run_caveat(messages.not_computed(), left_out) if left_out else None


def overlap(evidence: Evidence) -> RunCaveat | None:
    """A simulator overlaps communication and computation perfectly."""
    platform = evidence.machine.platform
    cases = {m.case.line for m in evidence.measured if m.workload.role == "overlap"}
    if platform is None or not cases:
        return None
    return run_caveat(messages.simulated_overlap(platform.title), cases)


def between_nodes(evidence: Evidence) -> RunCaveat | None:
    """Ranks on more nodes than anybody measured messages between."""
    platform = evidence.machine.platform
    if platform is None or not (reason := descriptions.between_nodes_guessed(platform)):
        return None
    most = platform.nodes[0].cores
    far = {r.case: r.parsed_case().ranks for r in evidence.run.records if r.parsed_case().ranks > most}
    if not far:
        return None
    return run_caveat(messages.between_nodes(platform.title, sorted(set(far.values())), most, reason), far)


def published(evidence: Evidence) -> RunCaveat | None:
    if not evidence.machine.traits.published:
        return None
    return run_caveat(messages.published(evidence.machine.citation, evidence.machine.host))


def imported(evidence: Evidence) -> RunCaveat | None:
    """Few launches need no other caveat: nothing else is known about a mean that was printed."""
    if not evidence.machine.traits.imported:
        return None
    fewest = min((summary.launches for summary in evidence.fits.summaries), default=1)
    return run_caveat(messages.imported(evidence.machine.cpu, fewest))


def rounded(evidence: Evidence) -> RunCaveat | None:
    """Of imported times, those that have too few digits."""
    if not evidence.machine.traits.imported:
        return None
    errors = {r.case: (r.metric(ROUNDING) or 0.0) / r.times_s[0] for r in evidence.run.records if r.times_s}
    coarse = {case: error for case, error in errors.items() if error > ROUNDED}
    return run_caveat(messages.rounded(len(coarse), max(coarse.values())), coarse) if coarse else None


def virtual(evidence: Evidence) -> RunCaveat | None:
    if not evidence.machine.virtual:
        return None
    return run_caveat(messages.virtual(evidence.machine.virtual))


def governor(evidence: Evidence) -> RunCaveat | None:
    if evidence.machine.governor in ("", "performance"):
        return None
    return run_caveat(messages.governor(evidence.machine.governor))
