# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives of a calibrated machine: algorithms, the cost of summing, and the costs of calls in addition to
messages.

Between two ranks an operation is one message, or simultaneous messages in both directions (`BOTH`), with sums
if it reduces. The remaining time belongs to the call: copies of a rank's own block, allocation of buffers,
checks. It is attributed to each call and rank, so it does not change when the machine grows. An operation
that is faster than its messages (in a library that uses shared memory) cannot be described like this and
costs as much as its messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hockney.core.case import MPI
from hockney.core.fit import Estimate
from hockney.core.platform import OPERATIONS_WITH_CALL_COSTS, Origin, Segment
from hockney.core.units import format_bytes, format_seconds
from hockney.machines.simulated.calibrate.curve import JUMP
from hockney.machines.simulated.calibrate.segments import rounded
from hockney.machines.simulated.calibrate.survey import Survey

TREES = {
    "barrier": "ompi_bruck", "bcast": "binomial_tree", "gather": "ompi_binomial", "scatter": "ompi_binomial",
    "allgather": "bruck", "alltoall": "bruck", "reduce": "binomial", "allreduce": "rdb",
}  # fmt: skip
CHAINS = {
    "barrier": "ompi_basic_linear", "bcast": "flattree", "gather": "ompi_basic_linear",
    "scatter": "ompi_basic_linear", "allgather": "ring", "alltoall": "basic_linear",
    "reduce": "flat_tree", "allreduce": "lr",
}  # fmt: skip
ASSUMED = TREES | {
    "gather": "ompi_basic_linear", "scatter": "ompi_basic_linear", "allgather": "ring",
    "alltoall": "basic_linear", "reduce_scatter": "ompi_basic_recursivehalving",
}  # fmt: skip
"""Common choices of MPI libraries over most sizes, if the run cannot decide. `smpi_algorithms.DEFAULTS`
serves another purpose: common choices for small messages that are cheap to simulate, if a machine file names
nothing."""

# The following is MPI's and SMPI's vocabulary, not the engine's: the operations for which SimGrid has several
# algorithms, and how MPI defines them for the data of two ranks.
BOTH = ("barrier", "allgather", "alltoall", "allreduce", "reduce_scatter_block")
SUMMING = ("reduce", "allreduce", "reduce_scatter_block", "scan")
SUMMED_FROM = 4096
"""Shorter vectors are summed in less time than their messages vary by."""


def algorithms(survey: Survey) -> tuple[dict[str, str], list[Origin]]:
    """Algorithm of each operation with the growth over ranks that fits the run best, and the origins of these
    choices."""
    chosen_algorithms, origins, assumed_operations = dict(ASSUMED), [], []
    for operation in ASSUMED:
        matching_fits = [
            fit
            for fit in survey.fits.fits
            if fit.preferred
            and survey.operation_of(fit.subject.workload) == operation
            and fit.subject.get("algorithm", MPI) == MPI
        ]
        if matching_fits and operation in TREES:
            model = matching_fits[0].model
            chosen_algorithms[operation] = (TREES if model == "logarithmic" else CHAINS)[operation]
            origins.append(
                Origin(
                    key=f"collectives.{operation}",
                    status="fitted",
                    source=f"the {model} model fits {operation} of {survey.name} better",
                )
            )
        else:
            assumed_operations.append(operation)
    if assumed_operations:
        source = f"a common choice: {survey.name} has too few rank counts to tell how operations grow"
        origins.insert(0, Origin(key="collectives", status="guess", source=source))
    return chosen_algorithms, origins


def sum_cost(survey: Survey) -> tuple[float, Origin]:
    """Additional time (s/B) of reducing long vectors compared with sending them, if it can be
    distinguished."""
    reduction_times, message_times = (
        survey.operation(name, buffers="hot", algorithm=MPI) for name in ("reduce", "bcast")
    )
    sizes = [size for size in reduction_times if size in message_times and size >= SUMMED_FROM]
    distinct_sizes = [
        size
        for size in sizes
        if (reduction_times[size].low or 0) > (message_times[size].high or float("inf"))
    ]
    if 2 * len(distinct_sizes) <= len(sizes):
        source = f"reduce and bcast of {survey.name} differ by less than their intervals: assumed to be 0"
        return 0.0, Origin(key="sum_s_per_byte", status="guess", source=source)
    slopes = sorted((reduction_times[size].value - message_times[size].value) / size for size in sizes)
    sizes_text = ", ".join(map(format_bytes, sizes))
    source = (
        f"reduce minus bcast of {survey.name} at {sizes_text}: the median, at most what every reduction "
        "allows"
    )
    value = rounded(max(min(slopes[(len(slopes) - 1) // 2], *_time_for_sums(survey)), 0.0))
    return value, Origin(key="sum_s_per_byte", status="fitted", source=source)


def _time_for_sums(survey: Survey) -> Iterator[float]:
    """Upper bounds (s/B) on the time for sums of each reducing operation in addition to a message."""
    for operation in SUMMING:
        for size, median in survey.operation(operation, buffers="hot", algorithm=MPI).items():
            if size >= SUMMED_FROM and size in survey.one_way and median.high is not None:
                yield (median.high - survey.one_way[size].value) / size


@dataclass(frozen=True)
class PairMessages:
    """Costs of operations between two ranks from their messages and sums alone."""

    segments: tuple[Segment, ...]
    eager: int
    sum_s_per_byte: float

    def time(self, operation: str, size: int, batch: float) -> float:
        """Time of one of `batch` back-to-back operations. If only one rank sends, it may run ahead of the
        other."""
        segment = self._segment(size)
        adding = self.sum_s_per_byte * size if operation in SUMMING else 0.0
        message_s = segment.one_way(size) + adding
        if operation in BOTH:
            return message_s + segment.exchange_s + segment.exchange_s_per_byte * size
        if size > self.eager:
            return message_s
        sending = segment.send_s + segment.send_s_per_byte * size
        receiving = segment.receive_s + segment.receive_s_per_byte * size + adding
        step = max(sending, receiving, segment.gap_s + segment.gap_s_per_byte * size)
        return ((batch - 1) * step + message_s) / batch

    @property
    def jumps(self) -> tuple[int, ...]:
        """Sizes at which the cost of messages changes."""
        return tuple(sorted({*(segment.first for segment in self.segments[1:]), self.eager + 1}))

    def rise(self, size: int) -> float:
        """Ratio of the time of a message to that of a message with one byte less."""
        return self._segment(size).one_way(size) / self._segment(size - 1).one_way(size - 1)

    def _segment(self, size: int) -> Segment:
        return [segment for segment in self.segments if segment.first <= size][-1]


LARGE = 1.5
"""A call that costs this many times as much as its messages is noted."""

Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class MeasuredCall:
    """A collective on two ranks: its time (s) and the time of its messages `alone`."""

    size: int
    median: Estimate
    alone: float

    @property
    def time(self) -> float:
        """Time (s) used in the simulation: the measured median, but at least that of the messages alone."""
        return max(self.median.value, self.alone)

    @property
    def shown(self) -> str:
        total_text, messages_text = format_seconds(self.median.value), format_seconds(self.alone)
        return f"{total_text} ({messages_text}) at {format_bytes(self.size)}"

    @property
    def own(self) -> float:
        return self.time - self.alone


WIDE_STEP = 3.0
"""Sizes further apart leave the time between them open if messages jump there."""


@dataclass(frozen=True)
class OpenGap:
    """Two adjacent measured sizes between which the time of messages jumps and the collective becomes slower.
    The collective may jump at another size."""

    operation: str
    before: MeasuredCall
    after: MeasuredCall

    @property
    def shown(self) -> str:
        sizes = " to ".join(format_bytes(call.size) for call in (self.before, self.after))
        times = " to ".join(format_seconds(call.time) for call in (self.before, self.after))
        return f"{self.operation} {sizes} ({times})"


def open_gaps(survey: Survey, pair: PairMessages) -> Iterator[OpenGap]:
    for operation in OPERATIONS_WITH_CALL_COSTS:
        for call_before, call_after in pairwise(_measured_calls(survey, pair, operation)):
            if call_after.size <= WIDE_STEP * call_before.size or call_after.time <= JUMP * call_before.time:
                continue
            if any(
                call_before.size < jump < call_after.size and pair.rise(jump) > JUMP for jump in pair.jumps
            ):
                yield OpenGap(operation, call_before, call_after)


def calls(survey: Survey, pair: PairMessages) -> tuple[dict[str, Points], list[Origin], list[str]]:
    """Costs of the calls themselves, with their origins, and notes on operations that are faster than their
    messages, cost much more, or were not measured at a jump."""
    costs: dict[str, Points] = {}
    origins: list[Origin] = []
    notes: list[str] = []
    for operation in OPERATIONS_WITH_CALL_COSTS:
        measured_calls = list(_measured_calls(survey, pair, operation))
        faster_calls = [
            call for call in measured_calls if call.median.high is not None and call.median.high < call.alone
        ]
        large = [call for call in measured_calls if call.own > LARGE * call.alone]
        points = tuple(
            (size, rounded(own_s)) for size, own_s in _call_points(survey, pair, operation, measured_calls)
        )
        if any(seconds for _, seconds in points):
            costs[operation] = points
            times = [call.shown for call in measured_calls]
            source = f"{operation} of {survey.name} (its messages alone): {', '.join(times)}"
            origins.append(Origin(key=f"calls.{operation}", status="fitted", source=source))
        if faster_calls:
            ratios = [
                f"{format_bytes(call.size)} ({call.median.value / call.alone:.2f} of the predicted time)"
                for call in faster_calls
            ]
            notes.append(
                f"{operation} was measured faster than its messages predict at {', '.join(ratios)}; "
                "the simulation uses its messages"
            )
        if large:
            ratios = [
                f"{format_bytes(call.size)} ({call.own / call.alone:.1f} times as much)" for call in large
            ]
            notes.append(
                f"a call of {operation} costs more than its messages at {', '.join(ratios)}: its time at "
                "other sizes and on more ranks is uncertain"
            )
    if gap_texts := [gap.shown for gap in open_gaps(survey, pair)]:
        notes.append(note_open_gaps(gap_texts))
    return costs, origins, notes


def _call_points(
    survey: Survey, pair: PairMessages, operation: str, measured_calls: Sequence[MeasuredCall]
) -> Iterator[tuple[int, float]]:
    """Cost of the call at each measured size and, if necessary, on both sides of a jump of the messages in
    between. These are needed if the collective would otherwise be slower or faster there than at both
    measured sizes, because its own jump is at another size."""
    for before, after in pairwise(measured_calls):
        yield before.size, before.own
        jumps = [jump for jump in pair.jumps if before.size < jump <= after.size]
        jump_sides = [side for jump in jumps for side in (jump - 1, jump) if before.size < side < after.size]
        low, high = sorted((before.time, after.time))
        bounded_points, has_moved = [], False
        for side in jump_sides:
            share = (side - before.size) / (after.size - before.size)
            neighbor = before if side + 1 in jumps else after
            messages_s = pair.time(operation, side, survey.batch(operation, neighbor.size))
            messages_s += survey.reading(operation, neighbor.size)
            own_s = before.own + share * (after.own - before.own)
            bounded_points.append((side, max(min(max(messages_s + own_s, low), high) - messages_s, 0.0)))
            has_moved |= not low <= messages_s + own_s <= high
        yield from bounded_points if has_moved else ()
    if measured_calls:
        yield measured_calls[-1].size, measured_calls[-1].own


def _measured_calls(survey: Survey, pair: PairMessages, operation: str) -> Iterator[MeasuredCall]:
    """Measured calls of an operation, without those of 0 B, from which a collective may return
    immediately."""
    for size, median in collective(survey, operation).items():
        if size > 0 or operation == "barrier":
            messages_s = pair.time(operation, size, survey.batch(operation, size))
            yield MeasuredCall(size, median, messages_s + survey.reading(operation, size))


def collective(survey: Survey, operation: str) -> Mapping[int, Estimate]:
    """MPI's own algorithm, by size."""
    return survey.operation(operation, sync="barrier", buffers="hot", algorithm=MPI)


def note_open_gaps(gaps: Sequence[str]) -> str:
    """Note on gaps. `gaps` lists operations with the two measured sizes and their times."""
    return (
        "these collectives were measured at two sizes, but not in between, where the time of a message "
        f"jumps; their times in between are uncertain: {', '.join(gaps)}"
    )
