# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration: a survey becomes a platform, with the origin of every number."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from hockney.core.errors import UsageError
from hockney.core.fit import Fit
from hockney.core.platform import CALLED, Network, NodeGroup, Noise, Origin, Platform, Segment, Status
from hockney.core.units import format_bytes, format_rate
from hockney.machines.descriptions.values import MOST
from hockney.machines.simulated.calibrate.calls import PairMessages, algorithms, calls, collective, sum_cost
from hockney.machines.simulated.calibrate.curve import Curve, curve_of
from hockney.machines.simulated.calibrate.segments import origins, overheads_of, pieces, rounded
from hockney.machines.simulated.calibrate.survey import Survey
from hockney.machines.simulated.queries import covers, passed_on
from hockney.mpi import title_of

RANKS = 16384
"""Without --nodes the machine has cores for this many ranks: the largest number with which simulation has
been tested."""
RISE = 1.5
"""A change point is taken as the end of eager sending if the line beyond begins higher by this factor."""
DEFAULT_EAGER_LIMIT = 65536
HALF = 1.5
"""Bidirectional messages that take this much longer than unidirectional ones share one path."""


@dataclass(frozen=True)
class CalibrationOptions:
    """`nodes` 0: those of the run if it measured messages between them and within them, otherwise enough for
    16384 ranks. `network` describes what is between the nodes."""

    name: str = ""
    nodes: int = 0
    noise: bool = False
    network: Platform | None = None


def calibrate(survey: Survey, wishes: CalibrationOptions | None = None) -> Platform:
    """The machine of `survey`. Raises UsageError or Inconclusive for a run that does not contain enough."""
    wishes = wishes or CalibrationOptions()
    levels = [_level(each) for each in survey.levels]
    eager, eager_origin = _eager_of(levels)
    near = next((each for each in levels if not each.survey.between_nodes), None)
    far = next((each for each in levels if each.survey.between_nodes), None)
    between = wishes.network
    apart = far is not None and between is None
    segments, on_node, sources, notes = _segments(near, far, eager, between)
    # Operations on 2 ranks of one node, where messages hide less, tell most about a call.
    together = [each.survey for each in levels if any(collective(each.survey, name) for name in CALLED)]
    pair = together[0] if together else levels[0].survey
    messages_of_pair = segments if pair.between_nodes and apart else on_node or segments
    summed, sum_origin = sum_cost(pair)
    chosen, chosen_origins = algorithms(survey)
    own, own_origins, call_notes = calls(pair, PairMessages(messages_of_pair, eager, summed))
    notes = [*call_notes, *notes]
    network, network_origins = _network((far or levels[0]).survey, wishes, both=near is not None and apart)
    poor = [each.fit for each in levels if each.fit.verdict == "poor"]
    notes += [note_poor_fit(survey.name, fit.line, fit.why) for fit in poor]
    in_modes = [each.fit.two_modes.text for each in levels if each.fit.two_modes is not None]
    notes = [*(note_two_modes(survey.name, found) for found in in_modes), *notes]
    if survey.fits.cost == "undisturbed":
        notes.insert(0, note_undisturbed(survey.name))
    spread = max(each.survey.spread for each in levels)
    noise = Noise(relative=rounded(spread)) if wishes.noise and spread > 0 else None
    if noise:
        source = (
            f"the median spread within launches of the ping-pongs of {survey.name}: interquartile range / "
            "1.349"
        )
        sources.append(Origin(key="noise.relative", status="fitted", source=source))
    clock = f"the cost of reading the clock in {survey.name}, or a tenth of its resolution if that is larger"
    host, mpi = survey.machine.host, survey.machine.mpi
    return Platform(
        name=wishes.name or _name(host),
        title=_title(host, survey.name, title_of(mpi) if mpi else ""),
        source=f"hockney calibrate {survey.name}",
        network=network,
        eager=eager,
        segments=segments,
        on_node=on_node,
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
        poor_fit=poor[0].why if poor else "",
        two_modes=in_modes[0] if in_modes else "",
    )  # fmt: skip


@dataclass(frozen=True)
class MeasuredLevel:
    """Messages between ranks that meet at one level."""

    survey: Survey
    fit: Fit
    curve: Curve


def _level(survey: Survey) -> MeasuredLevel:
    survey.refuse()
    fit = survey.hockney
    assert fit is not None  # ensured by refuse()
    curve = curve_of(fit, survey.one_way, lambda size: survey.reading(survey.ping_pong, size))
    return MeasuredLevel(survey, fit, curve)


def _segments(
    near: MeasuredLevel | None, far: MeasuredLevel | None, eager: int, network: Platform | None
) -> tuple[tuple[Segment, ...], tuple[Segment, ...], list[Origin], list[str]]:
    """The segments between nodes and on a node, with their origins and notes. If only messages on a node are
    known, those between nodes are taken to cost the same, or as on another machine; so are those on a node if
    only messages between nodes are known and others replace these."""
    sources: list[Origin] = []

    def of(level: MeasuredLevel, key: str) -> tuple[Segment, ...]:
        overheads = overheads_of(level.survey, level.curve, eager)
        sourced = pieces(level.curve, overheads)
        sources.extend(origins(key, sourced, level.survey, overheads))
        return tuple(piece.segment for piece in sourced)

    if network is not None:
        given = passed_on(network, "segments")
        if near is not None:
            return network.segments, of(near, "on_node"), [*sources, *given], []
        assert far is not None
        on_node, name = of(far, "on_node"), far.survey.name
        guess = Origin(
            key="on_node", status="guess", source=f"as between nodes: {name} has no messages within one"
        )
        return network.segments, on_node, [guess, *given], [note_on_node(name)]
    on_node = of(near, "on_node") if near is not None else ()
    if far is not None:
        return of(far, "segments"), on_node, sources, []
    assert near is not None
    name = near.survey.name
    guess = Origin(key="segments", status="guess", source=f"as on a node: {name} ran on one host")
    return on_node, on_node, [*sources, guess], [note_between_nodes(name)]


def _eager_of(levels: Sequence[MeasuredLevel]) -> tuple[int, Origin]:
    """A machine has one limit: that between nodes, if it shows."""
    found = [_eager(each.survey, each.fit) for each in reversed(levels)]
    return next((each for each in found if each[1].status == "fitted"), found[0])


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
        source = f"the ping-pong of {survey.name} shows no change of protocol; a common limit"
        return DEFAULT_EAGER_LIMIT, Origin(key="eager", status="guess", source=source)
    low, high = (math.ceil(switch.value if end is None else end) for end in (switch.low, switch.high))
    source = (
        f"between {format_bytes(low)} and {format_bytes(high)} the latency of the ping-pong of {survey.name} "
        f"grows {best:.1f} times, as from eager to rendezvous"
    )
    return max(high - 1, 0), Origin(key="eager", status="fitted", source=source)


def _network(survey: Survey, wishes: CalibrationOptions, *, both: bool) -> tuple[Network, list[Origin]]:
    """A run that measured `both` levels has the layout of its ranks too."""
    layout = survey.machine.layout if both else None
    cores = max(1, survey.machine.cores) if layout is None else layout.ranks_per_node
    given = wishes.network
    shape = given.network if given else Network()
    fixed = math.prod(shape.dims or shape.down or shape.dragonfly)
    if fixed > 1 or shape.dims:
        if wishes.nodes and wishes.nodes != fixed:
            network = given.name if given else "the network"
            raise UsageError(
                f"--nodes {wishes.nodes} does not fit {network}, which has {fixed} nodes",
                "its shape determines their number",
                "remove --nodes",
                code="node-count-of-network",
                nodes=wishes.nodes,
                network_nodes=fixed,
            )
        return shape, list(passed_on(given, "network")) if given else []
    count = wishes.nodes or (-(-RANKS // cores) if layout is None else layout.nodes)
    if count * cores > MOST:
        raise UsageError(
            f"{count} nodes with {cores} cores each are too many",
            f"the limit is {MOST} cores",
            "use fewer nodes",
            code="too-many-cores",
            limit=MOST,
        )
    nodes = (NodeGroup(count=count, cores=cores),)
    if layout is None:
        enough = f"enough nodes for {RANKS} ranks; --nodes sets another number"
        number = "--nodes" if wishes.nodes else enough
        nodes_source = f"{cores} cores, according to {survey.name}; {number}"
    else:
        nodes_source = (
            f"{layout.text} ranks in {survey.name}; "
            f"--nodes{'' if (wishes.nodes > 0) else ' sets another number of nodes'}"
        )
    known: Status = "guess" if layout is None or wishes.nodes else "fitted"
    network_origins = [Origin(key="network.nodes", status=known, source=nodes_source)]
    if given:
        others = [each for each in passed_on(given, "network") if not covers("network.nodes", each.key)]
        return msgspec.structs.replace(shape, nodes=nodes), [*others, *network_origins]
    nic, nic_source = _nic(survey)
    duplex, duplex_source = _duplex(survey)
    network_origins += [
        Origin(key="network.nic", status="fitted" if survey.between_nodes else "guess", source=nic_source),
        Origin(key="network.duplex", status="fitted", source=duplex_source),
        Origin(key="network.shape", status="guess", source="a switch without contention"),
    ]
    return Network(shape="switch", nodes=nodes, nic=nic, duplex=duplex), network_origins


def _nic(survey: Survey) -> tuple[float, str]:
    """Highest one-way rate measured for the pair, with its origin."""
    rates = [
        (size / median.value, name)
        for name in (survey.ping_pong, survey.workload("stream", "isend"))
        for size, median in survey.medians(name, buffers="hot").items()
    ]
    rate, name = max(rates)
    where = "" if survey.between_nodes else ", on one host: a guess between hosts"
    return rounded(rate), f"the highest rate of {survey.name}: {name}, {format_rate(rate)}{where}"


def _duplex(survey: Survey) -> tuple[Literal["full", "half"], str]:
    both = survey.medians(survey.workload("point-to-point", "sendrecv"), buffers="hot")
    common = [size for size in both if size in survey.one_way]
    if not common:
        return "full", f"{survey.name} has no bidirectional measurement; full is the most common"
    size = max(common)
    ratio = both[size].value / survey.one_way[size].value
    source = (
        f"in {survey.name}, bidirectional messages of {format_bytes(size)} take {ratio:.2f} times as long as "
        "unidirectional ones"
    )
    return ("half" if ratio > HALF else "full"), source


def _title(host: str, survey: str, mpi: str) -> str:
    """`mpi` is "" if there was none."""
    return f"{host} as measured by {survey} ({mpi or 'no MPI'})"


def note_between_nodes(survey: str) -> str:
    return (
        f"{survey} ran on one host, so the cost of messages between nodes is a guess: as on a node; "
        "--network takes it from another machine"
    )


def note_on_node(survey: str) -> str:
    return (
        f"{survey} has no messages within a node, so their cost is a guess: as between its nodes; a run with "
        "several ranks on each node measures it"
    )


def note_poor_fit(survey: str, fit: str, why: str) -> str:
    return f"the fit of {fit} of {survey} is poor: {why}; results of this machine have a warning"


def note_two_modes(survey: str, found: str) -> str:
    """`found` is the caveat of the ping-pong's fit."""
    return (
        f"in {survey}, {found}: the times are between both, and chance decides where; --cost undisturbed "
        "takes those of the fast mode"
    )


def note_undisturbed(survey: str) -> str:
    return f"the times are undisturbed ones: those of the fast mode of {survey}"
