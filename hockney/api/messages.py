# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors and notices about questions, options of a run, runs and tables."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from hockney.core.errors import EnvironmentProblem, HockneyError, Inconclusive, UsageError, printable, unknown
from hockney.core.fit import Cost
from hockney.core.notice import Notice
from hockney.core.units import format_seconds, typed_seconds
from hockney.core.wording import listing

RUN_LIST = "'hockney run --list' shows all"

# the question


def nothing_to_run() -> UsageError:
    return UsageError("nothing to run", "name a study or a case", RUN_LIST, code="nothing-to-run")


def ad_hoc_by_name(study: str) -> UsageError:
    return UsageError(
        f"study '{study}' cannot be run by its name",
        "it is the study of ad-hoc cases",
        "give cases, for example 'hockney run pingpong bytes=8'",
        code="ad-hoc-by-name",
    )


def study_takes_no_cases(study: str) -> UsageError:
    return UsageError(
        f"study '{study}' takes no cases",
        "it plans its own cases",
        f"run '{printable(study)}' alone",
        code="study-takes-no-cases",
        study=study,
    )


def study_parameter_given_twice(name: str) -> UsageError:
    return UsageError(
        f"parameter '{printable(name)}' is given twice",
        "it takes one value",
        "give it once",
        code="study-parameter-given-twice",
        name=name,
    )


def parameter_before_case(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' comes before any case",
        "it is a parameter of a case",
        "name a workload first",
        code="parameter-before-case",
        text=text,
    )


def unknown_question(name: str, available: Iterable[str]) -> UsageError:
    return unknown("study or workload", name, available, RUN_LIST, code="unknown-study-or-workload")


def name_of_another_benchmark(name: str, measurable: bool) -> UsageError:
    """`measurable`: a case measures what it does."""
    return UsageError(
        f"'{printable(name)}' is a benchmark of another program",
        "" if measurable else "hockney has no case like it",
        f"'hockney run --like {printable(name)}' measures what it measures"
        if measurable
        else "docs/reference/peers.md lists those that correspond to a case",
        code="name-of-another-benchmark",
        name=name,
    )


# options of a run


def repeat_with_through() -> UsageError:
    return UsageError(
        "--repeat and --through exclude each other",
        "both set the number of rounds",
        "use only one of them",
        code="repeat-with-through",
    )


def every_without_rounds() -> UsageError:
    return UsageError(
        "--every has no effect alone",
        "it sets when rounds start, not how many there are",
        "add --repeat 20",
        code="every-without-rounds",
    )


def launches_with_rounds() -> UsageError:
    return UsageError(
        "--launches does not apply to a run in rounds",
        "each round is a launch",
        "leave --launches out",
        code="launches-with-rounds",
    )


def refine_with_rounds() -> UsageError:
    return UsageError(
        "--refine does not apply to a run in rounds",
        "rounds are compared with each other, so all must have the same cases",
        "leave --refine out, or list more --sizes",
        code="refine-with-rounds",
    )


def through_shorter_than_round(through_s: float, budget_s: float) -> UsageError:
    return UsageError(
        f"--through {format_seconds(through_s)} is shorter than one round",
        f"its --budget is {format_seconds(budget_s)}",
        "use a smaller --budget",
        code="through-shorter-than-round",
        through_s=through_s,
        budget_s=budget_s,
    )


def too_many_rounds(rounds: int, limit: int) -> UsageError:
    return UsageError(
        f"{rounds} rounds are too many",
        f"the limit is {limit}",
        "use a larger --every",
        code="too-many-rounds",
        rounds=rounds,
        limit=limit,
    )


def through_when_simulated() -> UsageError:
    return UsageError(
        "--through does not apply to simulated machines",
        "simulated time does not advance between rounds",
        "use --repeat",
        code="through-when-simulated",
    )


def repeat_when_noiseless() -> UsageError:
    return UsageError(
        "--repeat does not apply to this simulated machine",
        "without noise every round is the same",
        "leave it out, or describe the machine's [noise]",
        code="repeat-when-noiseless",
    )


def round_longer_than_interval(budget_s: float, every_s: float) -> UsageError:
    return UsageError(
        f"a round of {format_seconds(budget_s)} is longer than the {format_seconds(every_s)} between rounds",
        "--budget is the time of one round",
        f"use --budget {every_s:g}s or less",
        code="round-longer-than-interval",
        budget_s=budget_s,
        every_s=every_s,
    )


def label_not_usable(label: str, longest: int) -> UsageError:
    return UsageError(
        f"--label {printable(label[:longest])} cannot be used",
        f"a label has up to {longest} printable characters",
        "use for example --label tuned",
        code="label-not-usable",
        label=label,
    )


def force_without_survey() -> UsageError:
    return UsageError(
        "--force has no effect without survey=RUN",
        "it accepts a survey of another machine",
        "leave it out",
        code="force-without-survey",
    )


# runs


def no_survey(place: Path, passed: str) -> Inconclusive:
    """`passed` is why the existing surveys do not count; "" if there are none."""
    return Inconclusive(
        f"no survey in {place} gives the cost of messages" + (" on this machine" if passed else ""),
        passed or "predictions are based on these costs",
        "run 'hockney survey' first, or give --run RUN or --machine NAME",
        code="no-survey",
    )


def no_run_of_study(place: Path, study: str, elsewhere: str = "") -> Inconclusive:
    """`elsewhere` is the newest run of the study that is not of a machine here, if there is one."""
    if elsewhere:
        what, why = f"no run of '{study}' on this machine in {place}", f"{elsewhere} is of another machine"
        remedy = f"run 'hockney run {study}' first, or name {elsewhere}"
    else:
        what, why = f"no run of '{study}' in {place}", "the answer is computed from its records"
        remedy = f"run 'hockney run {study}' first, or name a run"
    return Inconclusive(
        what,
        why,
        remedy,
        code="no-run-of-study",
        study=study,
        elsewhere=elsewhere,
    )


def newest_survey(run: str, place: Path, written: str) -> str:
    return f"from {run}, the newest survey in {place} (last written {written})"


def message_costs_from(run: str, study: str, place: Path, written: str, budget_s: float) -> str:
    kind = "survey" if study == "survey" else f"run of {study}"
    budget = typed_seconds(budget_s)
    return f"message costs from {run}, the newest {kind} in {place} (budget {budget}, last written {written})"


def longer_survey(
    run: str, budget_s: float, used: str, used_s: float, verb: Literal["predict", "calibrate"]
) -> Notice:
    """The older survey `run` was measured much longer than the one that the `verb` has `used`."""
    remedy = {
        "predict": f"--run {run} predicts from the longer one",
        "calibrate": f"'hockney calibrate {run}' uses the longer one",
    }
    return Notice(
        f"{run} was measured with a budget of {typed_seconds(budget_s)}, {used} with only "
        f"{typed_seconds(used_s)}; {remedy[verb]}",
        "longer-survey",
    )


def newest_run(run: str, study: str, place: Path, written: str) -> str:
    return f"from {run}, the newest run of {study} in {place} (last written {written})"


def newest_complete_run(run: str, place: Path, written: str) -> str:
    return f"from {run}, the newest complete run in {place} (last written {written})"


def newest_written_run(run: str, place: Path, written: str) -> str:
    return f"from {run}, the newest run in {place} (last written {written})"


def only_unfinished_run(run: str, place: Path) -> str:
    return f"resuming {run}, the only unfinished run in {place}"


def no_complete_run(place: Path, unfinished: str, left: int, planned: int) -> UsageError:
    """`unfinished` is the newest run in `place` that lacks `left` of its `planned` measurements; "" if there
    is none."""
    why = f"there is no complete one in {place}"
    remedy = "name a run's folder"
    if unfinished:
        run = printable(shlex.quote(unfinished))
        why += f"; {run} lacks {left} of {planned} measurements"
        remedy = f"'hockney resume {run}' measures them, or name the run as it is"
    return UsageError("no run is given", why, remedy, code="no-run-named", unfinished=unfinished)


def not_one_unfinished_run(place: Path, runs: Sequence[str]) -> UsageError:
    several = f"{len(runs)} in {place} are unfinished: {listing([printable(run) for run in runs])}"
    why = several if runs else f"no run in {place} is unfinished"
    remedy = "name a run's folder"
    return UsageError("no run is given", why, remedy, code="not-one-unfinished-run", runs=list(runs))


def passed_over(reason: str) -> Notice:
    return Notice(f"{reason}; --run uses it anyway", "survey-passed-over")


def run_with_machine() -> UsageError:
    return UsageError(
        "--run and --machine exclude each other",
        "message costs are taken from one of them",
        "use only one of them",
        code="run-with-machine",
    )


def cost_with_machine(cost: Cost) -> UsageError:
    return UsageError(
        f"--cost {cost} and --machine exclude each other",
        "a described machine has one cost of a message",
        "leave one of them out",
        code="cost-with-machine",
        cost=cost,
    )


def undisturbed_page() -> str:
    return (
        "Times and models on this page are undisturbed costs: those of each case in its fastest mode. The "
        "tables of spread and of metrics show typical costs."
    )


# reproductions


def nothing_to_reproduce() -> UsageError:
    return UsageError(
        "nothing to reproduce",
        "name a paper",
        "'hockney reproduce --list' shows all",
        code="nothing-to-reproduce",
    )


def reproduction_with_machine() -> UsageError:
    return UsageError(
        "a reproduction cannot run on this machine",
        "it simulates the machines of its paper, or measures on an emulated one",
        "leave --machine out, or give --machine lan:NAME",
        code="reproduction-with-machine",
    )


def part(reproduction: str, number: int, count: int, name: str, machine: str) -> str:
    return f"{reproduction}, part {number} of {count}: {name} on {machine}"


def reproduction_kept(out: Path) -> str:
    return f"the results so far are kept; to continue, use --out {out} again"


# measuring


def rounds_follow_at_once() -> Notice:
    return Notice(
        "simulated time does not advance between rounds, so rounds follow each other immediately",
        "rounds-follow-at-once",
    )


def programs_of_a_folder(path: Path, named: Mapping[str, Sequence[str]]) -> UsageError:
    """`named` has the values of options that are given in the folder's plan."""
    words = [word for option, values in named.items() for value in values for word in (option, value)]
    return UsageError(
        f"'{printable(str(path))}' names programs that you have not named",
        "a run folder from somebody else could start any program",
        f"if you trust it, name them: hockney resume {printable(shlex.join([str(path), *words]))}",
        code="programs-of-a-folder",
        options=sorted(named),
    )


def planned_case_not_usable(plan: Path, case: str, problem: HockneyError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"'{printable(case)}' in {printable(str(plan))} cannot be measured",
        str(problem),
        "the file may have been edited by hand; measure again",
        code="planned-case-not-usable",
        case=case,
        problem=problem.code,
    )


def bench_changed(field: str, before: object, now: object) -> Notice:
    return Notice(f"{field} was {before} when the run began and is {now} now", "machine-changed")


def records_kept(folder: Path) -> str:
    return f"the results so far are kept; continue with: hockney resume {folder}"


def made_with_other_settings(run: str, differences: Sequence[str]) -> str:
    return f"{run} was made with {'; '.join(differences)}"


def made_elsewhere(run: str, host: str) -> str:
    return f"{run} was made on {printable(host)}, not here"


def fitting() -> str:
    """Shown while it is in progress."""
    return "fitting the models"
