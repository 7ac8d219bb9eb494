# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which cases of a run a guideline compares.

Both sides have the same ranks, buffers and synchronisation, and a root of the right side is that of the left.
Operations back to back (sync=loop) are left out: they overlap, so their times do not add up. So are cases
with a launch setting, which are not what MPI does by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hockney.core.case import ALGORITHM, LAUNCH_PARAMETERS, MPI, Case, Value
from hockney.core.catalog import Catalog
from hockney.models.guidelines.rules import EMULATIONS, MESSAGES, OPERATIONS, RULES, Guideline, Kind, Term

USUAL: Mapping[str, Value] = {ALGORITHM: MPI, "counts": "even", "root": 0}
"""Parameters of the right side that the left one does not have."""
STEPS = (2, 4, 8)
"""A size is compared with the next one of the same operation, and with those larger by these factors. With
all pairs, a ping-pong at many sizes would outnumber everything else."""
WORD = 8
"""Parts of a vector may be rounded up to a multiple of this many bytes, as those of reductions are."""


@dataclass(frozen=True)
class MeasuredTerm:
    """A term of the right side as measured, `count` times; `copies` if it is the limit of copying."""

    case: Case
    count: int = 1
    copies: bool = False


@dataclass(frozen=True)
class GuidelineComparison:
    """The time of `left` should not exceed the sum of the `parts`."""

    rule: Guideline
    left: Case
    parts: tuple[MeasuredTerm, ...]


@dataclass(frozen=True)
class SizeSeries:
    """Cases of a workload that differ in their size only; `fixed` are their other parameters."""

    workload: str
    ranks: int
    fixed: Mapping[str, Value]
    by_size: dict[int, Case] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        """Whether the algorithm is MPI's choice."""
        return self.fixed.get(ALGORITHM, MPI) == MPI

    @property
    def sizes(self) -> list[int]:
        return sorted(self.by_size)


def comparisons(cases: Iterable[Case], catalog: Catalog) -> list[GuidelineComparison]:
    """Every comparison that the cases allow, in the order of the rules."""
    groups = _groups(cases, catalog)
    found = [each for group in groups if group.own for each in _of_group(group, groups)]
    order = {rule.name: k for k, rule in enumerate(RULES)}
    return sorted(found, key=lambda each: order[each.rule.name])


def decisive(found: Iterable[GuidelineComparison]) -> bool:
    """Whether an operation is compared with another way to do it, and not only with other sizes."""
    return any(each.rule.kind in ("emulation", "algorithm") for each in found)


def _groups(cases: Iterable[Case], catalog: Catalog) -> list[SizeSeries]:
    groups: dict[tuple[object, ...], SizeSeries] = {}
    for case in sorted(cases, key=lambda case: (case.workload, case.ranks, case.line)):
        size = catalog.entry(case.workload).size
        if size != "bytes" or case.ranks < 2 or case.get("sync") == "loop" or case.setting:
            continue
        fixed = {name: value for name, value in case.parameters if name != size}
        key = case.workload, case.ranks, *sorted(fixed.items())
        group = groups.setdefault(key, SizeSeries(case.workload, case.ranks, fixed))
        group.by_size[case.bytes] = case
    return list(groups.values())


def _of_group(group: SizeSeries, groups: list[SizeSeries]) -> Iterator[GuidelineComparison]:
    for rule in EMULATIONS:
        if rule.operation == group.workload:
            yield from _emulated(rule, group, groups)
    if group.workload in OPERATIONS:
        yield from _by_algorithm(group, groups)
    if group.workload in OPERATIONS or group.workload == MESSAGES:
        yield from _other_sizes(group)


def _emulated(rule: Guideline, group: SizeSeries, groups: list[SizeSeries]) -> Iterator[GuidelineComparison]:
    for size in group.sizes:
        parts = [_part(term, size, group, groups) for term in rule.terms]
        found = tuple(part for part in parts if part is not None)
        if size > 0 and len(found) == len(parts):
            yield GuidelineComparison(rule, group.by_size[size], found)


def _part(term: Term, size: int, left: SizeSeries, groups: list[SizeSeries]) -> MeasuredTerm | None:
    needed = term.bytes(size, left.ranks)
    whole = -(-needed // WORD) * WORD
    for group in groups:
        if group.workload == term.workload and group.ranks == left.ranks and _alike(group, left):
            fitting = [bytes for bytes in group.by_size if needed <= bytes <= whole]
            if fitting:
                return MeasuredTerm(group.by_size[min(fitting)], copies=term.copies)
    return None


def _alike(group: SizeSeries, left: SizeSeries) -> bool:
    """Whether two series agree in their parameters, including where their ranks are: the way to a result over
    the network says nothing about one within a node."""
    if any(group.fixed.get(name) != left.fixed.get(name) for name in LAUNCH_PARAMETERS):
        return False
    return all(
        value == (USUAL[name] if name == "algorithm" else left.fixed.get(name, USUAL.get(name)))
        for name, value in group.fixed.items()
    )


def _by_algorithm(group: SizeSeries, groups: list[SizeSeries]) -> Iterator[GuidelineComparison]:
    rule = _rule("algorithm")
    for other in groups:
        if (other.workload, other.ranks) != (group.workload, group.ranks) or other.own:
            continue
        if {**other.fixed, ALGORITHM: MPI} == group.fixed:
            for size in sorted(set(group.by_size) & set(other.by_size)):
                yield GuidelineComparison(rule, group.by_size[size], (MeasuredTerm(other.by_size[size]),))


def _other_sizes(group: SizeSeries) -> Iterator[GuidelineComparison]:
    monotony, split = _rule("monotony"), _rule("split")
    sizes = group.sizes
    for small in sizes:
        for large in _partners(small, sizes):
            yield GuidelineComparison(monotony, group.by_size[small], (MeasuredTerm(group.by_size[large]),))
            if small > 0 and large % small == 0:
                calls = MeasuredTerm(group.by_size[small], large // small)
                yield GuidelineComparison(split, group.by_size[large], (calls,))


def _partners(size: int, sizes: list[int]) -> list[int]:
    """The next larger size, and the first ones that are larger by a factor of STEPS, as long as they are not
    far away."""
    larger = [each for each in sizes if each > size]
    firsts = [next((each for each in larger if each >= step * size), 0) for step in STEPS]
    return sorted({*larger[:1], *(each for each in firsts if size < each <= STEPS[-1] * size)})


def _rule(kind: Kind) -> Guideline:
    return next(rule for rule in RULES if rule.kind == kind)
