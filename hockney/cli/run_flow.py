# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What survey, run and resume have in common: measure, fit, write the report, tell."""

from __future__ import annotations

from pathlib import Path

from hockney import lab, report, studies
from hockney.cli.arguments.run_options import Asked
from hockney.cli.output.progress import Talk
from hockney.cli.output.summary import tell_json, tell_words
from hockney.core.case import NAME, Case
from hockney.core.errors import HockneyError, UsageError, unknown
from hockney.core.survey_reference import Surveyed
from hockney.draw.page import Page
from hockney.lab import Bench, Outcome
from hockney.pages.format import listing
from hockney.store import RunFolder, default_path
from hockney.studies import Evidence, Options
from hockney.studies.ad_hoc import NAME as CASES

ANSWER_IS_NO = 1
INCONCLUSIVE = 4


def ask(
    study: str, asked: Asked, cases: tuple[str, ...], out: Path | None, quiet: bool, as_json: bool
) -> int:
    """From a question to its answer; returns the exit code."""
    talk = Talk(quiet)
    if asked.every is not None and not asked.every_s:
        talk.say("note: nothing else happens on a simulated machine, so its rounds follow at once")
    surveyed = survey_of(study, asked, talk)
    bench = lab.prepare(asked.machine, asked.mpi, asked.bind, talk.say, workloads_of(cases))
    surveyed = known_here(surveyed, asked, bench)
    planned = cases_of(study, asked, cases, bench, surveyed)
    bench = lab.check(bench, planned, talk.say)
    folder = lab.begin(out or default_path(study), planned, asked.settings(study), bench, surveyed)
    return measure_and_tell(folder, bench, talk, as_json)


def workloads_of(typed: tuple[str, ...]) -> set[str]:
    """The first words of cases as typed."""
    return {case.split()[0] for case in typed if case.split()}


def survey_of(study: str, asked: Asked, talk: Talk) -> Surveyed | None:
    """The survey named by --survey; the options are looked at first, whether the study takes them at all."""
    takes = studies.options_of(studies.study(study))
    for name, given in asked.grain.items():
        if given and name not in takes:
            takers = [
                each.NAME for each in studies.all_studies().values() if name in studies.options_of(each)
            ]
            raise UsageError(
                f"--{name} is nothing for {'typed cases' if study == CASES else f'study {study!r}'}",
                f"it is an option of {listing(takers)}",
                "leave it out" if study != CASES else "write it into the case, as compute work=1ms",
            )
    if asked.survey is None:
        return None
    found, notices = lab.survey_of(asked.survey)
    for notice in notices:
        talk.say(f"note: {notice}")
    return found


def known_here(surveyed: Surveyed | None, asked: Asked, bench: Bench) -> Surveyed | None:
    """The survey, if its machine is the one that will be measured, or --force says so."""
    return None if surveyed is None else lab.take_survey(surveyed, bench.machine, asked.force)


def cases_of(
    study: str, asked: Asked, typed: tuple[str, ...], bench: Bench, surveyed: Surveyed | None
) -> list[Case]:
    """What the study plans on this bench."""
    shelf = studies.all_studies()
    known = {w.name for w in bench.catalog.workloads}
    for name in sorted(workloads_of(typed) - known):
        if NAME.fullmatch(name):  # it may have been meant as a study
            others = {name for names in lab.other_groups().values() for name in names}
            choices = known | set(shelf) | others
            raise unknown("study or workload", name, choices, "'hockney run --list' shows all")
    lab.check_ranks(bench, max(asked.ranks, default=0))  # before a study plans for as many
    narrowed = Options(asked.ranks, asked.sizes, typed, asked.work, asked.serial, surveyed, asked.iterations)
    return shelf[study].plan(narrowed, bench.catalog, bench.machine)


def measure_and_tell(
    folder: RunFolder, bench: Bench, talk: Talk, as_json: bool, budget_s: float | None = None
) -> int:
    outcome = measured(folder, bench, talk, budget_s)
    evidence = evidence_of(folder)
    page = studies.study(evidence.study).page(evidence)
    report.write(page, folder.report_path)
    (tell_json if as_json else tell_words)(folder, evidence, page, outcome)
    if any(record.verified.errors for record in evidence.run.records):
        return ANSWER_IS_NO
    return INCONCLUSIVE if outcome.left else 0


def measured(folder: RunFolder, bench: Bench, talk: Talk, budget_s: float | None) -> Outcome:
    """Measure; whatever ends it, say where the run is and how to go on."""
    try:
        with talk:
            return lab.measure(folder, bench, talk, budget_s)
    except (HockneyError, KeyboardInterrupt, SystemExit):
        talk.say(f"what was measured is kept: hockney resume {folder.path}")
        raise


def tell_notices(notices: tuple[str, ...]) -> None:
    """What reading a run had to say, where nothing else is talked about."""
    for notice in notices:
        Talk(False).say(f"note: {notice}")


def evidence_of(folder: RunFolder, *, save: bool = True) -> Evidence:
    plan = folder.plan()
    found = lab.results(folder, save=save)
    asked = plan.settings
    return Evidence(
        fits=found.fits,
        run=found.run,
        machine=found.machine,
        study=asked.study,
        budget_s=asked.total_s,
        precision=asked.precision,
        launches=asked.launches,
        seed=asked.seed,
        planned=len(plan.items),
        notices=found.notices,
        every_s=asked.every_s,
        surveyed=folder.surveyed(),
    )


def page_of(folder: RunFolder, *, save: bool = True) -> Page:
    evidence = evidence_of(folder, save=save)
    tell_notices(evidence.notices)
    return studies.study(evidence.study).page(evidence)
