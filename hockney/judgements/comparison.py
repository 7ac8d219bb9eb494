# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of two sides: the verdicts, as sentences and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import join_sentences
from hockney.core.fit import Cost, Estimate, ExactValue
from hockney.core.units import format_percent
from hockney.core.wording import join_words, list_names, plural
from hockney.draw.page import Caveat, Table
from hockney.judgements.environment import MPI_FACTS, Difference
from hockney.judgements.judgement import CaseResult, JudgedCase, JudgedOperation, Judgement, Suite
from hockney.judgements.sides import Side
from hockney.models.comparison import CaseVerdict, Effect, JudgedCases, OperationVerdict, Parts, State
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
from hockney.pages.format import EXACT_TEXT, format_share
from hockney.pages.labels import short_labels

STATE_ORDER: tuple[State, ...] = ("slower", "faster", "undecided", "unknown", "same")
"""The order in which operations are shown: changed ones first."""


@dataclass(frozen=True)
class UnmatchedCase:
    """A case that only one side measured. `failure` is the reason if the other side tried it without a
    result: hung, died, refused, memory, corrupted. `is_expected` is set if the other side should have
    measured it (`hockney.judgements.sides`)."""

    case: Case
    failure: str = ""
    is_expected: bool = False


@dataclass(frozen=True)
class ComparedSides(Judgement[CaseVerdict]):
    """Times of B relative to those of A. `differences` are differences between the environments, `caveats`
    reasons to doubt the result; `catalog` defines the workloads."""

    a: Side
    b: Side
    cost: Cost
    judged_cases: JudgedCases
    only_a: tuple[UnmatchedCase, ...]
    only_b: tuple[UnmatchedCase, ...]
    differences: tuple[Difference, ...]
    caveats: tuple[Caveat, ...]
    catalog: Catalog

    command = "hockney compare"
    headings = "What differs", "Biggest changes"
    reports_omitted_count = True

    @property
    def tolerance(self) -> float:
        return self.judged_cases.tolerance

    @property
    def is_paired(self) -> bool:
        """Whether launches of A and B alternated and are compared in pairs."""
        return self.judged_cases.paired

    @property
    def effect(self) -> Effect | None:
        """Whether B differs from A at all; None unless launches of A and B alternated."""
        return self.judged_cases.effect

    @property
    def reported_differences(self) -> tuple[Difference, ...]:
        """The differences in what MPI reports: its version, transport, binding."""
        return tuple(difference for difference in self.differences if difference.name in MPI_FACTS)

    @property
    def cases(self) -> tuple[CaseVerdict, ...]:
        return self.judged_cases.cases

    @property
    def operations(self) -> tuple[OperationVerdict, ...]:
        return self.judged_cases.operations

    @property
    def operations_by_change(self) -> list[OperationVerdict]:
        """The operations by verdict, then by the size of the change; unchanged operations by name."""
        return sorted(
            self.operations,
            key=lambda operation: (
                STATE_ORDER.index(operation.state),
                0.0 if operation.state == "same" else -max(case.change for case in operation.cases),
            ),
        )

    @property
    def state(self) -> State:
        """The verdict: "slower" if an operation is slower. Otherwise "undecided" if an operation is
        undecided, or if B failed in a case of A or lacks an expected case. Otherwise "faster" if an operation
        is faster."""
        states: set[State] = {operation.state for operation in self.operations}
        if self.failed_cases or self.missing_cases:
            states.add("undecided")
        if "unknown" in states:
            states.add("undecided")
        order: tuple[State, ...] = ("slower", "undecided", "faster", "same")
        return next(state for state in order if state in states)

    def cases_with_states(self, *states: State) -> list[CaseVerdict]:
        """Return the cases with these verdicts, biggest changes first."""
        return [verdict for verdict in self.judged_cases.biggest_first if verdict.state in states]

    @property
    def failed_cases(self) -> tuple[UnmatchedCase, ...]:
        """Cases that A measured and in which B failed."""
        return tuple(unmatched for unmatched in self.only_a if unmatched.failure)

    @property
    def missing_cases(self) -> tuple[UnmatchedCase, ...]:
        """Cases that A measured and that B should have measured."""
        return tuple(
            unmatched for unmatched in self.only_a if unmatched.is_expected and not unmatched.failure
        )

    @property
    def has_several_levels(self) -> bool:
        """Whether operations were measured at more than one level."""
        return len({operation.level for operation in self.operations}) > 1

    @property
    def nouns(self) -> tuple[str, str]:
        """What is judged, singular and plural."""
        if self.judged_cases.parts is None:
            return "operation", "operations"
        return "part of the machine", "parts of the machine"

    @property
    def wrong_data_sentence(self) -> str:
        return (
            f"Data arrived corrupted in {plural(self.b.wrong_count, 'record')} of B."
            if self.b.wrong_count
            else ""
        )

    @property
    def overall_sentence(self) -> str:
        """The result in a sentence. Wrong data come first, because the times of wrong results mean little."""
        return " ".join(filter(None, (self.wrong_data_sentence, _overall_sentence(self))))

    @property
    def answer_sentences(self) -> tuple[str, ...]:
        return (self.overall_sentence, *_operation_sentences(self))

    @property
    def side_lines(self) -> tuple[str, ...]:
        return side_line(self.a), side_line(self.b)

    @property
    def effect_sentences(self) -> tuple[str, ...]:
        """The effect on times, and the differences that MPI reports; empty unless launches alternated."""
        effect = self.effect
        return (
            ()
            if effect is None
            else (_effect_sentence(effect, self), _reported_sentence(effect, self.reported_differences))
        )

    @property
    def detail_sentences(self) -> tuple[str, ...]:
        return self.answer_sentences[1:]

    @property
    def missing_result_sentences(self) -> tuple[str, ...]:
        return one_sided_sentences(self)

    @property
    def changed_cases(self) -> list[CaseVerdict]:
        return self.cases_with_states("slower", "faster")

    @property
    def undecided_cases(self) -> list[CaseVerdict]:
        return self.cases_with_states(*UNDECIDED_VERDICTS)

    @property
    def ordered_cases(self) -> list[CaseVerdict]:
        return self.judged_cases.biggest_first

    @property
    def differences_table(self) -> Table:
        rows = tuple((difference.name, difference.a, difference.b) for difference in self.differences)
        return Table("differences", "What differs between A and B", ("what", "A", "B"), rows)

    @property
    def operations_table(self) -> Table:
        return operations_table(self)

    def cases_table(self, cases: Sequence[CaseVerdict], name: str, title: str) -> Table:
        return cases_table(self, cases, name, title)

    def judged_operations(self) -> Iterator[JudgedOperation]:
        label = comparison_labels(self)
        for operation in self.operations:
            cases = tuple(_to_judged_case(case, label) for case in operation.cases)
            sentence = operation_sentence(operation, self, label)
            yield JudgedOperation(
                operation_title(operation, self), operation.workload, operation.mean_state, sentence, cases
            )

    @property
    def facts(self) -> list[tuple[str, str]]:
        return [
            *(("effect", effect) for effect in self.effect_sentences[:1]),
            *(("warning", join_sentences(caveat.text, caveat.todo)) for caveat in self.caveats),
            ("A", side_line(self.a)),
            ("B", side_line(self.b)),
            *(
                (f"{difference.name}, {side_name}", text)
                for difference in self.differences
                for side_name, text in (("A", difference.a), ("B", difference.b))
            ),
        ]

    def missing_result_tests(self) -> list[Suite]:
        label = comparison_labels(self)
        tests = [
            _one_sided_result(unmatched, side_name, label)
            for side_name, cases in (("A", self.only_a), ("B", self.only_b))
            for unmatched in cases
        ]
        parts = self.judged_cases.parts or Parts()
        tests += [
            CaseResult(part, part.split()[0], "skipped", f"only {side_name} measured it")
            for side_name, only in (("A", parts.only_a), ("B", parts.only_b))
            for part in only
        ]
        return [Suite("measured on one side only", tests)]


def _to_judged_case(verdict: CaseVerdict, label: Label) -> JudgedCase:
    change = delays_text(verdict) or f"B / A is {ratio_text(verdict.ratio)}{relative_text(verdict)}"
    reason = f"{change}: {state_text(verdict.state)}"
    if verdict.state in UNDECIDED_VERDICTS:
        reason = f"{reason}; more launches to decide: {more_launches_text(verdict)}"
    return JudgedCase(label(verdict), verdict.case.line, verdict.state, reason, verdict.b.value)


def _one_sided_result(unmatched: UnmatchedCase, side_name: str, label: Label) -> CaseResult:
    case_label, group, line = label(unmatched), unmatched.case.workload, unmatched.case.line
    if unmatched.failure and side_name == "A":
        return CaseResult(
            case_label, group, "error", f"B failed: {unmatched.failure}", unmatched.failure, line
        )
    if unmatched.is_expected and side_name == "A":
        return CaseResult(case_label, group, "error", "B should have measured it", "missing", line)
    return CaseResult(case_label, group, "skipped", f"only {side_name} measured it")


MAX_CASES = 5
STATE_PHRASES: dict[State, str] = {"same": "the same", "unknown": "no interval"}
"""Phrases for states that are not shown by their names."""


Label = Callable[[CaseVerdict | UnmatchedCase], str]


def comparison_labels(comparison: ComparedSides) -> Label:
    """Return a function that gives the short label of each case, or the part of the machine that it is a time
    of."""
    cases = [item.case for item in comparison.cases]
    cases += [item.case for item in (*comparison.only_a, *comparison.only_b)]
    labels_by_line = short_labels(cases, comparison.catalog)

    def label(item: CaseVerdict | UnmatchedCase) -> str:
        part = item.part if isinstance(item, CaseVerdict) else ""
        return part or labels_by_line.get(item.case.line, item.case.line)

    return label


def state_text(state: State) -> str:
    return STATE_PHRASES.get(state, state)


def side_line(measured_side: Side) -> str:
    """Return a line such as "A: runs/old (old stack), node7, Open MPI 4.1.6, 10 launches, 2026-01-31 09:30
    UTC"."""
    run_names = list_names([run.name for run in measured_side.runs], MAX_CASES)
    label = f" ({'; '.join(measured_side.labels)})" if measured_side.labels else ""
    machines = {run.machine.host: run.machine for run in measured_side.runs}
    places = [machine.cpu if machine.traits.published else host for host, machine in machines.items()]
    mpis = dict.fromkeys(title_of(run.machine.mpi) for run in measured_side.runs if run.machine.mpi)
    parts = [
        run_names + label,
        list_names(places),
        *mpis,
        plural(measured_side.launch_count, "launch", "launches"),
        _start_date(measured_side),
    ]
    return f"{measured_side.name}: {', '.join(filter(None, parts))}"


def _start_date(measured: Side) -> str:
    starts_s = [launch.started_s for run in measured.runs for launch in run.run.launches]
    if not starts_s or any(run.machine.traits.described for run in measured.runs):
        return ""
    try:
        return datetime.fromtimestamp(min(starts_s), timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):  # a date outside the calendar's range
        return ""


def _operation_sentences(comparison: ComparedSides) -> list[str]:
    """Return a sentence for each operation, slower ones first. All undecided operations share one sentence,
    and so do all unchanged ones, unless some of their cases changed; the table contains their numbers."""
    label = comparison_labels(comparison)
    undecided, same = (
        _unchanged_operations(comparison, *UNDECIDED_VERDICTS),
        _unchanged_operations(comparison, "same"),
    )
    sentences_ = [
        operation_sentence(operation, comparison, label)
        for operation in comparison.operations_by_change
        if operation not in (*undecided, *same)
    ]
    if undecided:
        launches_text = _median_launches_text(
            [case for operation in undecided for case in operation.of(*UNDECIDED_VERDICTS)]
        )
        sentences_.append(
            "Undecided: "
            f"{_join_titles(undecided, comparison)}{f' ({launches_text})' if launches_text else ''}."
        )
    if same:
        sentences_.append(
            f"The same within {format_percent(comparison.tolerance)}: {_join_titles(same, comparison)}."
        )
    return sentences_


def _unchanged_operations(comparison: ComparedSides, *states: State) -> list[OperationVerdict]:
    """Return the operations with these states and no slower or faster case, if there are at least two."""
    operations = [
        operation
        for operation in comparison.operations
        if operation.state in states and not operation.of("slower", "faster")
    ]
    return operations if len(operations) > 1 else []


def _join_titles(operations: Iterable[OperationVerdict], comparison: ComparedSides) -> str:
    titles = [operation_title(operation, comparison) for operation in operations]
    if comparison.judged_cases.parts is not None:
        return list_names(titles, MAX_CASES)
    return join_words(sorted(titles))


def operation_title(operation: OperationVerdict, comparison: ComparedSides) -> str:
    """Return the name of the workload, with the level if there are several."""
    return (
        f"{operation.workload} {operation.level}"
        if operation.level and comparison.has_several_levels
        else operation.workload
    )


def _overall_sentence(comparison: ComparedSides) -> str:
    operation_count = len(comparison.operations)
    operations = plural(operation_count, *comparison.nouns)
    slower_count, faster_count, same_count = (
        sum(operation.state == state for operation in comparison.operations)
        for state in ("slower", "faster", "same")
    )
    tolerance_text, noun = format_percent(comparison.tolerance), comparison.nouns[0]
    if slower_count:
        faster_text = f", and faster in {faster_count}" if faster_count else ""
        slower_text = f"in {slower_count} of {operations}"
        if comparison.judged_cases.parts is not None:
            slower = [o for o in comparison.operations_by_change if o.state == "slower"]
            slower_text += f": {list_names([operation_title(o, comparison) for o in slower], MAX_CASES)}"
        return f"B is slower than A {slower_text}{_worst_case_phrase(comparison)}{faster_text}."
    if comparison.state == "undecided":
        undecided_count = operation_count - faster_count - same_count
        if not undecided_count and comparison.failed_cases:
            failures = plural(len(comparison.failed_cases), "case")
            return f"Undecided: no {noun} is slower, but B failed in {failures} that A measured."
        if not undecided_count:
            missing_text = plural(len(comparison.missing_cases), "case")
            return f"Undecided: no {noun} is slower, but B lacks {missing_text} that it should have."
        subject = (
            f"no {noun} is slower, but {undecided_count} of {operations}"
            if operation_count > undecided_count
            else operations
        )
        return f"Undecided: {subject} may be slower by more than {tolerance_text}."
    if faster_count:
        same_text = f", and the same within {tolerance_text} in {same_count}" if same_count else ""
        return f"B is faster than A in {faster_count} of {operations}{same_text}; none is slower."
    verb = "takes" if operation_count == 1 else "take"
    return f"B is not slower than A: {operations} {verb} the same time within {tolerance_text}."


def _worst_case_phrase(comparison: ComparedSides) -> str:
    slower = comparison.cases_with_states("slower")
    if not slower:
        return ""
    change = delays_text(slower[0]) or f"{slower[0].ratio.value:.2f} times as long"
    return f", most in {comparison_labels(comparison)(slower[0])} ({change})"


def operation_sentence(operation_verdict: OperationVerdict, comparison: ComparedSides, label: Label) -> str:
    """Return a sentence such as "allreduce: slower in 3 of 12 cases, most in allreduce, 4 KiB, 2 ranks: 1.312
    (95%: ...); ..."."""
    case_count, tolerance_text = len(operation_verdict.cases), format_percent(comparison.tolerance)
    parts = [
        f"{state} in {len(changed_cases)} of {plural(case_count, 'case')}, most in "
        f"{_case_ratio_text(changed_cases[0], label)}"
        for state in ("slower", "faster")
        if (changed_cases := operation_verdict.of(state))
    ]
    mean_text = f"on average {ratio_text(operation_verdict.ratio)}{_changed_relative_text(operation_verdict)}"
    if not parts and operation_verdict.state == "same":
        parts = [f"the same within {tolerance_text}"]
    elif not parts and operation_verdict.state in ("slower", "faster"):
        parts = [operation_verdict.state]
    elif operation_verdict.state in ("undecided", "unknown"):
        parts.append("undecided")
    undecided_cases = operation_verdict.of(*UNDECIDED_VERDICTS)
    undecided_count = len(undecided_cases)
    portion_text = (
        f"all {undecided_count}" if undecided_count == case_count else f"{undecided_count} of {case_count}"
    )
    ending = _median_launches_text(undecided_cases)
    if undecided_count and case_count > 1:
        ending = f"{portion_text} cases {'is' if undecided_count == 1 else 'are'} undecided" + (
            f" ({ending})" if ending else ""
        )
    return (
        f"{operation_title(operation_verdict, comparison)}: "
        f"{'; '.join(filter(None, [*parts, mean_text if case_count > 1 else '', ending]))}."
    )


def _case_ratio_text(verdict: CaseVerdict, label: Label) -> str:
    change = delays_text(verdict) or f"{ratio_text(verdict.ratio)}{_changed_relative_text(verdict)}"
    return f"{label(verdict)}: {change}"


def delays_text(verdict: CaseVerdict) -> str:
    """Return "3.1% of its repetitions instead of 0.2%"; empty unless the case was judged by its delays."""
    if verdict.delays is None:
        return ""
    before, after = (format_share(side.share) for side in verdict.delays)
    return f"{after} of its repetitions instead of {before}"


def _changed_relative_text(verdict: CaseVerdict | OperationVerdict) -> str:
    return relative_text(verdict) if verdict.state in ("slower", "faster") else ""


def relative_text(verdict: CaseVerdict | OperationVerdict) -> str:
    """Return ", relative to operations that did not change 1.031 (95%: ...)"; empty without such
    operations."""
    return (
        f", relative to operations that did not change {ratio_text(verdict.relative)}"
        if verdict.relative
        else ""
    )


def ratio_text(estimate: Estimate) -> str:
    """Format a ratio with its interval: "1.031 (95%: 1.025 to 1.037)"."""
    bounds_text = ratio_interval_text(estimate)
    return f"{estimate.value:.3f}" + (
        "" if bounds_text == EXACT_TEXT else f" (95%: {bounds_text})" if bounds_text else " (no interval)"
    )


def _median_launches_text(undecided: Sequence[CaseVerdict]) -> str:
    """Return the number of launches that would decide the undecided case, or half of the undecided cases."""
    launch_counts = sorted(max(case.more_launches) for case in undecided if case.more_launches)
    if not launch_counts:
        return ""
    launches = plural(launch_counts[(len(launch_counts) - 1) // 2], "more launch", "more launches")
    return (
        f"about {launches} of each side would decide "
        f"{'half of these cases' if len(launch_counts) > 1 else 'it'}"
    )


def one_sided_sentences(comparison: ComparedSides) -> tuple[str, ...]:
    """Return sentences on the cases that only one side measured, and the operations without a result on one
    side."""
    texts, label = list(part_sentences(comparison)), comparison_labels(comparison)
    common_operations = {case.case.workload for item in comparison.operations for case in item.cases}
    for measuring_side, other_side_, cases in (("A", "B", comparison.only_a), ("B", "A", comparison.only_b)):
        failed_cases = [item for item in cases if item.failure]
        missing_cases = [item for item in cases if item.is_expected and not item.failure]
        remaining_cases = [item for item in cases if not item.is_expected and not item.failure]
        missing_operations = list(
            dict.fromkeys(item.case.workload for item in cases if item.case.workload not in common_operations)
        )
        if missing_operations:
            texts.append(
                f"{other_side_} has no result of {plural(len(missing_operations), 'operation')}: "
                f"{list_names(missing_operations)}."
            )
        if failed_cases:
            case_list = list_names([f"{label(item)} ({item.failure})" for item in failed_cases], MAX_CASES)
            texts.append(
                f"{other_side_} failed in {plural(len(failed_cases), 'case')} that {measuring_side} "
                f"measured: {case_list}."
            )
        if missing_cases:
            count = plural(len(missing_cases), "case")
            texts.append(
                f"{other_side_} lacks {count} that it should have: {_list_cases(missing_cases, label)}."
            )
        if remaining_cases:
            texts.append(
                f"Only {measuring_side} measured {plural(len(remaining_cases), 'case')}: "
                f"{_list_cases(remaining_cases, label)}."
            )
    return tuple(texts)


def part_sentences(comparison: ComparedSides) -> Iterator[str]:
    """Yield sentences on the parts of the machine that one side lacks, and on the result."""
    parts = comparison.judged_cases.parts
    if parts is not None:
        for name, only in (("A", parts.only_a), ("B", parts.only_b)):
            if only:
                yield f"Only {name} measured {list_names(only, MAX_CASES)}."
        yield from parts.notes


def _list_cases(cases: Iterable[UnmatchedCase], label: Label) -> str:
    return list_names([label(unmatched) for unmatched in cases], MAX_CASES)


def more_launches_text(verdict: CaseVerdict) -> str:
    """Return the number of additional launches of A and B that would decide the case; empty if it is
    decided."""
    if verdict.state not in ("undecided", "unknown"):
        return ""
    if verdict.more_launches is None:
        return "many"
    a_count, b_count = verdict.more_launches
    return str(a_count) if a_count == b_count else f"{a_count}, {b_count}"


def ratio_interval_text(ratio: Estimate) -> str:
    """Format the interval of a ratio: "1.032 to 1.041"; "exact" for an exact ratio, empty if unknown."""
    if isinstance(ratio, ExactValue):
        return EXACT_TEXT
    return "" if ratio.low is None or ratio.high is None else f"{ratio.low:.3f} to {ratio.high:.3f}"


def _effect_sentence(effect: Effect, comparison: ComparedSides) -> str:
    if effect.state == "found" and effect.clearest is not None:
        return f"What differs has an effect, most clearly on {_clearest_effect(effect.clearest, comparison)}."
    if effect.bound is None or effect.widest is None:
        return "Whether what differs has any effect is unknown: a ratio has no interval."
    name = operation_title(effect.widest, comparison)
    mean_text = f"the mean of an operation differs by {_format_bound(effect.bound)} at most ({name})"
    case_text = ""
    if effect.case_bound is not None and effect.widest_case is not None and len(comparison.cases) > 1:
        name = comparison_labels(comparison)(effect.widest_case)
        case_text = f", a single case by {_format_bound(effect.case_bound)} at most ({name})"
    beginning = "No effect found" if effect.state == "none" else "Whether there is any effect is undecided"
    return f"{beginning}: {mean_text}{case_text}."


def _reported_sentence(effect: Effect, differences: tuple[Difference, ...]) -> str:
    if differences:
        difference_list = list_names(
            [f"{difference.name} ({difference.a}; {difference.b})" for difference in differences]
        )
        return f"MPI reports a difference: {difference_list}."
    note = "; the setting may not be in use" if effect.state == "none" else ""
    return f"What MPI and its launches report does not differ{note}."


def _clearest_effect(verdict: CaseVerdict | OperationVerdict, comparison: ComparedSides) -> str:
    if isinstance(verdict, CaseVerdict):
        name = comparison_labels(comparison)(verdict)
        return (
            f"{name}: {verdict.ratio.value:.3f} (95%: "
            f"{ratio_interval_text(verdict.ratio)}){relative_text(verdict)}"
        )
    mean_text = f"{verdict.ratio.value:.3f} on average (95%: {ratio_interval_text(verdict.ratio)})"
    return f"{operation_title(verdict, comparison)}: {mean_text}{relative_text(verdict)}"


def _format_bound(bound: float) -> str:
    return format_percent(round(bound - 1, 3))


RATIO_HEADING = "B / A"
RELATIVE_HEADING = "relative"
RELATIVE_NOTE = "Relative: to the mean of the operations that did not change (95% interval)."
PARTS_NOTE = "B / A is relative to the change of what a part belongs to, such as the machine as a whole."
RATIO_FORMAT = Format(lambda ratio: f"{ratio.value:.3f}", interval=ratio_interval_text)


def _ratio_with_interval(ratio: Estimate) -> str:
    """Format a ratio with its interval: "1.052 (1.044 to 1.061)"."""
    bounds_text = ratio_interval_text(ratio)
    return f"{ratio.value:.3f}" + (f" ({bounds_text})" if bounds_text else "")


RATIO_WITH_INTERVAL_FORMAT = Format(_ratio_with_interval)


def operations_table(
    comparison: ComparedSides, operations: Sequence[OperationVerdict] | None = None
) -> Table:
    """Return a table with a row for each operation and its case counts by verdict. By default, it contains
    all operations, changed ones first."""
    operations = comparison.operations_by_change if operations is None else operations
    has_relative = any(operation.relative for operation in operations)

    def count(heading: str, *states: State) -> Column[OperationVerdict]:
        return Column(heading, lambda operation: len(operation.of(*states)), COUNT_FORMAT)

    columns: tuple[Column[OperationVerdict], ...] = (
        Column("operation", lambda operation: operation.workload),
        Column("level" if comparison.has_several_levels else "", lambda operation: operation.level),
        Column("cases", lambda operation: len(operation.cases), COUNT_FORMAT),
        count("slower", "slower"),
        count("faster", "faster"),
        count("the same", "same"),
        count("undecided", *UNDECIDED_VERDICTS),
        Column(
            f"mean {RATIO_HEADING}",
            lambda operation: operation.ratio,
            RATIO_FORMAT,
            interval=INTERVAL_HEADING,
        ),
        Column(
            RELATIVE_HEADING if has_relative else "",
            lambda operation: operation.relative,
            RATIO_WITH_INTERVAL_FORMAT,
        ),
        Column("verdict", lambda operation: state_text(operation.state)),
    )
    return columns_table(
        "operations", "Operations", columns, operations, RELATIVE_NOTE if has_relative else ""
    )


def cases_table(comparison: ComparedSides, cases: Sequence[CaseVerdict], name: str, title: str) -> Table:
    """Return a table of cases with both times, their ratio and verdict, and the number of launches that would
    decide undecided ones."""
    label, has_undecided = (
        comparison_labels(comparison),
        any(more_launches_text(verdict) for verdict in cases),
    )
    has_relative = any(verdict.relative for verdict in cases)
    has_delays = any(verdict.delays for verdict in cases)
    columns: tuple[Column[CaseVerdict], ...] = (
        Column("case", label),
        Column("A", lambda verdict: verdict.a, SECONDS_FORMAT),
        Column("B", lambda verdict: verdict.b, SECONDS_FORMAT),
        Column(RATIO_HEADING, lambda verdict: verdict.ratio, RATIO_FORMAT, interval=INTERVAL_HEADING),
        Column(
            RELATIVE_HEADING if has_relative else "",
            lambda verdict: verdict.relative,
            RATIO_WITH_INTERVAL_FORMAT,
        ),
        Column("delayed" if has_delays else "", delays_text),
        Column("launches", lambda verdict: f"{verdict.launches[0]}, {verdict.launches[1]}", COUNT_FORMAT),
        Column("verdict", lambda verdict: state_text(verdict.state)),
        Column("more launches" if has_undecided else "", more_launches_text, COUNT_FORMAT),
    )
    captions = (
        ["More launches: of A and of B, that would decide the case, approximately."] if has_undecided else []
    )
    captions += [RELATIVE_NOTE] if has_relative else []
    captions += [PARTS_NOTE] if comparison.judged_cases.parts is not None else []
    if comparison.is_paired:
        captions.append(
            "B / A is that of pairs of launches, excluding pairs during which the machine changed"
            f"{_max_excluded_text(cases)}."
        )
    return columns_table(name, title, columns, cases, " ".join(captions))


def _max_excluded_text(cases: Sequence[CaseVerdict]) -> str:
    """Return " (up to 3 of 40: B far slower in 2, far faster in 1)"."""
    max_excluded = max(cases, key=lambda verdict: sum(verdict.excluded), default=None)
    if max_excluded is None or not any(max_excluded.excluded):
        return ""
    slower, faster = max_excluded.excluded
    return (
        f" (up to {slower + faster} of {max_excluded.launches[0]}: B far slower in {slower}, far faster "
        f"in {faster})"
    )
