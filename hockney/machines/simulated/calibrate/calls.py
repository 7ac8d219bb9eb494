# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives of a calibrated machine: their algorithms, the cost of summing, and costs of calls beyond
messages.

Between two ranks an operation is one message, or one in each direction at once (`BOTH`), with sums if it
reduces. The remaining time belongs to the call: copies of a rank's own block, buffers allocated for the call,
checks. It is attributed to each call and rank, and so it does not change when the machine grows. An operation
that takes less time than its messages (in a library that uses shared memory instead) cannot be described this
way; it costs as much as its messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hockney.core.case import MPI
from hockney.core.fit import Estimate
from hockney.core.platform import CALLED, Origin, Segment
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
    """The algorithm of each operation whose growth with the ranks fits the run best, and the origins of these
    choices."""
    chosen, origins, usual = dict(ASSUMED), [], []
    for operation in ASSUMED:
        preferred = [
            fit
            for fit in survey.fits.fits
            if fit.preferred
            and survey.operation_of(fit.subject.workload) == operation
            and fit.subject.get("algorithm", MPI) == MPI
        ]
        if preferred and operation in TREES:
            model = preferred[0].model
            chosen[operation] = (TREES if model == "logarithmic" else CHAINS)[operation]
            origins.append(
                Origin(
                    key=f"collectives.{operation}",
                    status="fitted",
                    source=f"the {model} model fits {operation} of {survey.name} better",
                )
            )
        else:
            usual.append(operation)
    if usual:
        source = f"a common choice: {survey.name} has too few rank counts to tell how operations grow"
        origins.insert(0, Origin(key="collectives", status="guess", source=source))
    return chosen, origins


def sum_cost(survey: Survey) -> tuple[float, Origin]:
    """s/B: the additional time of a reduction of long vectors compared with sending them, if it can be
    distinguished."""
    reduced, sent = (survey.operation(name, buffers="hot", algorithm=MPI) for name in ("reduce", "bcast"))
    sizes = [s for s in reduced if s in sent and s >= SUMMED_FROM]
    apart = [s for s in sizes if (reduced[s].low or 0) > (sent[s].high or float("inf"))]
    if 2 * len(apart) <= len(sizes):
        source = f"reduce and bcast of {survey.name} differ by less than their intervals: assumed to be 0"
        return 0.0, Origin(key="sum_s_per_byte", status="guess", source=source)
    slopes = sorted((reduced[s].value - sent[s].value) / s for s in sizes)
    at = ", ".join(map(format_bytes, sizes))
    source = f"reduce minus bcast of {survey.name} at {at}: the median, at most what every reduction allows"
    value = rounded(max(min(slopes[(len(slopes) - 1) // 2], *_room(survey)), 0.0))
    return value, Origin(key="sum_s_per_byte", status="fitted", source=source)


def _room(survey: Survey) -> Iterator[float]:
    """The remaining time for sums of each operation that has them, beyond a message, in s/B, at its
    interval's end."""
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
        """One of `batch` back-to-back operations. If only one rank sends, it may run ahead of the other."""
        segment = self._segment(size)
        adding = self.sum_s_per_byte * size if operation in SUMMING else 0.0
        one = segment.one_way(size) + adding
        if operation in BOTH:
            return one + segment.exchange_s + segment.exchange_s_per_byte * size
        if size > self.eager:
            return one
        sending = segment.send_s + segment.send_s_per_byte * size
        receiving = segment.receive_s + segment.receive_s_per_byte * size + adding
        step = max(sending, receiving, segment.gap_s + segment.gap_s_per_byte * size)
        return ((batch - 1) * step + one) / batch

    @property
    def jumps(self) -> tuple[int, ...]:
        """The sizes from which messages cost something else."""
        return tuple(sorted({*(segment.first for segment in self.segments[1:]), self.eager + 1}))

    def rise(self, size: int) -> float:
        """The time of a message relative to that of one which is a byte shorter."""
        return self._segment(size).one_way(size) / self._segment(size - 1).one_way(size - 1)

    def _segment(self, size: int) -> Segment:
        return [segment for segment in self.segments if segment.first <= size][-1]


LARGE = 1.5
"""A call that costs this many times as much as its messages is noted."""

Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class MeasuredCall:
    """A collective on two ranks: its time (s), and that of its messages `alone`."""

    size: int
    median: Estimate
    alone: float

    @property
    def time(self) -> float:
        """Time (s) used in the simulation: the measured median, but at least that of the messages alone."""
        return max(self.median.value, self.alone)

    @property
    def shown(self) -> str:
        whole, alone = format_seconds(self.median.value), format_seconds(self.alone)
        return f"{whole} ({alone}) at {format_bytes(self.size)}"

    @property
    def own(self) -> float:
        return self.time - self.alone


WIDE_STEP = 3.0
"""Sizes further apart leave the time between them open if messages jump there."""


@dataclass(frozen=True)
class OpenGap:
    """Two measured sizes with none in between, although messages jump there and the collective takes longer
    beyond: it may jump elsewhere."""

    operation: str
    before: MeasuredCall
    after: MeasuredCall

    @property
    def shown(self) -> str:
        sizes = " to ".join(format_bytes(each.size) for each in (self.before, self.after))
        times = " to ".join(format_seconds(each.time) for each in (self.before, self.after))
        return f"{self.operation} {sizes} ({times})"


def open_gaps(survey: Survey, pair: PairMessages) -> Iterator[OpenGap]:
    for operation in CALLED:
        for before, after in pairwise(_measured(survey, pair, operation)):
            if after.size <= WIDE_STEP * before.size or after.time <= JUMP * before.time:
                continue
            if any(before.size < jump < after.size and pair.rise(jump) > JUMP for jump in pair.jumps):
                yield OpenGap(operation, before, after)


def calls(survey: Survey, pair: PairMessages) -> tuple[dict[str, Points], list[Origin], list[str]]:
    """The costs of the calls themselves, their origins, and notes on operations that are faster than their
    messages, cost much more than these, or were not measured where these jump."""
    costs: dict[str, Points] = {}
    origins: list[Origin] = []
    notes: list[str] = []
    for operation in CALLED:
        measured = list(_measured(survey, pair, operation))
        faster = [each for each in measured if each.median.high is not None and each.median.high < each.alone]
        large = [each for each in measured if each.own > LARGE * each.alone]
        points = tuple((size, rounded(own)) for size, own in _points(survey, pair, operation, measured))
        if any(seconds for _, seconds in points):
            costs[operation] = points
            times = [each.shown for each in measured]
            source = f"{operation} of {survey.name} (its messages alone): {', '.join(times)}"
            origins.append(Origin(key=f"calls.{operation}", status="fitted", source=source))
        if faster:
            ratios = [
                f"{format_bytes(each.size)} ({each.median.value / each.alone:.2f} of the predicted time)"
                for each in faster
            ]
            notes.append(
                f"{operation} was measured faster than its messages predict at {', '.join(ratios)}; "
                "the simulation uses its messages"
            )
        if large:
            ratios = [
                f"{format_bytes(each.size)} ({each.own / each.alone:.1f} times as much)" for each in large
            ]
            notes.append(
                f"a call of {operation} costs more than its messages at {', '.join(ratios)}: its time at "
                "other sizes and on more ranks is uncertain"
            )
    if gaps := [gap.shown for gap in open_gaps(survey, pair)]:
        notes.append(note_open_gaps(gaps))
    return costs, origins, notes


def _points(
    survey: Survey, pair: PairMessages, operation: str, measured: Sequence[MeasuredCall]
) -> Iterator[tuple[int, float]]:
    """The cost of the call at each measured size, and on both sides of a jump of the messages in between, if
    the collective would otherwise be slower or faster there than at both measured sizes: its own jump is not
    at the same size then."""
    for before, after in pairwise(measured):
        yield before.size, before.own
        jumps = [jump for jump in pair.jumps if before.size < jump <= after.size]
        sides = [side for jump in jumps for side in (jump - 1, jump) if before.size < side < after.size]
        low, high = sorted((before.time, after.time))
        bounded, moved = [], False
        for side in sides:
            share = (side - before.size) / (after.size - before.size)
            near = before if side + 1 in jumps else after
            alone = pair.time(operation, side, survey.batch(operation, near.size))
            alone += survey.reading(operation, near.size)
            own = before.own + share * (after.own - before.own)
            bounded.append((side, max(min(max(alone + own, low), high) - alone, 0.0)))
            moved |= not low <= alone + own <= high
        yield from bounded if moved else ()
    if measured:
        yield measured[-1].size, measured[-1].own


def _measured(survey: Survey, pair: PairMessages, operation: str) -> Iterator[MeasuredCall]:
    """The measured calls of an operation; without data a collective may return at once, so 0 B are left
    out."""
    for size, median in collective(survey, operation).items():
        if size > 0 or operation == "barrier":
            alone = pair.time(operation, size, survey.batch(operation, size))
            yield MeasuredCall(size, median, alone + survey.reading(operation, size))


def collective(survey: Survey, operation: str) -> Mapping[int, Estimate]:
    """MPI's own algorithm, by size."""
    return survey.operation(operation, sync="barrier", buffers="hot", algorithm=MPI)


def note_open_gaps(gaps: Sequence[str]) -> str:
    """`gaps` are operations with the two measured sizes and their times."""
    return (
        "these collectives were measured at two sizes, but not in between, where the time of a message "
        f"jumps; their times in between are uncertain: {', '.join(gaps)}"
    )
