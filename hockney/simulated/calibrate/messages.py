# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about surveys from which no machine can be calibrated."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import Inconclusive, UsageError


def survey_was_simulated(survey: str, machine: str) -> UsageError:
    return UsageError(
        f"{survey} was simulated",
        "its machine is already described",
        f"use --machine sim:{machine}",
        code="survey-was-simulated",
    )


def no_pingpong(survey: str, ranks: Sequence[int]) -> Inconclusive:
    """`ranks` are the rank counts of the measured ping-pongs."""
    counts = ", ".join(map(str, ranks))
    why = f"it was measured with ranks={counts}" if ranks else "the cost of a message is read from it"
    return Inconclusive(
        f"{survey} has no ping-pong on 2 ranks",
        why,
        "measure it with 'hockney survey'",
        code="survey-without-pingpong",
        ranks=tuple(ranks),
    )


def no_model(survey: str, reason: str) -> Inconclusive:
    """`reason` is "" if nothing was fitted."""
    return Inconclusive(
        f"the ping-pong of {survey} has no model",
        reason or "no model fits it",
        "measure more sizes",
        code="survey-without-model",
    )


def mixed_placement(survey: str) -> Inconclusive:
    return Inconclusive(
        f"the 2 ranks of {survey} were on one host in some launches and on two in others",
        "their times belong to two kinds of path",
        "survey each placement separately",
        code="survey-with-mixed-placement",
    )


def node_count_of_network(nodes: int, network_nodes: int, network: str) -> UsageError:
    return UsageError(
        f"--nodes {nodes} does not fit {network}, which has {network_nodes} nodes",
        "its shape determines their number",
        "remove --nodes",
        code="node-count-of-network",
        nodes=nodes,
        network_nodes=network_nodes,
    )


def too_many_cores(nodes: int, cores: int, limit: int) -> UsageError:
    return UsageError(
        f"{nodes} nodes with {cores} cores each are too many",
        f"the limit is {limit} cores",
        "use fewer nodes",
        code="too-many-cores",
        limit=limit,
    )


# notes of the machine


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


def note_large_calls(operation: str, sizes: Sequence[str]) -> str:
    """`sizes` are the sizes with the ratio of the cost of a call to the time of its messages."""
    return (
        f"a call of {operation} costs more than its messages at {', '.join(sizes)}: its time at other sizes "
        "and on more ranks is uncertain"
    )


def note_faster_than_messages(operation: str, sizes: Sequence[str]) -> str:
    """`sizes` are the sizes with the ratio of both times."""
    return (
        f"{operation} was measured faster than its messages predict at {', '.join(sizes)}; "
        "the simulation uses its messages"
    )


def note_open_gaps(gaps: Sequence[str]) -> str:
    """`gaps` are operations with the two measured sizes and their times."""
    return (
        "these collectives were measured at two sizes, but not in between, where the time of a message "
        f"jumps; their times in between are uncertain: {', '.join(gaps)}"
    )


# sources of the machine's numbers


def title(host: str, survey: str, mpi: str) -> str:
    """`mpi` is "" if there was none."""
    return f"{host} as measured by {survey} ({mpi or 'no MPI'})"


def source_fit(survey: str, fit: str, curve: str) -> str:
    return f"{fit} of {survey}: {curve}"


def source_fitted_line(first: int, latency: str, per_byte: str) -> str:
    return f"the fitted segment from {first} B: {latency}, {per_byte}"


def source_median(size: int, median: str) -> str:
    return f"the typical time {median} at {size} B, which the fitted segments miss"


def interval(value: str, low: str, high: str) -> str:
    """`low` and `high` are "" if there is no interval."""
    return f"{value} (95%: {low} to {high})" if low and high else f"{value} (no interval)"


def source_send_overhead(fitted: bool, at_zero: str) -> str:
    return f"prtt with and without delay, {_overhead('o_s', fitted, at_zero)}"


def source_receive_overhead(fitted: bool, at_zero: str) -> str:
    return f"receive_overhead, {_overhead('o_r', fitted, at_zero)}"


def _overhead(symbol: str, fitted: bool, at_zero: str) -> str:
    how = "of the fit loggp" if fitted else "at each size, since no LogGP fit is trusted"
    return f"{symbol} {how}; {at_zero} at 0 B; the same in all segments"


def source_no_overhead(survey: str) -> str:
    return f"a third of the message's time: {survey} has not measured it"


def source_exchange(survey: str) -> str:
    return f"pingpong_double minus pingpong of {survey}; the same in all segments"


def source_as_on_a_node(survey: str) -> str:
    return f"as on a node: {survey} ran on one host"


def source_as_between_nodes(survey: str) -> str:
    return f"as between nodes: {survey} has no messages within one"


def source_noise(survey: str) -> str:
    return f"the median spread within launches of the ping-pongs of {survey}: interquartile range / 1.349"


def source_clock(survey: str) -> str:
    return f"the cost of reading the clock in {survey}, or a tenth of its resolution if that is larger"


def source_usual_eager(survey: str) -> str:
    return f"the ping-pong of {survey} shows no change of protocol; a common limit"


def source_eager(survey: str, low: str, high: str, rise: float) -> str:
    return (
        f"between {low} and {high} the latency of the ping-pong of {survey} grows {rise:.1f} times, "
        "as from eager to rendezvous"
    )


def source_nodes(survey: str, cores: int, ranks: int) -> str:
    """The number of nodes is enough for `ranks` ranks; 0 if it was given by --nodes."""
    number = f"enough nodes for {ranks} ranks; --nodes sets another number" if ranks else "--nodes"
    return f"{cores} cores, according to {survey}; {number}"


def source_layout(survey: str, layout: str, *, given: bool) -> str:
    """`layout` is that of the ranks ("2x4"); `given`: --nodes has another number of nodes."""
    return f"{layout} ranks in {survey}; --nodes{'' if given else ' sets another number of nodes'}"


def source_shape() -> str:
    return "a switch without contention"


def source_nic(survey: str, workload: str, rate: str, between_nodes: bool) -> str:
    where = "" if between_nodes else ", on one host: a guess between hosts"
    return f"the highest rate of {survey}: {workload}, {rate}{where}"


def source_usual_duplex(survey: str) -> str:
    return f"{survey} has no bidirectional measurement; full is the most common"


def source_duplex(survey: str, ratio: float, size: str) -> str:
    return (
        f"in {survey}, bidirectional messages of {size} take {ratio:.2f} times as long as unidirectional ones"
    )


def source_algorithm(survey: str, operation: str, model: str) -> str:
    return f"the {model} model fits {operation} of {survey} better"


def source_usual_algorithms(survey: str) -> str:
    return f"a common choice: {survey} has too few rank counts to tell how operations grow"


def source_no_sum_cost(survey: str) -> str:
    return f"reduce and bcast of {survey} differ by less than their intervals: assumed to be 0"


def source_sum_cost(survey: str, sizes: Sequence[str]) -> str:
    at = ", ".join(sizes)
    return f"reduce minus bcast of {survey} at {at}: the median, at most what every reduction allows"


def source_call(survey: str, operation: str, times: Sequence[str]) -> str:
    """`times` are measured times, in brackets those of the messages alone."""
    return f"{operation} of {survey} (its messages alone): {', '.join(times)}"
