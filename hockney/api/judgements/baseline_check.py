# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The flow of a check: read the baseline, measure its cases, compare.

Which cases of a check need more launches: those that may be slower than in the baseline.

A case that looks slower is measured until the budget ends as well, and not only until it looks slower:
stopping at the first significant ratio would raise the number of false alarms with each look (P. Armitage,
C. K. McPherson, B. C. Rowe, J. R. Statist. Soc. A 132 (1969) 235). What is the same or faster is not measured
again: that only makes fewer alarms. Launches of the new run beyond several times those of the baseline decide
nothing: the interval of their ratio is then that of the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hockney import measurement
from hockney.api.judgements.baseline import Baseline, read_baseline
from hockney.api.judgements.comparison import TOLERANCE, Comparison, check_options
from hockney.api.judgements.sides import Source, read_side
from hockney.api.measure import SURVEY, Planned, measured, plan, started
from hockney.api.questions import Question
from hockney.api.run_contents import Run
from hockney.api.run_options import RunOptions
from hockney.api.trusted_settings import marked
from hockney.core.case import Case
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Cost
from hockney.core.notice import Notice
from hockney.core.option_names import option
from hockney.core.paths import AnyPath, to_path
from hockney.core.record import RunRecords
from hockney.core.settings import Settings
from hockney.core.wording import plural
from hockney.judgements.compare import compare
from hockney.judgements.sides import MeasuredRun, Side
from hockney.measurement import Bench, Goal, Listener, silent
from hockney.models.comparison import FEWEST_LAUNCHES, CaseVerdict

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
    folder = measurement.begin(path, planned.cases, marked(settings), planned.bench, planned.surveyed)
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


AGAIN = 1.25
"""The comparison is repeated when there are this many times as many launches: it takes time, too."""
MOST_LAUNCHES = 4
"""Launches of a case for each one in the baseline: with more, the interval of the ratio shrinks by a tenth at
most."""


@dataclass
class Undecided:
    """`side` is the baseline; the new run is measured on the `bench`."""

    side: Side
    bench: Bench
    settings: Settings
    tolerance: float
    cost: Cost = "typical"
    compared_at: int = field(default=0, init=False)
    found: set[Case] = field(default_factory=set, init=False)

    def __call__(self, cases: Sequence[Case], run: RunRecords) -> Sequence[Case]:
        if not self.compared_at or len(run.launches) >= AGAIN * self.compared_at:
            self.compared_at = len(run.launches)
            self.found = self._compare(run)
        return [case for case in cases if case in self.found]

    def _compare(self, run: RunRecords) -> set[Case]:
        new = MeasuredRun("", self.bench.machine, run, self.settings, self.bench.catalog)
        try:
            compared = compare(self.side, Side("B", (new,)), self.tolerance, self.cost)
        except Inconclusive:  # nothing was measured
            return set()
        return {each.case for each in compared.cases if self._is_open(each)}

    def _is_open(self, each: CaseVerdict) -> bool:
        """A ratio without an interval gets one only by launches that are missing here."""
        before, now = each.launches
        if each.state == "unknown":
            return now < FEWEST_LAUNCHES
        enough = not self.side.exact and now >= MOST_LAUNCHES * before
        return each.state in ("undecided", "slower") and not enough
