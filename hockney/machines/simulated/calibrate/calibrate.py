# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration: converts a survey to a platform, with the origin of every number."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from hockney.core.errors import UsageError
from hockney.core.fit import Fit
from hockney.core.platform import (
    OPERATIONS_WITH_CALL_COSTS,
    Network,
    NodeGroup,
    Noise,
    Origin,
    Platform,
    Segment,
    Status,
)
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
    """Options of a calibration. `nodes` is the number of nodes (0: those of the run if it measured messages
    between and within nodes, otherwise enough for 16384 ranks). `network` describes the network between the
    nodes."""

    name: str = ""
    nodes: int = 0
    noise: bool = False
    network: Platform | None = None


def calibrate(survey: Survey, options: CalibrationOptions | None = None) -> Platform:
    """Calibrate the machine of `survey`. Raises UsageError or Inconclusive if the run does not contain enough
    data."""
    options = options or CalibrationOptions()
    levels = [_measure_level(level_) for level_ in survey.levels]
    eager, eager_origin = _eager_limit_of(levels)
    node_level = next((level_ for level_ in levels if not level_.survey.between_nodes), None)
    network_level = next((level_ for level_ in levels if level_.survey.between_nodes), None)
    network_description = options.network
    measured_network = network_level is not None and network_description is None
    segments, on_node, sources, notes = _segments(node_level, network_level, eager, network_description)
    # Operations on 2 ranks of one node, where messages hide less, tell most about a call.
    collective_surveys = [
        level_.survey
        for level_ in levels
        if any(collective(level_.survey, name) for name in OPERATIONS_WITH_CALL_COSTS)
    ]
    pair = collective_surveys[0] if collective_surveys else levels[0].survey
    messages_of_pair = segments if pair.between_nodes and measured_network else on_node or segments
    sum_s_per_byte, sum_origin = sum_cost(pair)
    chosen_algorithms, chosen_origins = algorithms(survey)
    call_costs, call_origins, call_notes = calls(pair, PairMessages(messages_of_pair, eager, sum_s_per_byte))
    notes = [*call_notes, *notes]
    network, network_origins = _network(
        (network_level or levels[0]).survey,
        options,
        has_both_levels=node_level is not None and measured_network,
    )
    poor = [level_.fit for level_ in levels if level_.fit.verdict == "poor"]
    notes += [note_poor_fit(survey.name, fit.line, fit.why) for fit in poor]
    mode_texts = [level_.fit.two_modes.text for level_ in levels if level_.fit.two_modes is not None]
    notes = [*(note_two_modes(survey.name, found) for found in mode_texts), *notes]
    if survey.fits.cost == "undisturbed":
        notes.insert(0, note_undisturbed(survey.name))
    max_spread = max(level_.survey.spread for level_ in levels)
    noise = Noise(relative=rounded(max_spread)) if options.noise and max_spread > 0 else None
    if noise:
        source = (
            f"the median spread within launches of the ping-pongs of {survey.name}: interquartile range / "
            "1.349"
        )
        sources.append(Origin(key="noise.relative", status="fitted", source=source))
    clock = f"the cost of reading the clock in {survey.name}, or a tenth of its resolution if that is larger"
    host, mpi = survey.machine.host, survey.machine.mpi
    return Platform(
        name=options.name or _name(host),
        title=_title(host, survey.name, title_of(mpi) if mpi else ""),
        source=f"hockney calibrate {survey.name}",
        network=network,
        eager=eager,
        segments=segments,
        on_node=on_node,
        collectives=chosen_algorithms,
        sum_s_per_byte=sum_s_per_byte,
        calls=call_costs,
        clock_s=rounded(survey.clock_s),
        noise=noise,
        origins=(
            *sources, *network_origins, eager_origin, sum_origin, *chosen_origins, *call_origins,
            Origin(key="clock_s", status="fitted", source=clock),
        ),
        notes=tuple(notes),
        poor_fit=poor[0].why if poor else "",
        two_modes=mode_texts[0] if mode_texts else "",
    )  # fmt: skip


@dataclass(frozen=True)
class MeasuredLevel:
    """Messages between ranks at one level."""

    survey: Survey
    fit: Fit
    curve: Curve


def _measure_level(survey: Survey) -> MeasuredLevel:
    survey.refuse()
    fit = survey.hockney
    assert fit is not None  # ensured by refuse()
    curve = curve_of(fit, survey.one_way, lambda size: survey.reading(survey.ping_pong, size))
    return MeasuredLevel(survey, fit, curve)


def _segments(
    node_level: MeasuredLevel | None,
    network_level: MeasuredLevel | None,
    eager: int,
    network: Platform | None,
) -> tuple[tuple[Segment, ...], tuple[Segment, ...], list[Origin], list[str]]:
    """Segments between nodes and within a node, with their origins and notes. If only messages within a node
    are known, those between nodes are assumed to cost the same, or as much as on the described network. The
    same applies to messages within a node if only messages between nodes are known and a described network
    replaces these."""
    sources: list[Origin] = []

    def of(level: MeasuredLevel, key: str) -> tuple[Segment, ...]:
        overheads = overheads_of(level.survey, level.curve, eager)
        sourced = pieces(level.curve, overheads)
        sources.extend(origins(key, sourced, level.survey, overheads))
        return tuple(piece.segment for piece in sourced)

    if network is not None:
        passed_origins = passed_on(network, "segments")
        if node_level is not None:
            return network.segments, of(node_level, "on_node"), [*sources, *passed_origins], []
        assert network_level is not None
        on_node, name = of(network_level, "on_node"), network_level.survey.name
        guess = Origin(
            key="on_node", status="guess", source=f"as between nodes: {name} has no messages within one"
        )
        return network.segments, on_node, [guess, *passed_origins], [note_on_node(name)]
    on_node = of(node_level, "on_node") if node_level is not None else ()
    if network_level is not None:
        return of(network_level, "segments"), on_node, sources, []
    assert node_level is not None
    name = node_level.survey.name
    guess = Origin(key="segments", status="guess", source=f"as on a node: {name} ran on one host")
    return on_node, on_node, [*sources, guess], [note_between_nodes(name)]


def _eager_limit_of(levels: Sequence[MeasuredLevel]) -> tuple[int, Origin]:
    """Eager limit of the machine: the one between nodes, if it is visible."""
    limits = [_fit_eager_limit(level_.survey, level_.fit) for level_ in reversed(levels)]
    return next((level_ for level_ in limits if level_[1].status == "fitted"), limits[0])


def _name(host: str) -> str:
    """The host's name as a valid machine name."""
    return re.sub(r"[^a-z0-9.-]+", "-", host.lower()).strip("-.")[:60] or "calibrated"


def _fit_eager_limit(survey: Survey, fit: Fit) -> tuple[int, Origin]:
    """Find the change of protocol: the change point at which the latency of the ping-pong's line rises most.

    It is between two measured sizes. The larger one is the first that is certainly sent with the other
    protocol.
    """
    best, limit = RISE, None
    for change, lower_segment, upper_segment in zip(
        fit.change_points, fit.segments, fit.segments[1:], strict=False
    ):
        rise = (
            upper_segment.latency.value / lower_segment.latency.value
            if lower_segment.latency.value > 0
            else 0.0
        )
        if rise > best:
            best, limit = rise, change
    if limit is None:
        source = f"the ping-pong of {survey.name} shows no change of protocol; a common limit"
        return DEFAULT_EAGER_LIMIT, Origin(key="eager", status="guess", source=source)
    low, high = (math.ceil(limit.value if bound is None else bound) for bound in (limit.low, limit.high))
    source = (
        f"between {format_bytes(low)} and {format_bytes(high)} the latency of the ping-pong of {survey.name} "
        f"grows {best:.1f} times, as from eager to rendezvous"
    )
    return max(high - 1, 0), Origin(key="eager", status="fitted", source=source)


def _network(
    survey: Survey, options: CalibrationOptions, *, has_both_levels: bool
) -> tuple[Network, list[Origin]]:
    """Network of the machine. A run that measured both levels also determines the layout of the ranks."""
    layout = survey.machine.layout if has_both_levels else None
    cores = max(1, survey.machine.cores) if layout is None else layout.ranks_per_node
    network_description = options.network
    shape = network_description.network if network_description else Network()
    fixed_nodes = math.prod(shape.dims or shape.down or shape.dragonfly)
    if fixed_nodes > 1 or shape.dims:
        if options.nodes and options.nodes != fixed_nodes:
            network = network_description.name if network_description else "the network"
            raise UsageError(
                f"--nodes {options.nodes} does not fit {network}, which has {fixed_nodes} nodes",
                "its shape determines their number",
                "remove --nodes",
                code="node-count-of-network",
                nodes=options.nodes,
                network_nodes=fixed_nodes,
            )
        return shape, list(passed_on(network_description, "network")) if network_description else []
    count = options.nodes or (-(-RANKS // cores) if layout is None else layout.nodes)
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
        number = "--nodes" if options.nodes else enough
        nodes_source = f"{cores} cores, according to {survey.name}; {number}"
    else:
        nodes_source = (
            f"{layout.text} ranks in {survey.name}; "
            f"--nodes{'' if (options.nodes > 0) else ' sets another number of nodes'}"
        )
    status: Status = "guess" if layout is None or options.nodes else "fitted"
    network_origins = [Origin(key="network.nodes", status=status, source=nodes_source)]
    if network_description:
        other_origins = [
            origin
            for origin in passed_on(network_description, "network")
            if not covers("network.nodes", origin.key)
        ]
        return msgspec.structs.replace(shape, nodes=nodes), [*other_origins, *network_origins]
    nic, nic_source = _nic(survey)
    duplex, duplex_source = _duplex(survey)
    network_origins += [
        Origin(key="network.nic", status="fitted" if survey.between_nodes else "guess", source=nic_source),
        Origin(key="network.duplex", status="fitted", source=duplex_source),
        Origin(key="network.shape", status="guess", source="a switch without contention"),
    ]
    return Network(shape="switch", nodes=nodes, nic=nic, duplex=duplex), network_origins


def _nic(survey: Survey) -> tuple[float, str]:
    """Highest measured one-way rate of the pair, with its origin."""
    rates = [
        (size / median.value, name)
        for name in (survey.ping_pong, survey.workload("stream", "isend"))
        for size, median in survey.medians(name, buffers="hot").items()
    ]
    rate, name = max(rates)
    where = "" if survey.between_nodes else ", on one host: a guess between hosts"
    return rounded(rate), f"the highest rate of {survey.name}: {name}, {format_rate(rate)}{where}"


def _duplex(survey: Survey) -> tuple[Literal["full", "half"], str]:
    exchange_times = survey.medians(survey.workload("point-to-point", "sendrecv"), buffers="hot")
    common = [size for size in exchange_times if size in survey.one_way]
    if not common:
        return "full", f"{survey.name} has no bidirectional measurement; full is the most common"
    size = max(common)
    ratio = exchange_times[size].value / survey.one_way[size].value
    source = (
        f"in {survey.name}, bidirectional messages of {format_bytes(size)} take {ratio:.2f} times as long as "
        "unidirectional ones"
    )
    return ("half" if ratio > HALF else "full"), source


def _title(host: str, survey: str, mpi: str) -> str:
    """Title of the machine. `mpi` is "" if unknown."""
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


def note_two_modes(survey: str, caveat_text: str) -> str:
    """Note on two modes. `caveat_text` is the caveat of the ping-pong's fit."""
    return (
        f"in {survey}, {caveat_text}: the times are between both, and chance decides where; "
        "--cost undisturbed takes those of the fast mode"
    )


def note_undisturbed(survey: str) -> str:
    return f"the times are undisturbed ones: those of the fast mode of {survey}"
