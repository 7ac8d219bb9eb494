# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Performance guidelines: no operation should take longer than another method for the same result.

One entry of RULES is one guideline. `left` and the terms of `right` are workloads with a size: n bytes on the
left, where P ranks take part. The size is the workload's parameter `bytes`: of the whole vector for bcast,
reduce, allreduce, scan and exscan, of one rank's block for gather, scatter, allgather, alltoall and
reduce_scatter_block. `copies` are bytes that a rank must copy in its memory besides, as the mock-up functions
of PGMPITuneLib do.

`comparisons` finds the cases of a run that a guideline compares. Both sides have the same ranks, buffers,
synchronisation and root. Back-to-back operations (sync=loop) are left out: they overlap, so their times do
not add up. Cases with a launch setting are left out because they do not show MPI's defaults.

`judge` decides whether the guidelines hold in a run. One is violated if the left side takes more than
`factor` times as long as the right one. All comparisons of a run are tested together: those reported as
violated are false in at most 5% of cases on average (`adjust_p_values`), and the 95% interval of each of
them lies above the factor."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from hockney.core.case import ALGORITHM, HOT, LAUNCH_PARAMETERS, MPI, Case, Value
from hockney.core.catalog import Catalog
from hockney.core.fit import Estimate
from hockney.models.statistics import NOTABLE, Observation, RatioEstimate, adjust_p_values, ratio_to_sum

SOURCES = {
    1: "J. L. Träff, W. D. Gropp, R. Thakur, Self-Consistent MPI Performance Guidelines, IEEE TPDS 21 (2010) "
    "698",
    2: "S. Hunold, A. Carpen-Amarie, F. D. Lübbe, J. L. Träff, Automatic Verification of Self-Consistent MPI "
    "Performance Guidelines, Euro-Par 2016, LNCS 9833, 433; software PGMPI",
    3: "S. Hunold, A. Carpen-Amarie, Autotuning MPI Collectives using Performance Guidelines, HPC Asia 2018, "
    "64; software PGMPITuneLib",
}

Kind = Literal["emulation", "algorithm", "monotony", "split"]
"""What the right side is: other operations, one of hockney's algorithms for the same operation, the same
operation on more bytes, or several calls of it."""

LOCAL = "reduce_local"
"""Stands for copies in a rank's memory. It reads two vectors and writes one, so it takes at least as long."""

TERM = re.compile(r"(\w+)\((n|n/P|P n)\)")
BYTES: dict[str, Callable[[int, int], int]] = {
    "n": lambda n, ranks: n,
    "P n": lambda n, ranks: ranks * n,
    "n/P": lambda n, ranks: -(-n // ranks),
}
"""The bytes of a size, for n bytes on the left and a number of ranks; parts are rounded up."""

USUAL: Mapping[str, Value] = {ALGORITHM: MPI, "counts": "even", "root": 0}
"""Parameters of the right side that the left one does not have."""
STEPS = (2, 4, 8)
"""A size is compared with the next one of the same operation, and with those larger by these factors. With
all pairs, a ping-pong at many sizes would outnumber everything else."""
WORD = 8
"""Parts of a vector may be rounded up to a multiple of this many bytes, as those of reductions are."""

FACTOR = NOTABLE
SIGNIFICANCE_LEVEL = 0.05

State = Literal["violated", "holds", "undecided", "unknown"]
"""holds: the interval of the ratio ends below the factor; undecided: it includes the factor, or lies above
it but not clearly enough for the number of comparisons; unknown: there is no interval."""


@dataclass(frozen=True)
class Term:
    """A `workload` with a `size` of BYTES; with `copies`, the time of copying, for which it is an upper
    limit."""

    workload: str
    size: str
    copies: bool = False

    def bytes(self, n: int, ranks: int) -> int:
        return BYTES[self.size](n, ranks)


@dataclass(frozen=True)
class Guideline:
    """A guideline with a unique `name`. `how` explains in the documentation how the right side computes the
    result of the left one."""

    name: str
    left: str
    right: str
    sources: tuple[int, ...]
    how: str
    copies: str = ""
    kind: Kind = "emulation"

    @cached_property
    def operation(self) -> str:
        """Workload on the left of an emulation."""
        (term,) = _terms(self.left)
        return term.workload

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Right side of an emulation, including the copies."""
        copying = (Term(LOCAL, self.copies, copies=True),) if self.copies else ()
        return (*_terms(self.right), *copying)


def _terms(text: str) -> tuple[Term, ...]:
    return tuple(Term(*_parse_term(word)) for word in text.split(" + "))


def _parse_term(word: str) -> tuple[str, str]:
    match = TERM.fullmatch(word)
    assert match, f"{word!r} is not WORKLOAD(n), WORKLOAD(n/P) or WORKLOAD(P n)"
    return match[1], match[2]


RULES = (
    Guideline("bcast-scatter-allgather", "bcast(n)", "scatter(n/P) + allgather(n/P)", (1, 2, 3),
              "the root scatters parts of the vector, and all ranks gather them"),
    Guideline("gather-allgather", "gather(n)", "allgather(n)", (1, 2, 3),
              "the other ranks ignore the result"),
    Guideline("gather-reduce", "gather(n)", "reduce(P n)", (1, 2, 3),
              "each rank contributes a vector of zeros with its block in place", copies="P n"),
    Guideline("gather-gatherv", "gather(n)", "gatherv(n)", (1, 3), "equal counts"),
    Guideline("scatter-bcast", "scatter(n)", "bcast(P n)", (1, 2, 3),
              "each rank keeps its block of the vector", copies="n"),
    Guideline("scatter-scatterv", "scatter(n)", "scatterv(n)", (1, 3), "equal counts"),
    Guideline("allgather-gather-bcast", "allgather(n)", "gather(n) + bcast(P n)", (1, 2, 3),
              "the root broadcasts what it has gathered"),
    Guideline("allgather-alltoall", "allgather(n)", "alltoall(n)", (1, 2, 3),
              "each rank sends copies of its block", copies="P n"),
    Guideline("allgather-allreduce", "allgather(n)", "allreduce(P n)", (1, 2, 3),
              "each rank contributes a vector of zeros with its block in place", copies="P n"),
    Guideline("allgather-allgatherv", "allgather(n)", "allgatherv(n)", (1, 3), "equal counts"),
    Guideline("alltoall-alltoallv", "alltoall(n)", "alltoallv(n)", (1, 3), "equal counts"),
    Guideline("reduce-allreduce", "reduce(n)", "allreduce(n)", (1, 2, 3),
              "the other ranks ignore the result"),
    Guideline("reduce-reduce_scatter_block-gather", "reduce(n)", "reduce_scatter_block(n/P) + gather(n/P)",
              (2, 3), "the root gathers the blocks of the sum"),
    Guideline("allreduce-reduce-bcast", "allreduce(n)", "reduce(n) + bcast(n)", (1, 2, 3),
              "the root broadcasts the sum"),
    Guideline("allreduce-reduce_scatter_block-allgather", "allreduce(n)",
              "reduce_scatter_block(n/P) + allgather(n/P)", (1, 2, 3),
              "all ranks gather the blocks of the sum"),
    Guideline("reduce_scatter_block-reduce-scatter", "reduce_scatter_block(n)", "reduce(P n) + scatter(n)",
              (1, 2, 3), "the root scatters the sum"),
    Guideline("reduce_scatter_block-allreduce", "reduce_scatter_block(n)", "allreduce(P n)", (2, 3),
              "each rank keeps its block of the sum", copies="n"),
    Guideline("reduce_scatter_block-reduce_scatter", "reduce_scatter_block(n)", "reduce_scatter(n)", (3,),
              "equal counts"),
    Guideline("scan-exscan-reduce_local", "scan(n)", "exscan(n) + reduce_local(n)", (2, 3),
              "each rank adds its vector"),
    Guideline("algorithm", "MPI's operation(n)", "the same with algorithm=X (n)", (1,),
              "sends and receives in a user's program, for each of hockney's algorithms", kind="algorithm"),
    Guideline("monotony", "operation(n)", "operation(m), m > n", (1, 2), "more bytes than needed",
              kind="monotony"),
    Guideline("split", "operation(k n)", "k times operation(n)", (1, 2), "several calls, each with one part",
              kind="split"),
)  # fmt: skip

EMULATIONS = tuple(rule for rule in RULES if rule.kind == "emulation")
OPERATIONS = frozenset(
    name
    for rule in EMULATIONS
    for name in (rule.operation, *(term.workload for term in rule.terms))
    if name != LOCAL
)
"""MPI's collectives in the table."""
MESSAGES = "pingpong"
"""Monotony and split hold for messages between two ranks too."""


@dataclass(frozen=True)
class MeasuredTerm:
    """A measured term of the right side that counts `count` times; `copies` marks the limit of copying."""

    case: Case
    count: int = 1
    copies: bool = False


@dataclass(frozen=True)
class GuidelineComparison:
    """Claim that the time of `left` should not exceed the sum of the `parts`."""

    rule: Guideline
    left: Case
    parts: tuple[MeasuredTerm, ...]


@dataclass(frozen=True)
class SizeSeries:
    """Cases of a workload that differ only in their size; `fixed` contains their other parameters."""

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
    """All comparisons that the cases allow, in the order of the rules."""
    groups = _groups(cases, catalog)
    comparison_list = [each for group in groups if group.own for each in _comparisons_of_group(group, groups)]
    order = {rule.name: k for k, rule in enumerate(RULES)}
    return sorted(comparison_list, key=lambda each: order[each.rule.name])


def is_decisive(found: Iterable[GuidelineComparison]) -> bool:
    """Whether an operation is compared with another method, and not only with other sizes."""
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


def _comparisons_of_group(group: SizeSeries, groups: list[SizeSeries]) -> Iterator[GuidelineComparison]:
    for rule in EMULATIONS:
        if rule.operation == group.workload:
            yield from _emulation(rule, group, groups)
    if group.workload in OPERATIONS:
        yield from _algorithm_comparisons(group, groups)
    if group.workload in OPERATIONS or group.workload == MESSAGES:
        yield from _size_comparisons(group)


def _emulation(rule: Guideline, group: SizeSeries, groups: list[SizeSeries]) -> Iterator[GuidelineComparison]:
    for size in group.sizes:
        parts = [_part(term, size, group, groups) for term in rule.terms]
        measured_terms = tuple(part for part in parts if part is not None)
        if size > 0 and len(measured_terms) == len(parts):
            yield GuidelineComparison(rule, group.by_size[size], measured_terms)


def _part(term: Term, size: int, left: SizeSeries, groups: list[SizeSeries]) -> MeasuredTerm | None:
    needed = term.bytes(size, left.ranks)
    whole = -(-needed // WORD) * WORD
    for group in groups:
        if group.workload == term.workload and group.ranks == left.ranks and _parameters_agree(group, left):
            fitting = [bytes for bytes in group.by_size if needed <= bytes <= whole]
            if fitting:
                return MeasuredTerm(group.by_size[min(fitting)], copies=term.copies)
    return None


def _parameters_agree(group: SizeSeries, left: SizeSeries) -> bool:
    """Whether two series agree in their parameters, including their level: a method for results over the
    network says nothing about one within a node."""
    if any(group.fixed.get(name) != left.fixed.get(name) for name in LAUNCH_PARAMETERS):
        return False
    return all(
        value == (USUAL[name] if name == "algorithm" else left.fixed.get(name, USUAL.get(name)))
        for name, value in group.fixed.items()
    )


def _algorithm_comparisons(group: SizeSeries, groups: list[SizeSeries]) -> Iterator[GuidelineComparison]:
    rule = _rule("algorithm")
    for other in groups:
        if (other.workload, other.ranks) != (group.workload, group.ranks) or other.own:
            continue
        if {**other.fixed, ALGORITHM: MPI} == group.fixed:
            for size in sorted(set(group.by_size) & set(other.by_size)):
                yield GuidelineComparison(rule, group.by_size[size], (MeasuredTerm(other.by_size[size]),))


def _size_comparisons(group: SizeSeries) -> Iterator[GuidelineComparison]:
    monotony, split = _rule("monotony"), _rule("split")
    sizes = group.sizes
    for small in sizes:
        for large in _partner_sizes(small, sizes):
            yield GuidelineComparison(monotony, group.by_size[small], (MeasuredTerm(group.by_size[large]),))
            if small > 0 and large % small == 0:
                calls = MeasuredTerm(group.by_size[small], large // small)
                yield GuidelineComparison(split, group.by_size[large], (calls,))


def _partner_sizes(size: int, sizes: list[int]) -> list[int]:
    """The next larger size, and the first sizes that are larger by a factor of STEPS, unless they are far
    away."""
    larger = [each for each in sizes if each > size]
    firsts = [next((each for each in larger if each >= step * size), 0) for step in STEPS]
    return sorted({*larger[:1], *(each for each in firsts if size < each <= STEPS[-1] * size)})


def _rule(kind: Kind) -> Guideline:
    return next(rule for rule in RULES if rule.kind == kind)


@dataclass(frozen=True)
class JudgedComparison:
    """A comparison with the `ratio` of the left side's time to the right side's. `p` is adjusted for the
    number of comparisons, None without an interval."""

    comparison: GuidelineComparison
    ratio: Estimate
    p: float | None
    state: State

    @property
    def rule(self) -> Guideline:
        return self.comparison.rule

    @property
    def left(self) -> Case:
        return self.comparison.left


@dataclass(frozen=True)
class GuidelineVerdicts:
    """All comparisons of a run in the order of the rules. `launches` is the number of launches of the
    compared cases."""

    factor: float
    judged: tuple[JudgedComparison, ...]
    launches: frozenset[str] = frozenset()

    def of(self, *states: State) -> list[JudgedComparison]:
        return [each for each in self.judged if each.state in states]

    @property
    def violated(self) -> list[JudgedComparison]:
        """Violations by decreasing ratio."""
        return sorted(self.of("violated"), key=lambda each: -each.ratio.value)

    @property
    def worst(self) -> list[JudgedComparison]:
        """For each violating case, the violation with the largest ratio, by decreasing ratio."""
        by_case: dict[Case, JudgedComparison] = {}
        for each in self.violated:
            by_case.setdefault(each.left, each)
        return list(by_case.values())

    @property
    def conclusive(self) -> bool:
        """Whether there is a violation, or most comparisons are decided."""
        return bool(self.violated) or 2 * len(self.of("holds")) >= len(self.judged) > 0

    @property
    def lacking(self) -> list[Guideline]:
        """Emulations without a comparison."""
        rules = {each.rule for each in self.judged}
        return [rule for rule in EMULATIONS if rule not in rules]

    @property
    def rules(self) -> list[Guideline]:
        """The judged rules in order."""
        used = {each.rule for each in self.judged}
        return [rule for rule in RULES if rule in used]


def judge(
    observations: Sequence[Observation], catalog: Catalog, factor: float = FACTOR, *, exact: bool = False
) -> GuidelineVerdicts:
    """Judge the guidelines that the `observations` of a run allow. `exact`: the times do not vary. If hot
    buffers were measured, others are left out, because more comparisons need clearer differences."""
    by_case = {observation.case: observation for observation in _on_hot_buffers(observations)}
    all_comparisons = comparisons(by_case, catalog)
    ratios = [_ratio(each, by_case, exact) for each in all_comparisons]
    p_values = [ratio.p_above(factor) for ratio in ratios]
    adjusted = iter(adjust_p_values([p for p in p_values if p is not None]))
    judged = []
    for comparison, ratio, p in zip(all_comparisons, ratios, p_values, strict=True):
        q = None if p is None else next(adjusted)
        judged.append(JudgedComparison(comparison, ratio.ratio, q, _state(ratio.ratio, q, factor)))
    compared = {case for each in all_comparisons for case in (each.left, *(part.case for part in each.parts))}
    launches = frozenset(name for case in compared for name in by_case[case].launches)
    return GuidelineVerdicts(factor, tuple(judged), launches)


def _on_hot_buffers(observations: Sequence[Observation]) -> list[Observation]:
    hot_observations = [
        observation for observation in observations if observation.case.get("buffers", HOT) == HOT
    ]
    return hot_observations or list(observations)


def _ratio(comparison: GuidelineComparison, by_case: dict[Case, Observation], exact: bool) -> RatioEstimate:
    terms = [(by_case[part.case], float(part.count)) for part in comparison.parts]
    return ratio_to_sum(by_case[comparison.left], terms, exact=exact)


def _state(ratio: Estimate, p: float | None, factor: float) -> State:
    if p is None or ratio.high is None:
        return "unknown"
    if p <= SIGNIFICANCE_LEVEL:
        return "violated"
    return "holds" if ratio.high <= factor else "undecided"
