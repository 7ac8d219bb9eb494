# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measures both sides of a comparison in alternating launches, and compares them."""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import measurement
from hockney.api import measure
from hockney.api.judgements.comparison import Comparison, compare, tolerance_share
from hockney.api.measure import PlannedRun, budget_warning, least_budget_s, records_kept_text
from hockney.api.notebook.keywords import Quantity, RunKeywords, run_options, seconds_of, with_run_keywords
from hockney.api.notebook.log_events import log
from hockney.api.questions import Question, parse_question
from hockney.api.run_options import MAX_LABEL_LENGTH, RunOptions
from hockney.api.run_options import OPTIONS as RUN_OPTIONS
from hockney.api.trusted_settings import mark_programs, refuse_foreign
from hockney.core.case import Case
from hockney.core.errors import HockneyError, UsageError, attach_run_to_interrupt, printable
from hockney.core.fit import Cost
from hockney.core.launcher_options import launcher_options
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.core.settings import Settings
from hockney.core.wording import flag, option, plural
from hockney.measurement import Bench, InterleavedSide, Listener, Status
from hockney.store import RunFolder, pair_in, unmeasured_items
from hockney.studies import ad_hoc

if TYPE_CHECKING:
    from typing_extensions import Unpack

MIN_PAIRS = 40
"""Sizes are left out for so many pairs of launches."""
NOISY_SIMULATION_PAIRS = 10
A, B = "A", "B"


@with_run_keywords
def compare_interleaved(
    a: Side,
    b: Side,
    question: str | Sequence[str] | Question = measure.SURVEY,
    *,
    tolerance: Quantity | None = None,
    cost: Cost = "typical",
    out: AnyPath | None = None,
    listen: Listener | None = None,
    **options: Unpack[RunKeywords],
) -> Comparison:
    """Measure two sides in alternating launches, and compare them: whether a setting has an effect::

        hockney.compare_interleaved("--mpi openmpi", "--mpi mpich", budget="2m")
        hockney.compare_interleaved("", {"variables": {"UCX_TLS": "tcp"}}, "allreduce ranks=2,4")

    Each side has options of the launch, as on the command line or as keywords: mpi, variables, mpiexec_args,
    bind, machine, nodes, ranks_per_node, hosts, starter, agent. `question` is that of `run`, and `options`
    those of both sides; the budget is for both. Launch k of A runs right before or after launch k of B, so
    that slow changes of the machine cancel. The runs are `a` and `b` in the folder `out`; the default of
    `tolerance` is 0.02.

    Raises UsageError before anything is written, and the same errors as `run`. After an interruption the
    measurements so far are kept, and `resume_interleaved` continues.
    """
    return run_interleaved_comparison(
        a,
        b,
        question,
        run_options(options, os.environ),
        tolerance=tolerance,
        cost=cost,
        out=out,
        listen=listen or log,
    )


def run_interleaved_comparison(
    a: Side,
    b: Side,
    question: Question | str | Sequence[str],
    options: RunOptions,
    *,
    tolerance: Quantity | None = None,
    cost: Cost = "typical",
    out: AnyPath | None = None,
    listen: Listener = measurement.ignore_event,
) -> Comparison:
    """The same with the `options` that both sides share."""
    share = tolerance_share(tolerance, cost)
    if options.in_rounds or options.every is not None:
        raise UsageError(
            "an interleaved comparison has no rounds",
            f"{option('repeat')}, {option('through')} and {option('every')} spread a run over a period",
            f"leave them out; {option('launches')} sets the number of pairs",
            code="rounds-in-turns",
        )
    options = replace(options, seed=options.shuffle_seed)
    sides = [side_options(A, a, options), side_options(B, b, options)]
    if not differing_fields(*sides):
        raise UsageError(
            "A and B have the same options",
            "the comparison would only show noise",
            f"let them differ, for example in {option('mpi')} or in a variable ({option('variables')})",
            code="sides-identical",
        )
    for each in sides:
        measurement.repeats_itself(each.machine)  # an unknown machine is refused before anything is compiled
    parsed_question = parse_question(question)
    planned_runs = [
        _plan_side(name, parsed_question, side, listen) for name, side in zip((A, B), sides, strict=True)
    ]
    benches = [each.bench for each in planned_runs]
    cases = _common_cases(planned_runs, listen)
    if parsed_question.study != ad_hoc.NAME and not options.sizes and not options.launches:
        cases = _affordable_cases(cases, benches, options.budget, listen)
    settings = _side_settings(planned_runs, sides, cases, listen)
    listen(measure.cases_chosen(cases, benches[0].catalog))
    turns = measurement.begin_interleaved(None if out is None else to_path(out), cases, settings, benches)
    return _measure_and_compare(turns, settings[0].budget_s, listen, share, cost)


def resume_interleaved(
    path: AnyPath,
    *,
    budget: Quantity | None = None,
    tolerance: Quantity | None = None,
    cost: Cost = "typical",
    listen: Listener | None = None,
) -> Comparison:
    """Measure the rest of the interleaved comparison in the folder `path`, and compare its sides.

    `budget` (s) is the time for what is left, and then for more pairs of launches; by default what is left
    has its share, and no more follow. `tolerance` and `cost` are those of `compare`. Raises UsageError if
    there is none, and the same errors as `compare_interleaved`.
    """
    share = tolerance_share(tolerance, cost)
    listener = listen or log
    folder = to_path(path)
    pair = pair_in(folder)
    if pair is None:
        raise UsageError(
            f"'{printable(str(folder))}' is not an interleaved comparison",
            "it does not contain its runs a and b",
            "name the folder of one",
            code="not-interleaved",
            path=str(folder),
        )
    seconds = None if budget is None else seconds_of("budget", budget)
    extend = seconds is not None
    benches = [_resumed_bench(name, side, listener, extend) for name, side in zip((A, B), pair, strict=True)]
    turns = [InterleavedSide(side, bench) for side, bench in zip(pair, benches, strict=True)]
    plan = pair[0].plan()
    if seconds is None:
        lacking = max(len(unmeasured_items(plan, side.read().run)) for side in pair)
        seconds = plan.settings.budget_s * lacking / max(1, len(plan.items))
        seconds += sum(bench.checked_s for bench in benches)
    return _measure_and_compare(turns, seconds, listener, share, cost, extend)


def _plan_side(name: str, question: Question, options: RunOptions, listen: Listener) -> PlannedRun:
    """What one side would measure by itself, after its ranks have been started once."""
    with _side_in_errors(name):
        planned_run = measure.plan(question, options, listen=listen)
        return replace(planned_run, bench=measurement.check_start(planned_run.bench, planned_run.cases))


def _common_cases(planned_runs: Sequence[PlannedRun], listen: Listener) -> tuple[Case, ...]:
    """The cases that both can measure, in the order of A."""
    of_a, of_b = (dict.fromkeys(each.cases) for each in planned_runs)
    both = tuple(case for case in of_a if case in of_b)
    if not both:
        raise UsageError(
            "A and B have no case in common",
            f"A can measure {plural(len(of_a), 'case')} and B {plural(len(of_b), 'case')}, all of them "
            "different",
            "name cases that both can measure",
            code="sides-without-shared-cases",
            a=len(of_a),
            b=len(of_b),
        )
    for name, cases in ((A, of_a), (B, of_b)):
        if len(cases) > len(both):
            listen(
                Notice(
                    f"only {name} can measure {plural(len(cases) - len(both), 'case')}, which are left out",
                    "cases-of-one-side",
                )
            )
    return both


def _affordable_cases(
    cases: tuple[Case, ...], benches: Sequence[Bench], budget_s: float, listen: Listener
) -> tuple[Case, ...]:
    """The cases, with fewer sizes if there would be too few launches otherwise."""
    if not benches[0].machine.traits.wall_clock:
        return cases
    affordable_cases = measurement.thin_sizes(
        cases,
        benches[0].catalog,
        lambda cases: measurement.pair_count(budget_s, benches, cases) >= MIN_PAIRS,
    )
    if len(affordable_cases) < len(cases):
        listen(
            Notice(
                f"{len(affordable_cases)} of {len(cases)} cases are compared, with fewer sizes, so that more "
                f"launches fit into the budget; {option('sizes')} or more {option('budget')} keeps others",
                "sizes-thinned",
            )
        )
    return affordable_cases


def _side_settings(
    planned_runs: Sequence[PlannedRun], options: Sequence[RunOptions], cases: Sequence[Case], listen: Listener
) -> list[Settings]:
    """The settings of both sides, with the same number of launches, seed and time."""
    benches = [each.bench for each in planned_runs]
    first = planned_runs[0].settings
    requested = first if options[0].launches else replace(first, launches=0)
    least_s = sum(least_budget_s(requested, bench, cases) for bench in benches)
    warning = budget_warning(first, least_s, cases)
    if warning is not None:
        listen(warning)
    budget_s = max(first.budget_s, least_s)
    launches = options[0].launches or _pair_count(budget_s, options, benches, cases)
    comparison_id = secrets.token_hex(8)
    return [
        mark_programs(
            replace(
                each.settings,
                budget_s=budget_s,
                launches=launches,
                seed=first.seed,
                extend=not options[0].launches and benches[0].machine.traits.wall_clock,
                refine=False,
                interleaved=comparison_id,
            )
        )
        for each in planned_runs
    ]


def _pair_count(
    budget_s: float, options: Sequence[RunOptions], benches: Sequence[Bench], cases: Sequence[Case]
) -> int:
    if benches[0].machine.traits.wall_clock:
        return measurement.pair_count(budget_s, benches, cases)
    exact = all(measurement.repeats_itself(each.machine) for each in options)
    return 1 if exact else NOISY_SIMULATION_PAIRS


def _resumed_bench(name: str, folder: RunFolder, listen: Listener, extend: bool) -> Bench:
    """The bench with the settings of the run in `folder`. Raises UsageError if they name programs that this
    user has not typed."""
    with _side_in_errors(name):
        settings = folder.plan().settings
        refuse_foreign(settings, folder.path, ())
        return measure.resumed_bench(folder, settings, listen, extend=extend)


@contextmanager
def _side_in_errors(name: str) -> Iterator[None]:
    try:
        yield
    except HockneyError as error:
        raise error.with_context(name) from error


def _measure_and_compare(
    turns: Sequence[InterleavedSide],
    budget_s: float,
    listen: Listener,
    tolerance: float | None,
    cost: Cost,
    extend: bool = False,
) -> Comparison:
    """Measure what is missing, and compare."""
    path: Path = turns[0].folder.path.parent
    with attach_run_to_interrupt(path, complete=False):
        try:
            measurement.measure_interleaved(turns, listen, budget_s, extend)
        except HockneyError:
            listen(Status(records_kept_text(path)))
            raise
    with attach_run_to_interrupt(path, complete=False):
        return compare(*(turn.folder.path for turn in turns), tolerance=tolerance, cost=cost, listen=listen)


SIDE_FIELDS = {name for name, (option, _) in RUN_OPTIONS.items() if option.side_specific}
OPTIONS = {flag(field): field for field in SIDE_FIELDS - {"bind"}}
"""The options in which the sides may differ, with a value each, and the fields of `RunOptions`."""
MOST_DIGITS = 9
"""The maximum number of digits of a number of nodes or ranks."""
SIDE_FLAGS = {"--bind": True, "--no-bind": False}

Side = str | Mapping[str, Any]


def side_options(name: str, side: Side, common: RunOptions) -> RunOptions:
    """The options `common` to both sides with those of the `side` called `name`: variables and arguments of
    mpiexec are added, others replaced. Raises UsageError for what is no option of a side."""
    given = _parse_side(name, side) if isinstance(side, str) else dict(side)
    for field in given:
        if field not in SIDE_FIELDS:
            raise _option_error(name, field)
    with _side_in_errors(name):
        side_only = run_options({"machine": common.machine, **given}, {})
    side_values = {field: getattr(side_only, field) for field in SIDE_FIELDS if field in given}
    if not side_only.label:
        side_values["label"] = _label(side, common)
    if "variables" in given:
        side_values["variables"] = _merged_variables(common, side_only)
    if "mpiexec_args" in given:
        side_values["mpiexec_args"] = " ".join(filter(None, (common.mpiexec_args, side_only.mpiexec_args)))
    return replace(common, **side_values)


def _label(side: Side, common: RunOptions) -> str:
    """What is shown with the results: the options as typed."""
    text = side if isinstance(side, str) else ", ".join(f"{name}={value}" for name, value in side.items())
    text = " ".join(text.split())[:MAX_LABEL_LENGTH]
    return text if text.isprintable() and text else common.label


def _merged_variables(common: RunOptions, side: RunOptions) -> tuple[str, ...]:
    """The variables of both; a side's own replace others of the same name."""
    both = launcher_options("", common.variables).having(launcher_options("", side.variables).variables)
    return tuple(f"{name}={value}" for name, value in both.variables)


def _option_error(name: str, option: str) -> UsageError:
    is_run_option = option.lstrip("-").replace("-", "_") in RUN_OPTIONS
    return (
        UsageError(
            f"{name} has the option {printable(option)}",
            "both sides measure the same cases in the same way",
            "give it once, outside of the sides",
            code="option-not-of-a-side",
            side=name,
            option=option,
        )
        if is_run_option
        else UsageError(
            f"{name} has '{printable(option)}'",
            "sides may not differ in this option",
            "use --mpi, --machine, -x, --mpiexec-args, --bind, --no-bind, --nodes, --ranks-per-node, "
            "--hosts, --launcher or --agent",
            code="unknown-side-option",
            side=name,
            option=option,
        )
    )


def differing_fields(a: RunOptions, b: RunOptions) -> list[str]:
    """The fields in which both differ; a label changes nothing."""
    return [name for name in sorted(SIDE_FIELDS - {"label"}) if getattr(a, name) != getattr(b, name)]


def _parse_side(name: str, text: str) -> dict[str, Any]:
    """Keywords from words as on the command line."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"the options of {name} cannot be split into words: '{printable(text)}'",
            str(error).lower(),
            "quote them as in a shell",
            code="side-not-words",
            side=name,
            text=text,
        ) from error
    given: dict[str, Any] = {}
    variables: list[str] = []
    while words:
        option, equals, value = words.pop(0).partition("=")
        if option in SIDE_FLAGS and not equals:
            given["bind"] = SIDE_FLAGS[option]
            continue
        if option not in OPTIONS:
            raise _option_error(name, option)
        if not equals:
            if not words:
                raise UsageError(
                    f"{name} ends with {option}",
                    "its value is missing",
                    f"add the value after {option}",
                    code="side-option-without-value",
                    side=name,
                    option=option,
                )
            value = words.pop(0)
        if option == "-x":
            variables.append(value)
        elif OPTIONS[option] in ("nodes", "ranks_per_node"):
            if not (value.isascii() and value.isdecimal() and len(value) <= MOST_DIGITS and int(value)):
                raise UsageError(
                    f"{name} has {option} {printable(value)}",
                    "it is a number of nodes or ranks, from 1",
                    "use for example 2",
                    code="side-count-not-whole",
                    side=name,
                    option=option,
                    text=value,
                )
            given[OPTIONS[option]] = int(value)
        else:
            given[OPTIONS[option]] = os.fspath(value)
    return given | ({"variables": tuple(variables)} if variables else {})
