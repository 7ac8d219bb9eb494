# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Two sides, compared: the verdicts, in sentences and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import sentences
from hockney.core.fit import Cost, Estimate, ExactValue
from hockney.core.units import format_percent
from hockney.core.wording import join_words, list_names, plural
from hockney.draw.page import Caveat, Table
from hockney.judgements.environment import REPORTED, Difference
from hockney.judgements.judgement import CaseResult, JudgedCase, JudgedOperation, Judgement, Suite
from hockney.judgements.sides import Side
from hockney.models.comparison import CaseVerdict, Effect, JudgedCases, OperationVerdict, State
from hockney.models.significance import UNDECIDED_VERDICTS
from hockney.mpi import title_of
from hockney.pages.columns import (
    COUNT_FORMAT,
    INTERVAL_HEADING,
    SECONDS_FORMAT,
    Column,
    Format,
    columns_table,
)
from hockney.pages.format import EXACT_TEXT
from hockney.pages.labels import short_labels

ORDER: tuple[State, ...] = ("slower", "faster", "undecided", "unknown", "same")
"""The order of operations for readers: what has changed comes first."""


@dataclass(frozen=True)
class Unmatched:
    """A case that only one side measured. `failure` is why the other side has no result, if it tried:
    hung, died, refused, memory, corrupted. `expected`: the other side should have measured it
    (`hockney.judgements.sides`)."""

    case: Case
    failure: str = ""
    expected: bool = False


@dataclass(frozen=True)
class ComparedSides(Judgement[CaseVerdict]):
    """Times of B relative to those of A. `differences` are those of their environments, `caveats` reasons
    to doubt the result; `catalog` defines the workloads."""

    a: Side
    b: Side
    cost: Cost
    judged: JudgedCases
    only_a: tuple[Unmatched, ...]
    only_b: tuple[Unmatched, ...]
    differences: tuple[Difference, ...]
    caveats: tuple[Caveat, ...]
    catalog: Catalog

    command = "hockney compare"
    headings = "What differs", "Biggest changes"
    counts_omitted = True

    @property
    def tolerance(self) -> float:
        return self.judged.tolerance

    @property
    def paired(self) -> bool:
        """Whether the launches of A and B took turns and count in pairs."""
        return self.judged.paired

    @property
    def effect(self) -> Effect | None:
        """Whether B differs from A at all; None unless the launches of A and B took turns."""
        return self.judged.effect

    @property
    def reported(self) -> tuple[Difference, ...]:
        """The differences in what MPI reports: itself, transport, binding."""
        return tuple(each for each in self.differences if each.name in REPORTED)

    @property
    def cases(self) -> tuple[CaseVerdict, ...]:
        return self.judged.cases

    @property
    def operations(self) -> tuple[OperationVerdict, ...]:
        return self.judged.operations

    @property
    def changed_first(self) -> list[OperationVerdict]:
        """The operations by verdict, then those with the biggest changes first; those that are the same by
        name."""
        return sorted(
            self.operations,
            key=lambda each: (
                ORDER.index(each.state),
                0.0 if each.state == "same" else -max(case.change for case in each.cases),
            ),
        )

    @property
    def state(self) -> State:
        """slower if an operation is; otherwise undecided if one is, or if B failed in a case of A or lacks
        one that it should have; otherwise faster if one is."""
        states: set[State] = {operation.state for operation in self.operations}
        if self.failed or self.missing:
            states.add("undecided")
        if "unknown" in states:
            states.add("undecided")
        order: tuple[State, ...] = ("slower", "undecided", "faster", "same")
        return next(state for state in order if state in states)

    def of(self, *states: State) -> list[CaseVerdict]:
        """The cases with these verdicts, biggest changes first."""
        return [each for each in self.judged.biggest_first if each.state in states]

    @property
    def failed(self) -> tuple[Unmatched, ...]:
        """Cases that A measured and on which B failed."""
        return tuple(each for each in self.only_a if each.failure)

    @property
    def missing(self) -> tuple[Unmatched, ...]:
        """Cases that A measured, and that B should have measured."""
        return tuple(each for each in self.only_a if each.expected and not each.failure)

    @property
    def several_levels(self) -> bool:
        """Whether operations were measured at more than one level."""
        return len({operation.level for operation in self.operations}) > 1

    @property
    def wrong_data(self) -> str:
        return f"Data arrived corrupted in {plural(self.b.wrong, 'record')} of B." if self.b.wrong else ""

    @property
    def overall(self) -> str:
        """Wrong data first: times of operations whose results are wrong say little."""
        return " ".join(filter(None, (self.wrong_data, _times(self))))

    @property
    def answer(self) -> tuple[str, ...]:
        return (self.overall, *_operations(self))

    @property
    def sides(self) -> tuple[str, ...]:
        return side(self.a), side(self.b)

    @property
    def effect_sentences(self) -> tuple[str, ...]:
        """The effect on times, and whether MPI reports anything else on side B; empty unless launches took
        turns."""
        effect = self.effect
        return () if effect is None else (_effect_on_times(effect, self), _reported(effect, self.reported))

    @property
    def details(self) -> tuple[str, ...]:
        return self.answer[1:]

    @property
    def lacking(self) -> tuple[str, ...]:
        return without_comparison(self)

    @property
    def changed(self) -> list[CaseVerdict]:
        return self.of("slower", "faster")

    @property
    def open_cases(self) -> list[CaseVerdict]:
        return self.of(*UNDECIDED_VERDICTS)

    @property
    def ordered(self) -> list[CaseVerdict]:
        return self.judged.biggest_first

    @property
    def differences_table(self) -> Table:
        rows = tuple((each.name, each.a, each.b) for each in self.differences)
        return Table("differences", "What differs between A and B", ("what", "A", "B"), rows)

    @property
    def operations_table(self) -> Table:
        return operations_table(self)

    def cases_table(self, cases: Sequence[CaseVerdict], name: str, title: str) -> Table:
        return cases_table(self, cases, name, title)

    def judged_operations(self) -> Iterator[JudgedOperation]:
        name = labels(self)
        for each in self.operations:
            cases = tuple(_judged_case(case, name) for case in each.cases)
            sentence = operation(each, self, name)
            yield JudgedOperation(title(each, self), each.workload, each.mean_state, sentence, cases)

    @property
    def facts(self) -> list[tuple[str, str]]:
        return [
            *(("effect", effect) for effect in self.effect_sentences[:1]),
            *(("warning", sentences(caveat.text, caveat.todo)) for caveat in self.caveats),
            ("A", side(self.a)),
            ("B", side(self.b)),
            *(
                (f"{each.name}, {where}", text)
                for each in self.differences
                for where, text in (("A", each.a), ("B", each.b))
            ),
        ]

    def lacking_tests(self) -> list[Suite]:
        name = labels(self)
        tests = [
            _one_sided(each, where, name)
            for where, cases in (("A", self.only_a), ("B", self.only_b))
            for each in cases
        ]
        return [Suite("measured on one side only", tests)]


def _judged_case(each: CaseVerdict, name: Callable[[Case], str]) -> JudgedCase:
    reason = f"B / A is {ratio(each.ratio)}{relative(each)}: {verdict(each.state)}"
    if each.state in UNDECIDED_VERDICTS:
        reason = f"{reason}; more launches to decide: {more(each)}"
    return JudgedCase(name(each.case), each.case.line, each.state, reason, each.b.value)


def _one_sided(each: Unmatched, where: str, name: Callable[[Case], str]) -> CaseResult:
    label, group, line = name(each.case), each.case.workload, each.case.line
    if each.failure and where == "A":
        return CaseResult(label, group, "error", f"B failed: {each.failure}", each.failure, line)
    if each.expected and where == "A":
        return CaseResult(label, group, "error", "B should have measured it", "missing", line)
    return CaseResult(label, group, "skipped", f"only {where} measured it")


MAX_CASES = 5
WORDS: dict[State, str] = {"same": "the same", "unknown": "no interval"}
"""The words for verdicts whose name differs from the state."""


def labels(comparison: ComparedSides) -> Callable[[Case], str]:
    """Short names of all cases."""
    cases = [each.case for each in comparison.cases]
    cases += [each.case for each in (*comparison.only_a, *comparison.only_b)]
    named = short_labels(cases, comparison.catalog)
    return lambda case: named.get(case.line, case.line)


def verdict(state: State) -> str:
    return WORDS.get(state, state)


def side(measured: Side) -> str:
    """ "A: runs/old (old stack), node7, Open MPI 4.1.6, 10 launches, 2026-01-31 09:30 UTC"."""
    names = list_names([run.name for run in measured.runs], MAX_CASES)
    label = f" ({'; '.join(measured.labels)})" if measured.labels else ""
    machines = {run.machine.host: run.machine for run in measured.runs}
    places = [machine.cpu if machine.traits.published else host for host, machine in machines.items()]
    mpis = dict.fromkeys(title_of(run.machine.mpi) for run in measured.runs if run.machine.mpi)
    words = [
        names + label,
        list_names(places),
        *mpis,
        plural(measured.launches, "launch", "launches"),
        _when(measured),
    ]
    return f"{measured.name}: {', '.join(filter(None, words))}"


def _when(measured: Side) -> str:
    started = [launch.started_s for run in measured.runs for launch in run.run.launches]
    if not started or any(run.machine.traits.described for run in measured.runs):
        return ""
    try:
        return datetime.fromtimestamp(min(started), timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):  # a date outside the calendar's range
        return ""


def _operations(comparison: ComparedSides) -> list[str]:
    """A sentence for each operation, the slower ones first; one for all undecided operations and one for all
    that are the same, unless some of their cases changed: the table has their numbers."""
    name = labels(comparison)
    undecided, same = _without_change(comparison, *UNDECIDED_VERDICTS), _without_change(comparison, "same")
    rest = [
        operation(each, comparison, name)
        for each in comparison.changed_first
        if each not in (*undecided, *same)
    ]
    if undecided:
        more = _more([case for each in undecided for case in each.of(*UNDECIDED_VERDICTS)])
        rest.append(f"Undecided: {_titles(undecided, comparison)}{f' ({more})' if more else ''}.")
    if same:
        rest.append(f"The same within {format_percent(comparison.tolerance)}: {_titles(same, comparison)}.")
    return rest


def _without_change(comparison: ComparedSides, *states: State) -> list[OperationVerdict]:
    """The operations of these states, if there are several, without those with slower or faster cases."""
    operations = [
        each for each in comparison.operations if each.state in states and not each.of("slower", "faster")
    ]
    return operations if len(operations) > 1 else []


def _titles(operations: Iterable[OperationVerdict], comparison: ComparedSides) -> str:
    return join_words(sorted(title(each, comparison) for each in operations))


def title(operation: OperationVerdict, comparison: ComparedSides) -> str:
    """The workload's name, with the level if there are several."""
    return (
        f"{operation.workload} {operation.level}"
        if operation.level and comparison.several_levels
        else operation.workload
    )


def _times(comparison: ComparedSides) -> str:
    count = len(comparison.operations)
    operations = plural(count, "operation")
    slower, faster, same = (
        sum(each.state == state for each in comparison.operations) for state in ("slower", "faster", "same")
    )
    limit = format_percent(comparison.tolerance)
    if slower:
        also = f", and faster in {faster}" if faster else ""
        return f"B is slower than A in {slower} of {operations}{_worst(comparison)}{also}."
    if comparison.state == "undecided":
        open_ = count - faster - same
        if not open_ and comparison.failed:
            failures = plural(len(comparison.failed), "case")
            return f"Undecided: no operation is slower, but B failed in {failures} that A measured."
        if not open_:
            lacks = plural(len(comparison.missing), "case")
            return f"Undecided: no operation is slower, but B lacks {lacks} that it should have."
        some = f"no operation is slower, but {open_} of {operations}" if count > open_ else operations
        return f"Undecided: {some} may be slower by more than {limit}."
    if faster:
        rest = f", and the same within {limit} in {same}" if same else ""
        return f"B is faster than A in {faster} of {operations}{rest}; none is slower."
    verb = "takes" if count == 1 else "take"
    return f"B is not slower than A: {operations} {verb} the same time within {limit}."


def _worst(comparison: ComparedSides) -> str:
    slower = comparison.of("slower")
    if not slower:
        return ""
    return f", most in {labels(comparison)(slower[0].case)} ({slower[0].ratio.value:.2f} times as long)"


def operation(verdict: OperationVerdict, comparison: ComparedSides, name: Callable[[Case], str]) -> str:
    """ "allreduce: slower in 3 of 12 cases, most in allreduce, 4 KiB, 2 ranks: 1.312 (95%: ...); ..."."""
    count, limit = len(verdict.cases), format_percent(comparison.tolerance)
    parts = [
        f"{state} in {len(changed)} of {plural(count, 'case')}, most in {_case(changed[0], name)}"
        for state in ("slower", "faster")
        if (changed := verdict.of(state))
    ]
    mean = f"on average {ratio(verdict.ratio)}{_relative(verdict)}"
    if not parts and verdict.state == "same":
        parts = [f"the same within {limit}"]
    elif not parts and verdict.state in ("slower", "faster"):
        parts = [verdict.state]
    elif verdict.state in ("undecided", "unknown"):
        parts.append("undecided")
    still_open = verdict.of(*UNDECIDED_VERDICTS)
    undecided = len(still_open)
    portion = f"all {undecided}" if undecided == count else f"{undecided} of {count}"
    rest = _more(still_open)
    if undecided and count > 1:
        rest = f"{portion} cases {'is' if undecided == 1 else 'are'} undecided" + (
            f" ({rest})" if rest else ""
        )
    return (
        f"{title(verdict, comparison)}: {'; '.join(filter(None, [*parts, mean if count > 1 else '', rest]))}."
    )


def _case(each: CaseVerdict, name: Callable[[Case], str]) -> str:
    return f"{name(each.case)}: {ratio(each.ratio)}{_relative(each)}"


def _relative(each: CaseVerdict | OperationVerdict) -> str:
    return relative(each) if each.state in ("slower", "faster") else ""


def relative(each: CaseVerdict | OperationVerdict) -> str:
    """ ", relative to operations that did not change 1.031 (95%: ...)"; empty if there are none."""
    return f", relative to operations that did not change {ratio(each.relative)}" if each.relative else ""


def ratio(estimate: Estimate) -> str:
    """ "1.031 (95%: 1.025 to 1.037)"."""
    ends = ratio_ends(estimate)
    return f"{estimate.value:.3f}" + (
        "" if ends == EXACT_TEXT else f" (95%: {ends})" if ends else " (no interval)"
    )


def _more(undecided: Sequence[CaseVerdict]) -> str:
    """The number of launches that would decide the undecided case, or half of several."""
    counts = sorted(max(case.more_launches) for case in undecided if case.more_launches)
    if not counts:
        return ""
    launches = plural(counts[(len(counts) - 1) // 2], "more launch", "more launches")
    return f"about {launches} of each side would decide {'half of these cases' if len(counts) > 1 else 'it'}"


def without_comparison(comparison: ComparedSides) -> tuple[str, ...]:
    """The cases that only one side measured, and the operations of which the other has none."""
    texts, name = [], labels(comparison)
    shared = {each.workload for each in comparison.operations}
    for here, other, cases in (("A", "B", comparison.only_a), ("B", "A", comparison.only_b)):
        failed = [each for each in cases if each.failure]
        lacking = [each for each in cases if each.expected and not each.failure]
        others = [each for each in cases if not each.expected and not each.failure]
        absent = list(dict.fromkeys(each.case.workload for each in cases if each.case.workload not in shared))
        if absent:
            texts.append(
                f"{other} has no result of {plural(len(absent), 'operation')}: {list_names(absent)}."
            )
        if failed:
            listed = list_names([f"{name(each.case)} ({each.failure})" for each in failed], MAX_CASES)
            texts.append(f"{other} failed in {plural(len(failed), 'case')} that {here} measured: {listed}.")
        if lacking:
            count = plural(len(lacking), "case")
            texts.append(f"{other} lacks {count} that it should have: {_listed(lacking, name)}.")
        if others:
            texts.append(f"Only {here} measured {plural(len(others), 'case')}: {_listed(others, name)}.")
    return tuple(texts)


def _listed(cases: Iterable[Unmatched], name: Callable[[Case], str]) -> str:
    return list_names([name(each.case) for each in cases], MAX_CASES)


def more(each: CaseVerdict) -> str:
    """Additional launches that would decide it, of A and of B; empty if it is decided."""
    if each.state not in ("undecided", "unknown"):
        return ""
    if each.more_launches is None:
        return "many"
    first, second = each.more_launches
    return str(first) if first == second else f"{first}, {second}"


def ratio_ends(ratio: Estimate) -> str:
    """ "1.032 to 1.041", "exact", or empty if unknown."""
    if isinstance(ratio, ExactValue):
        return EXACT_TEXT
    return "" if ratio.low is None or ratio.high is None else f"{ratio.low:.3f} to {ratio.high:.3f}"


def _effect_on_times(effect: Effect, comparison: ComparedSides) -> str:
    if effect.state == "found" and effect.clearest is not None:
        return f"What differs has an effect, most clearly on {_clearest(effect.clearest, comparison)}."
    if effect.bound is None or effect.widest is None:
        return "Whether what differs has any effect is unknown: a ratio has no interval."
    name = title(effect.widest, comparison)
    mean = f"the mean of an operation differs by {_percent(effect.bound)} at most ({name})"
    case = ""
    if effect.case_bound is not None and effect.widest_case is not None and len(comparison.cases) > 1:
        name = labels(comparison)(effect.widest_case.case)
        case = f", a single case by {_percent(effect.case_bound)} at most ({name})"
    start = "No effect found" if effect.state == "none" else "Whether there is any effect is undecided"
    return f"{start}: {mean}{case}."


def _reported(effect: Effect, differences: tuple[Difference, ...]) -> str:
    if differences:
        changes = list_names([f"{each.name} ({each.a}; {each.b})" for each in differences])
        return f"MPI reports a difference: {changes}."
    unused = "; the setting may not be in use" if effect.state == "none" else ""
    return f"What MPI and its launches report does not differ{unused}."


def _clearest(verdict: CaseVerdict | OperationVerdict, comparison: ComparedSides) -> str:
    if isinstance(verdict, CaseVerdict):
        name = labels(comparison)(verdict.case)
        return f"{name}: {verdict.ratio.value:.3f} (95%: {ratio_ends(verdict.ratio)}){relative(verdict)}"
    mean = f"{verdict.ratio.value:.3f} on average (95%: {ratio_ends(verdict.ratio)})"
    return f"{title(verdict, comparison)}: {mean}{relative(verdict)}"


def _percent(bound: float) -> str:
    return format_percent(round(bound - 1, 3))


RATIO = "B / A"
RELATIVE = "relative"
MEANING = "Relative: to the mean of the operations that did not change (95% interval)."
THREE_DECIMALS = Format(lambda ratio: f"{ratio.value:.3f}", interval=ratio_ends)


def _with_ends(ratio: Estimate) -> str:
    """ "1.052 (1.044 to 1.061)"."""
    ends = ratio_ends(ratio)
    return f"{ratio.value:.3f}" + (f" ({ends})" if ends else "")


WITH_ENDS = Format(_with_ends)


def operations_table(
    comparison: ComparedSides, operations: Sequence[OperationVerdict] | None = None
) -> Table:
    """One row for each of `operations`, by default all with those that changed first, with the number of
    its cases by verdict."""
    operations = comparison.changed_first if operations is None else operations
    relative = any(each.relative for each in operations)

    def count(heading: str, *states: State) -> Column[OperationVerdict]:
        return Column(heading, lambda each: len(each.of(*states)), COUNT_FORMAT)

    columns: tuple[Column[OperationVerdict], ...] = (
        Column("operation", lambda each: each.workload),
        Column("level" if comparison.several_levels else "", lambda each: each.level),
        Column("cases", lambda each: len(each.cases), COUNT_FORMAT),
        count("slower", "slower"),
        count("faster", "faster"),
        count("the same", "same"),
        count("undecided", *UNDECIDED_VERDICTS),
        Column(f"mean {RATIO}", lambda each: each.ratio, THREE_DECIMALS, interval=INTERVAL_HEADING),
        Column(RELATIVE if relative else "", lambda each: each.relative, WITH_ENDS),
        Column("verdict", lambda each: verdict(each.state)),
    )
    return columns_table("operations", "Operations", columns, operations, MEANING if relative else "")


def cases_table(comparison: ComparedSides, cases: Sequence[CaseVerdict], name: str, title: str) -> Table:
    """Cases with both times, their ratio and verdict; and with the launches that would decide them, if some
    of them are undecided."""
    named, open_ = labels(comparison), any(more(each) for each in cases)
    relative = any(each.relative for each in cases)
    columns: tuple[Column[CaseVerdict], ...] = (
        Column("case", lambda each: named(each.case)),
        Column("A", lambda each: each.a, SECONDS_FORMAT),
        Column("B", lambda each: each.b, SECONDS_FORMAT),
        Column(RATIO, lambda each: each.ratio, THREE_DECIMALS, interval=INTERVAL_HEADING),
        Column(RELATIVE if relative else "", lambda each: each.relative, WITH_ENDS),
        Column("launches", lambda each: f"{each.launches[0]}, {each.launches[1]}", COUNT_FORMAT),
        Column("verdict", lambda each: verdict(each.state)),
        Column("more launches" if open_ else "", more, COUNT_FORMAT),
    )
    captions = ["More launches: of A and of B, that would decide the case, approximately."] if open_ else []
    captions += [MEANING] if relative else []
    if comparison.paired:
        captions.append(
            "B / A is that of pairs of launches, excluding pairs during which the machine changed"
            f"{_most_excluded(cases)}."
        )
    return columns_table(name, title, columns, cases, " ".join(captions))


def _most_excluded(cases: Sequence[CaseVerdict]) -> str:
    """ " (up to 3 of 40: B far slower in 2, far faster in 1)"."""
    most = max(cases, key=lambda each: sum(each.excluded), default=None)
    if most is None or not any(most.excluded):
        return ""
    slower, faster = most.excluded
    return (
        f" (up to {slower + faster} of {most.launches[0]}: B far slower in {slower}, far faster in {faster})"
    )
