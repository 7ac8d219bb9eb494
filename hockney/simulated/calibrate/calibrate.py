# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration: a survey becomes a platform, with the origin of every number."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import msgspec

from hockney.core.fit import Fit
from hockney.core.platform import Network, NodeGroup, Noise, Origin, Platform
from hockney.core.units import format_bytes, format_rate
from hockney.simulated.calibrate import messages
from hockney.simulated.calibrate.calls import PairMessages, algorithms, calls, sum_cost
from hockney.simulated.calibrate.curve import curve_of
from hockney.simulated.calibrate.overheads import overheads_of
from hockney.simulated.calibrate.segments import origins, pieces, rounded
from hockney.simulated.calibrate.survey import Survey
from hockney.simulated.values import MOST

RANKS = 16384
"""Without --nodes the machine has cores for this many ranks: the largest number with which simulation has
been tested."""
RISE = 1.5
"""A change point is taken as the end of eager sending if the line beyond begins higher by this factor."""
USUAL_EAGER = 65536
HALF = 1.5
"""Bidirectional messages that take this much longer than unidirectional ones share one path."""


@dataclass(frozen=True)
class CalibrationOptions:
    """`nodes` 0: enough for 16384 ranks. `network` describes what is between the nodes."""

    name: str = ""
    nodes: int = 0
    noise: bool = False
    network: Platform | None = None


def calibrate(survey: Survey, wishes: CalibrationOptions | None = None) -> Platform:
    """The machine of `survey`. Raises UsageError or Inconclusive for a run that does not contain enough."""
    wishes = wishes or CalibrationOptions()
    survey.refuse()
    fit = survey.hockney
    assert fit is not None  # ensured by refuse()
    curve = curve_of(fit, survey.one_way, lambda size: survey.reading(survey.ping_pong, size))
    eager, eager_origin = _eager(survey, fit)
    overheads = overheads_of(survey, curve, eager)
    sourced = pieces(curve, overheads)
    segments = tuple(piece.segment for piece in sourced)
    between = wishes.network
    apart = survey.between_nodes and between is None
    sources = list(origins("segments" if apart else "on_node", sourced, survey, overheads))
    summed, sum_origin = sum_cost(survey)
    chosen, chosen_origins = algorithms(survey)
    own, own_origins, notes = calls(survey, PairMessages(segments, eager, summed))
    network, network_origins = _network(survey, wishes)
    if between:
        sources.append(
            Origin(key="segments", status="fitted", source=messages.source_segments_of(between.name))
        )
    elif not apart:
        source = messages.source_as_on_a_node(survey.name)
        sources.append(Origin(key="segments", status="guess", source=source))
        notes.append(messages.note_between_nodes(survey.name))
    poor_fit = fit.why if fit.verdict == "poor" else ""
    if poor_fit:
        notes.append(messages.note_poor_fit(survey.name, fit.line, poor_fit))
    two_modes = fit.two_modes.text if fit.two_modes is not None else ""
    if two_modes:
        notes.insert(0, messages.note_two_modes(survey.name, two_modes))
    if survey.fits.cost == "undisturbed":
        notes.insert(0, messages.note_undisturbed(survey.name))
    noise = Noise(relative=rounded(survey.spread)) if wishes.noise and survey.spread > 0 else None
    if noise:
        source = messages.source_noise(survey.name)
        sources.append(Origin(key="noise.relative", status="fitted", source=source))
    clock = messages.source_clock(survey.name)
    host, mpi = survey.machine.host, survey.machine.mpi
    return Platform(
        name=wishes.name or _name(host),
        title=messages.title(host, survey.name, mpi.title if mpi else ""),
        source=f"hockney calibrate {survey.name}",
        network=network,
        eager=eager,
        segments=between.segments if between else segments,
        on_node=() if apart else segments,
        collectives=chosen,
        sum_s_per_byte=summed,
        calls=own,
        clock_s=rounded(survey.clock_s),
        noise=noise,
        origins=(
            *sources, *network_origins, eager_origin, sum_origin, *chosen_origins, *own_origins,
            Origin(key="clock_s", status="fitted", source=clock),
        ),
        notes=tuple(notes),
        poor_fit=poor_fit,
        two_modes=two_modes,
    )  # fmt: skip


def _name(host: str) -> str:
    """The host's name as a valid machine name."""
    return re.sub(r"[^a-z0-9.-]+", "-", host.lower()).strip("-.")[:60] or "calibrated"


def _eager(survey: Survey, fit: Fit) -> tuple[int, Origin]:
    """The change of protocol: the change point at which the ping-pong's line begins much higher.

    It lies between two measured sizes; the larger is the first that is certainly sent by the other protocol.
    """
    best, switch = RISE, None
    for change, before, after in zip(fit.change_points, fit.segments, fit.segments[1:], strict=False):
        rise = after.latency.value / before.latency.value if before.latency.value > 0 else 0.0
        if rise > best:
            best, switch = rise, change
    if switch is None:
        source = messages.source_usual_eager(survey.name)
        return USUAL_EAGER, Origin(key="eager", status="guess", source=source)
    low, high = (math.ceil(switch.value if end is None else end) for end in (switch.low, switch.high))
    source = messages.source_eager(survey.name, format_bytes(low), format_bytes(high), best)
    return max(high - 1, 0), Origin(key="eager", status="fitted", source=source)


def _network(survey: Survey, wishes: CalibrationOptions) -> tuple[Network, list[Origin]]:
    cores = max(1, survey.machine.cores)
    given = wishes.network
    shape = given.network if given else Network()
    fixed = math.prod(shape.dims or shape.down or shape.dragonfly)
    if fixed > 1 or shape.dims:
        if wishes.nodes and wishes.nodes != fixed:
            raise messages.node_count_of_network(wishes.nodes, fixed, given.name if given else "the network")
        source = messages.source_fixed_network(given.name if given else "")
        return shape, [Origin(key="network", status="fitted", source=source)]
    count = wishes.nodes or -(-RANKS // cores)
    if count * cores > MOST:
        raise messages.too_many_cores(count, cores, MOST)
    nodes = (NodeGroup(count=count, cores=cores),)
    nodes_source = messages.source_nodes(survey.name, cores, 0 if wishes.nodes else RANKS)
    network_origins = [Origin(key="network.nodes", status="guess", source=nodes_source)]
    if given:
        source = messages.source_network(given.name)
        return msgspec.structs.replace(shape, nodes=nodes), [
            Origin(key="network", status="fitted", source=source),
            *network_origins,
        ]
    nic, nic_source = _nic(survey)
    duplex, duplex_source = _duplex(survey)
    network_origins += [
        Origin(key="network.nic", status="fitted" if survey.between_nodes else "guess", source=nic_source),
        Origin(key="network.duplex", status="fitted", source=duplex_source),
        Origin(key="network.shape", status="guess", source=messages.source_shape()),
    ]
    return Network(shape="switch", nodes=nodes, nic=nic, duplex=duplex), network_origins


def _nic(survey: Survey) -> tuple[float, str]:
    """The largest rate at which the pair has sent in one direction."""
    rates = [
        (size / median.value, name)
        for name in (survey.ping_pong, survey.workload("stream", "isend"))
        for size, median in survey.medians(name, buffers="hot").items()
    ]
    rate, name = max(rates)
    return rounded(rate), messages.source_nic(survey.name, name, format_rate(rate), survey.between_nodes)


def _duplex(survey: Survey) -> tuple[str, str]:
    both = survey.medians(survey.workload("point-to-point", "sendrecv"), buffers="hot")
    common = [size for size in both if size in survey.one_way]
    if not common:
        return "full", messages.source_usual_duplex(survey.name)
    size = max(common)
    ratio = both[size].value / survey.one_way[size].value
    source = messages.source_duplex(survey.name, ratio, format_bytes(size))
    return ("half" if ratio > HALF else "full"), source
