# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measurement of two sides in alternating launches, and their comparison."""

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
from hockney.api.measure import PlannedRun, budget_warning, min_budget_s, records_kept_text
from hockney.api.notebook.keywords import (
    Quantity,
    RunKeywords,
    run_options,
    seconds_argument,
    with_run_keywords,
)
from hockney.api.notebook.log_events import log
from hockney.api.questions import Question, parse_question
from hockney.api.run_options import MAX_LABEL_LENGTH, RunOptions
from hockney.api.run_options import OPTIONS as RUN_OPTIONS
from hockney.api.trusted_settings import mark_programs, refuse_foreign
from hockney.core.case import Case
from hockney.core.errors import HockneyError, UsageError, attach_run_to_interrupt, printable
from hockney.core.fit import Cost
from hockney.core.launcher_options import parse_launcher_options
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
    """Measure two sides in alternating launches and compare them, to find whether a setting has an effect::

        hockney.compare_interleaved("--mpi openmpi", "--mpi mpich", budget="2m")
        hockney.compare_interleaved("", {"variables": {"UCX_TLS": "tcp"}}, "allreduce ranks=2,4")

    Each side is a set of launch options, as on the command line or as keywords: mpi, variables, mpiexec_args,
    bind, machine, nodes, ranks_per_node, hosts, starter, agent. `question` is the same as for `run`.
    `options` apply to both sides, which share the budget. Launch k of A runs directly before or after launch
    k of B, so that slow changes of the machine cancel out. The runs are stored as `a` and `b` in the folder
    `out`. The default of `tolerance` is 0.02.

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
    """Measure and compare two sides like `compare_interleaved`, with `options` for both sides."""
    tolerance_value = tolerance_share(tolerance, cost)
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
    for side in sides:
        measurement.repeats_itself(side.machine)  # an unknown machine is refused before anything is compiled
    parsed_question = parse_question(question)
    planned_runs = [
        _plan_side(name, parsed_question, side, listen) for name, side in zip((A, B), sides, strict=True)
    ]
    benches = [side.bench for side in planned_runs]
    cases = _common_cases(planned_runs, listen)
    if parsed_question.study != ad_hoc.NAME and not options.sizes and not options.launches:
        cases = _affordable_cases(cases, benches, options.budget, listen)
    settings = _side_settings(planned_runs, sides, cases, listen)
    listen(measure.selection_text(cases, benches[0].catalog))
    turns = measurement.begin_interleaved(None if out is None else to_path(out), cases, settings, benches)
    return _measure_and_compare(turns, settings[0].budget_s, listen, tolerance_value, cost)


def resume_interleaved(
    path: AnyPath,
    *,
    budget: Quantity | None = None,
    tolerance: Quantity | None = None,
    cost: Cost = "typical",
    listen: Listener | None = None,
) -> Comparison:
    """Measure the remaining launches of the interleaved comparison in the folder `path` and compare its
    sides.

    `budget` (s) is the time for the remaining launches and then for additional pairs of launches. By default,
    the remaining launches have their share of the original budget, and none are added. `tolerance` and `cost`
    are the same as for `compare`. Raises UsageError if there is no comparison, and the errors of
    `compare_interleaved`.
    """
    tolerance_value = tolerance_share(tolerance, cost)
    listener = listen or log
    folder = to_path(path)
    folders = pair_in(folder)
    if folders is None:
        raise UsageError(
            f"'{printable(str(folder))}' is not an interleaved comparison",
            "it does not contain its runs a and b",
            "name the folder of one",
            code="not-interleaved",
            path=str(folder),
        )
    budget_s = None if budget is None else seconds_argument("budget", budget)
    extends = budget_s is not None
    benches = [
        _resumed_bench(name, side, listener, extends) for name, side in zip((A, B), folders, strict=True)
    ]
    turns = [InterleavedSide(side, bench) for side, bench in zip(folders, benches, strict=True)]
    plan = folders[0].plan()
    if budget_s is None:
        missing_count = max(len(unmeasured_items(plan, side.read().run)) for side in folders)
        budget_s = plan.settings.budget_s * missing_count / max(1, len(plan.items))
        budget_s += sum(bench.check_time_s for bench in benches)
    return _measure_and_compare(turns, budget_s, listener, tolerance_value, cost, extends)


def _plan_side(name: str, question: Question, options: RunOptions, listen: Listener) -> PlannedRun:
    """Plan one side by itself, after starting its ranks once."""
    with _name_side_in_errors(name):
        planned_run = measure.plan(question, options, listen=listen)
        return replace(planned_run, bench=measurement.check_start(planned_run.bench, planned_run.cases))


def _common_cases(planned_runs: Sequence[PlannedRun], listen: Listener) -> tuple[Case, ...]:
    """Cases that both sides can measure, in the order of A."""
    cases_of_a, cases_of_b = (dict.fromkeys(planned_run.cases) for planned_run in planned_runs)
    common = tuple(case for case in cases_of_a if case in cases_of_b)
    if not common:
        raise UsageError(
            "A and B have no case in common",
            f"A can measure {plural(len(cases_of_a), 'case')} and B {plural(len(cases_of_b), 'case')}, all "
            "of them different",
            "name cases that both can measure",
            code="sides-without-shared-cases",
            a=len(cases_of_a),
            b=len(cases_of_b),
        )
    for name, cases in ((A, cases_of_a), (B, cases_of_b)):
        if len(cases) > len(common):
            listen(
                Notice(
                    f"only {name} can measure {plural(len(cases) - len(common), 'case')}, which are left out",
                    "cases-of-one-side",
                )
            )
    return common


def _affordable_cases(
    cases: tuple[Case, ...], benches: Sequence[Bench], budget_s: float, listen: Listener
) -> tuple[Case, ...]:
    """Cases, with fewer sizes if the budget would allow too few launches otherwise."""
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
    """Settings of both sides, with the same number of launches, seed and budget."""
    benches = [planned_run.bench for planned_run in planned_runs]
    settings_a = planned_runs[0].settings
    requested = settings_a if options[0].launches else replace(settings_a, launches=0)
    needed_s = sum(min_budget_s(requested, bench, cases) for bench in benches)
    warning = budget_warning(settings_a, needed_s, cases)
    if warning is not None:
        listen(warning)
    budget_s = max(settings_a.budget_s, needed_s)
    launches = options[0].launches or _pair_count(budget_s, options, benches, cases)
    comparison_id = secrets.token_hex(8)
    return [
        mark_programs(
            replace(
                planned_run.settings,
                budget_s=budget_s,
                launches=launches,
                seed=settings_a.seed,
                extend=not options[0].launches and benches[0].machine.traits.wall_clock,
                refine=False,
                interleaved=comparison_id,
            )
        )
        for planned_run in planned_runs
    ]


def _pair_count(
    budget_s: float, options: Sequence[RunOptions], benches: Sequence[Bench], cases: Sequence[Case]
) -> int:
    if benches[0].machine.traits.wall_clock:
        return measurement.pair_count(budget_s, benches, cases)
    is_exact = all(measurement.repeats_itself(side.machine) for side in options)
    return 1 if is_exact else NOISY_SIMULATION_PAIRS


def _resumed_bench(name: str, folder: RunFolder, listen: Listener, extend: bool) -> Bench:
    """Bench with the settings of the run in `folder`. Raises UsageError if they name programs that this user
    has not typed."""
    with _name_side_in_errors(name):
        settings = folder.plan().settings
        refuse_foreign(settings, folder.path, ())
        return measure.resumed_bench(folder, settings, listen, extend=extend)


@contextmanager
def _name_side_in_errors(name: str) -> Iterator[None]:
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
    """Measure the missing launches and compare the sides."""
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
MAX_DIGITS = 9
"""The maximum number of digits of a number of nodes or ranks."""
SIDE_FLAGS = {"--bind": True, "--no-bind": False}

Side = str | Mapping[str, Any]


def side_options(name: str, side: Side, common: RunOptions) -> RunOptions:
    """Merge the `common` options of both sides with those of the `side` called `name`. Variables and
    arguments of mpiexec are added, others replaced. Raises UsageError for an invalid option."""
    typed = _parse_side(name, side) if isinstance(side, str) else dict(side)
    for field in typed:
        if field not in SIDE_FIELDS:
            raise _option_error(name, field)
    with _name_side_in_errors(name):
        side_only = run_options({"machine": common.machine, **typed}, {})
    side_values = {field: getattr(side_only, field) for field in SIDE_FIELDS if field in typed}
    if not side_only.label:
        side_values["label"] = _label(side, common)
    if "variables" in typed:
        side_values["variables"] = _merged_variables(common, side_only)
    if "mpiexec_args" in typed:
        side_values["mpiexec_args"] = " ".join(filter(None, (common.mpiexec_args, side_only.mpiexec_args)))
    return replace(common, **side_values)


def _label(side: Side, common: RunOptions) -> str:
    """Label of a side in the results: its options as typed."""
    value_text = (
        side if isinstance(side, str) else ", ".join(f"{name}={value}" for name, value in side.items())
    )
    value_text = " ".join(value_text.split())[:MAX_LABEL_LENGTH]
    return value_text if value_text.isprintable() and value_text else common.label


def _merged_variables(common: RunOptions, side: RunOptions) -> tuple[str, ...]:
    """Merge variables. Those of the side replace common ones with the same name."""
    merged = parse_launcher_options("", common.variables).with_variables(
        parse_launcher_options("", side.variables).variables
    )
    return tuple(f"{name}={value}" for name, value in merged.variables)


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
    """Names of fields that differ, except labels."""
    return [name for name in sorted(SIDE_FIELDS - {"label"}) if getattr(a, name) != getattr(b, name)]


def _parse_side(name: str, text: str) -> dict[str, Any]:
    """Parse command-line options of a side into keywords."""
    try:
        arguments = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"the options of {name} cannot be split into words: '{printable(text)}'",
            str(error).lower(),
            "quote them as in a shell",
            code="side-not-words",
            side=name,
            text=text,
        ) from error
    keywords: dict[str, Any] = {}
    variables: list[str] = []
    while arguments:
        option, equals, value = arguments.pop(0).partition("=")
        if option in SIDE_FLAGS and not equals:
            keywords["bind"] = SIDE_FLAGS[option]
            continue
        if option not in OPTIONS:
            raise _option_error(name, option)
        if not equals:
            if not arguments:
                raise UsageError(
                    f"{name} ends with {option}",
                    "its value is missing",
                    f"add the value after {option}",
                    code="side-option-without-value",
                    side=name,
                    option=option,
                )
            value = arguments.pop(0)
        if option == "-x":
            variables.append(value)
        elif OPTIONS[option] in ("nodes", "ranks_per_node"):
            if not (value.isascii() and value.isdecimal() and len(value) <= MAX_DIGITS and int(value)):
                raise UsageError(
                    f"{name} has {option} {printable(value)}",
                    "it is a number of nodes or ranks, from 1",
                    "use for example 2",
                    code="side-count-not-whole",
                    side=name,
                    option=option,
                    text=value,
                )
            keywords[OPTIONS[option]] = int(value)
        else:
            keywords[OPTIONS[option]] = os.fspath(value)
    return keywords | ({"variables": tuple(variables)} if variables else {})
