# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences: overall, and for each operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone

from hockney.comparison.result import ComparedSides, Unmatched
from hockney.comparison.side import Side
from hockney.core.case import Case
from hockney.core.fit import Estimate, ExactValue
from hockney.core.units import format_percent
from hockney.core.wording import listing, plural, together
from hockney.models.comparison import CaseVerdict, OperationVerdict, State
from hockney.models.significance import OPEN
from hockney.mpi import title_of
from hockney.pages.format import EXACT, quantity
from hockney.pages.labels import short_labels

MOST_CASES = 5
WORDS: dict[State, str] = {"same": "the same", "unknown": "no interval"}
"""Of verdicts for people, where they differ."""


def labels(compared: ComparedSides) -> Callable[[Case], str]:
    """Short names of all cases."""
    cases = [each.case for each in compared.cases]
    cases += [each.case for each in (*compared.only_a, *compared.only_b)]
    named = short_labels(cases, compared.catalog)
    return lambda case: named.get(case.line, case.line)


def verdict(state: State) -> str:
    return WORDS.get(state, state)


def side(of: Side) -> str:
    """ "A: runs/old (old stack), node7, Open MPI 4.1.6, 10 launches, 2026-01-31 09:30 UTC"."""
    names = listing([run.name for run in of.runs], MOST_CASES)
    label = f" ({'; '.join(of.labels)})" if of.labels else ""
    machines = {run.machine.host: run.machine for run in of.runs}
    places = [machine.cpu if machine.traits.published else host for host, machine in machines.items()]
    mpis = dict.fromkeys(title_of(run.machine.mpi) for run in of.runs if run.machine.mpi)
    words = [names + label, listing(places), *mpis, plural(of.launches, "launch", "launches"), _when(of)]
    return f"{of.name}: {', '.join(filter(None, words))}"


def _when(of: Side) -> str:
    started = [launch.started_s for run in of.runs for launch in run.run.launches]
    if not started or any(run.machine.traits.described for run in of.runs):
        return ""
    try:
        return datetime.fromtimestamp(min(started), timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):  # a date outside the calendar's range
        return ""


def answer(compared: ComparedSides) -> tuple[str, ...]:
    """The result, then a sentence for each operation, the slower ones first; one for all undecided operations
    and one for all that are the same, unless some of their cases changed: the table has their numbers."""
    name = labels(compared)
    undecided, same = _without_change(compared, *OPEN), _without_change(compared, "same")
    rest = [
        operation(each, compared, name) for each in compared.changed_first if each not in (*undecided, *same)
    ]
    if undecided:
        more = _more([case for each in undecided for case in each.of(*OPEN)])
        rest.append(f"Undecided: {_titles(undecided, compared)}{f' ({more})' if more else ''}.")
    if same:
        rest.append(f"The same within {format_percent(compared.tolerance)}: {_titles(same, compared)}.")
    return (overall(compared), *rest)


def _without_change(compared: ComparedSides, *states: State) -> list[OperationVerdict]:
    """The operations of these states, if there are several, without those with slower or faster cases."""
    found = [each for each in compared.operations if each.state in states and not each.of("slower", "faster")]
    return found if len(found) > 1 else []


def _titles(of: Iterable[OperationVerdict], compared: ComparedSides) -> str:
    return together(sorted(title(each, compared) for each in of))


def title(each: OperationVerdict, compared: ComparedSides) -> str:
    """The workload's name, with the level if there are several."""
    return f"{each.workload} {each.level}" if each.level and compared.several_levels else each.workload


def wrong(compared: ComparedSides) -> str:
    return f"Data arrived wrong in {plural(compared.b.wrong, 'record')} of B."


def overall(compared: ComparedSides) -> str:
    """Wrong data first: times of operations whose results are wrong say little."""
    return f"{wrong(compared)} {_times(compared)}" if compared.b.wrong else _times(compared)


def _times(compared: ComparedSides) -> str:
    count = len(compared.operations)
    of = plural(count, "operation")
    slower, faster, same = (
        sum(each.state == state for each in compared.operations) for state in ("slower", "faster", "same")
    )
    limit = format_percent(compared.tolerance)
    if slower:
        also = f", and faster in {faster}" if faster else ""
        return f"B is slower than A in {slower} of {of}{_worst(compared)}{also}."
    if compared.state == "undecided":
        open_ = count - faster - same
        if not open_ and compared.failed:
            failures = plural(len(compared.failed), "case")
            return f"Undecided: no operation is slower, but B failed in {failures} that A measured."
        if not open_:
            lacks = plural(len(compared.missing), "case")
            return f"Undecided: no operation is slower, but B lacks {lacks} that it should have."
        some = f"no operation is slower, but {open_} of {of}" if count > open_ else of
        return f"Undecided: {some} may be slower by more than {limit}."
    if faster:
        rest = f", and the same within {limit} in {same}" if same else ""
        return f"B is faster than A in {faster} of {of}{rest}; none is slower."
    return f"B is not slower than A: {of} {'takes' if count == 1 else 'take'} the same time within {limit}."


def _worst(compared: ComparedSides) -> str:
    slower = compared.of("slower")
    if not slower:
        return ""
    return f", most in {labels(compared)(slower[0].case)} ({slower[0].ratio.value:.2f} times as long)"


def operation(each: OperationVerdict, compared: ComparedSides, name: Callable[[Case], str]) -> str:
    """ "allreduce: slower in 3 of 12 cases, most in allreduce, 4 KiB, 2 ranks: 1.312 (95%: ...); ..."."""
    count, limit = len(each.cases), format_percent(compared.tolerance)
    parts = [
        f"{state} in {len(found)} of {plural(count, 'case')}, most in {_case(found[0], name)}"
        for state in ("slower", "faster")
        if (found := each.of(state))
    ]
    mean = f"on average {ratio(each.ratio)}{_relative(each)}"
    if not parts and each.state == "same":
        parts = [f"the same within {limit}"]
    elif not parts and each.state in ("slower", "faster"):
        parts = [each.state]
    elif each.state in ("undecided", "unknown"):
        parts.append("undecided")
    still_open = each.of(*OPEN)
    undecided = len(still_open)
    of = f"all {undecided}" if undecided == count else f"{undecided} of {count}"
    rest = _more(still_open)
    if undecided and count > 1:
        rest = f"{of} cases {'is' if undecided == 1 else 'are'} undecided" + (f" ({rest})" if rest else "")
    return f"{title(each, compared)}: {'; '.join(filter(None, [*parts, mean if count > 1 else '', rest]))}."


def _case(each: CaseVerdict, name: Callable[[Case], str]) -> str:
    return f"{name(each.case)}: {ratio(each.ratio)}{_relative(each)}"


def _relative(each: CaseVerdict | OperationVerdict) -> str:
    return relative(each) if each.state in ("slower", "faster") else ""


def relative(each: CaseVerdict | OperationVerdict) -> str:
    """ ", relative to operations that did not change 1.031 (95%: ...)"; empty if there are none."""
    return f", relative to operations that did not change {ratio(each.relative)}" if each.relative else ""


def ratio(of: Estimate) -> str:
    """ "1.031 (95%: 1.025 to 1.037)"."""
    ends = ratio_ends(of)
    return f"{of.value:.3f}" + ("" if ends == EXACT else f" (95%: {ends})" if ends else " (no interval)")


def _more(undecided: Sequence[CaseVerdict]) -> str:
    """How many launches would decide the undecided case, or half of several."""
    counts = sorted(max(case.more_launches) for case in undecided if case.more_launches)
    if not counts:
        return ""
    launches = plural(counts[(len(counts) - 1) // 2], "more launch", "more launches")
    return f"about {launches} of each side would decide {'half of these cases' if len(counts) > 1 else 'it'}"


def without_comparison(compared: ComparedSides) -> tuple[str, ...]:
    """The cases that only one side measured, and the operations of which the other has none."""
    texts, name = [], labels(compared)
    shared = {each.workload for each in compared.operations}
    for here, other, cases in (("A", "B", compared.only_a), ("B", "A", compared.only_b)):
        failed = [each for each in cases if each.failure]
        lacking = [each for each in cases if each.expected and not each.failure]
        others = [each for each in cases if not each.expected and not each.failure]
        absent = list(dict.fromkeys(each.case.workload for each in cases if each.case.workload not in shared))
        if absent:
            texts.append(f"{other} has no result of {plural(len(absent), 'operation')}: {listing(absent)}.")
        if failed:
            listed = listing([f"{name(each.case)} ({each.failure})" for each in failed], MOST_CASES)
            texts.append(f"{other} failed in {plural(len(failed), 'case')} that {here} measured: {listed}.")
        if lacking:
            count = plural(len(lacking), "case")
            texts.append(f"{other} lacks {count} that it should have: {_listed(lacking, name)}.")
        if others:
            texts.append(f"Only {here} measured {plural(len(others), 'case')}: {_listed(others, name)}.")
    return tuple(texts)


def _listed(cases: Iterable[Unmatched], name: Callable[[Case], str]) -> str:
    return listing([name(each.case) for each in cases], MOST_CASES)


def times(each: CaseVerdict) -> tuple[str, str]:
    return quantity(each.a.value, "s"), quantity(each.b.value, "s")


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
        return EXACT
    return "" if ratio.low is None or ratio.high is None else f"{ratio.low:.3f} to {ratio.high:.3f}"
