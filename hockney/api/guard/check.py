# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The flow of a check: read the baseline, measure its cases, compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hockney import lab
from hockney.api.comparing.comparison import TOLERANCE, Comparison, check_options
from hockney.api.comparing.sides import Source, read_side
from hockney.api.guard.baseline import Baseline, read_baseline
from hockney.api.guard.undecided import Undecided
from hockney.api.measure import SURVEY, Planned, measured, plan, started
from hockney.api.questions import Question
from hockney.api.run_contents import Run
from hockney.api.run_options import RunOptions
from hockney.api.trusted_settings import marked
from hockney.comparison import compare
from hockney.core.errors import UsageError
from hockney.core.fit import Cost
from hockney.core.notice import Notice
from hockney.core.option_names import option
from hockney.core.paths import AnyPath, to_path
from hockney.core.wording import plural
from hockney.lab import Goal, Listener, silent

RESERVE = 0.4
"""Fraction of the budget that is kept for cases that are not the same after the planned launches."""


@dataclass(frozen=True)
class BaselineCheck:
    """A run, and its comparison with the baseline."""

    run: Run
    comparison: Comparison


def check(
    baseline: Source | Sequence[Source],
    options: RunOptions,
    asked: Question | None = None,
    *,
    tolerance: float | None = None,
    cost: Cost = "typical",
    force: bool = False,
    out: AnyPath | None = None,
    listen: Listener = silent,
) -> BaselineCheck:
    """Measure the cases of `baseline`, or what is `asked`, and compare the new run with the baseline.

    The planned launches leave a part of the budget, in which cases follow that are not the same by then.
    `options` select among the cases by their ranks and sizes. Raises, before anything is measured, UsageError
    for what is no run, for a baseline without measurements or of another machine (unless `force`), and if
    nothing that would be measured is in the baseline; EnvironmentProblem for a damaged one. Otherwise as
    `run` and `compare`.
    """
    share = check_options(tolerance, cost)
    tolerance = TOLERANCE if share is None else share
    known = read_baseline(baseline, options, force, listen)
    options = replace(options, refine=False)
    if asked is None or SURVEY not in asked.parameters:
        options = replace(options, force=False)
    planned = plan(
        known.question if asked is None else asked,
        options,
        listen=listen,
        source=known if asked is None else None,
    )
    side = known.on(planned.bench.machine)
    _tell(known, planned, listen)
    if asked is not None and not set(planned.cases) & set(known.measurable(planned.bench)):
        raise _nothing_asked_in_baseline(known.name, len(planned.cases))
    planned = started(planned, options, listen, RESERVE)
    settings = planned.settings
    if options.launches is None and not options.in_rounds and not planned.bench.machine.exact:
        settings = replace(settings, extend=True)
    path = None if out is None else to_path(out)
    folder = lab.begin(path, planned.cases, marked(settings), planned.bench, planned.surveyed)
    goal = Goal(Undecided(side, planned.bench, settings, tolerance, cost), RESERVE)
    run = measured(folder, planned.bench, listen, asked=planned.cases, goal=goal)
    return BaselineCheck(run, Comparison(compare(side, read_side("B", [run], listen), tolerance, cost)))


def _tell(known: Baseline, planned: Planned, listen: Listener) -> None:
    """What of the baseline is left out."""
    machine = planned.bench.machine
    runs, alike = len(known.side.runs), len(known.on(machine).runs)
    if alike < runs:
        listen(
            Notice(
                f"{runs - alike} of {runs} runs of the baseline were measured on other machines and are left "
                f"out ({option('force')} uses them too)",
                "baseline-runs-left-out",
            )
        )
    cases, usable = len(known.measured_on(machine)), len(known.measurable(planned.bench))
    if usable < cases:
        listen(
            Notice(
                f"{cases - usable} of {plural(cases, 'case')} of the baseline {known.name} cannot be "
                "measured here and are left out",
                "baseline-cases-left-out",
            )
        )


def _nothing_asked_in_baseline(name: str, cases: int) -> UsageError:
    of = "the case" if cases == 1 else f"none of the {cases} cases"
    return UsageError(
        f"the baseline {name} has {'not ' if cases == 1 else ''}{of} to be measured",
        "only cases with the same parameters, ranks and sizes can be compared",
        "'hockney survey --check' measures the cases of the baseline",
        code="nothing-asked-in-baseline",
        name=name,
        cases=cases,
    )
