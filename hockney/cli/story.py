# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What survey, run and resume have in common: measure, fit, write the report, tell."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from hockney import lab, report, studies
from hockney.cli.summary import tell_json, tell_words
from hockney.cli.talk import Talk
from hockney.core.case import NAME, Case
from hockney.core.errors import HockneyError, unknown
from hockney.draw.page import Page
from hockney.lab import Bench, Outcome
from hockney.store import RunFolder, Settings, default_path
from hockney.studies import Evidence, Options

ANSWER_IS_NO = 1
INCONCLUSIVE = 4
LAUNCHES = 3
SIMULATED_SEED = 1


@dataclass(frozen=True)
class Asked:
    """The shared options as typed."""

    ranks: tuple[int, ...]
    sizes: tuple[int, ...]
    budget: float
    precision: float
    launches: int | None
    seed: int | None
    bind: bool
    mpi: str
    machine: str

    @property
    def simulated(self) -> bool:
        return self.machine.startswith(lab.SIMULATED)

    @property
    def rounds(self) -> int:
        """Launches of everything: a simulation would only repeat itself."""
        return self.launches or (1 if self.simulated else LAUNCHES)

    @property
    def order(self) -> int:
        """The seed of the shuffled order: what is simulated twice must be the same, byte for byte."""
        if self.seed is not None:
            return self.seed
        return SIMULATED_SEED if self.simulated else secrets.randbelow(2**31)

    def settings(self, study: str) -> Settings:
        return Settings(
            study=study,
            budget_s=self.budget,
            precision=self.precision,
            launches=self.rounds,
            seed=self.order,
            bind=self.bind,
            mpi=self.mpi,
            machine=self.machine,
        )


def ask(
    study: str, asked: Asked, cases: tuple[str, ...], out: Path | None, quiet: bool, as_json: bool
) -> int:
    """From a question to its answer; returns the exit code."""
    talk = Talk(quiet)
    bench = lab.prepare(asked.machine, asked.mpi, asked.bind, talk.say)
    planned = cases_of(study, asked, cases, bench)
    bench = lab.check(bench, planned, talk.say)
    folder = lab.begin(out or default_path(study), planned, asked.settings(study), bench)
    return measure_and_tell(folder, bench, talk, as_json)


def cases_of(study: str, asked: Asked, typed: tuple[str, ...], bench: Bench) -> list[Case]:
    """What the study plans on this bench."""
    shelf = studies.all_studies()
    known = {w.name for w in bench.catalog.workloads}
    for name in (words.split()[0] for words in typed if words.split()):
        if name not in known and NAME.fullmatch(name):  # it may have been meant as a study
            raise unknown("study or workload", name, known | set(shelf), "'hockney run --list' shows all")
    return shelf[study].plan(Options(asked.ranks, asked.sizes, typed), bench.catalog, bench.machine)


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
        budget_s=asked.budget_s,
        precision=asked.precision,
        launches=asked.launches,
        seed=asked.seed,
        planned=len(plan.items),
        notices=found.notices,
    )


def page_of(folder: RunFolder, *, save: bool = True) -> Page:
    evidence = evidence_of(folder, save=save)
    tell_notices(evidence.notices)
    return studies.study(evidence.study).page(evidence)
