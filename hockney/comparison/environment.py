# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What differs between the environments of two sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hockney.comparison.side import MeasuredRun, Side
from hockney.core.fit import Fits
from hockney.core.record import SCHEMA
from hockney.core.wording import listing, plural
from hockney.pages import environment
from hockney.pages.evidence import Evidence

VARYING = ("load before", "load of others", "clock", "command", "note", "copied by")
"""Facts that differ between any two runs, or that other facts contain."""
NOT_RECORDED = "not recorded"


@dataclass(frozen=True)
class Difference:
    """A fact about the environment, as it was in A and in B. Several values of a side are joined by
    semicolons."""

    name: str
    a: str
    b: str


def differences(a: Side, b: Side) -> tuple[Difference, ...]:
    """Facts in the order of a report's environment; those that are the same in all runs are left out."""
    of = {side.name: [_facts(run) for run in side.runs] for side in (a, b)}
    every = [facts for side in (a, b) for facts in of[side.name]]
    names = dict.fromkeys(name for facts in every for name in facts)
    rows = [Difference(name, _values(of[a.name], name), _values(of[b.name], name)) for name in names]
    if a.loaded or b.loaded:
        rows.append(Difference("launches under load", *(f"{s.loaded} of {s.launches}" for s in (a, b))))
    return tuple(row for row in rows if row.a != row.b)


def mixed(side: Side) -> tuple[str, ...]:
    """The facts that differ between the runs of one side."""
    facts = [_facts(run) for run in side.runs]
    names = dict.fromkeys(name for each in facts for name in each)
    return tuple(name for name in names if len({each.get(name) for each in facts}) > 1)


def _facts(run: MeasuredRun) -> dict[str, str]:
    evidence = Evidence(
        fits=Fits(schema=SCHEMA, summaries=[], fits=[]),
        run=run.run,
        machine=run.machine,
        settings=run.settings,
        planned=0,
    )
    known = {name: text for name, text in environment.facts(evidence) if name not in VARYING}
    engines = dict.fromkeys(launch.engine for launch in run.run.launches if launch.engine)
    own = {
        "hosts": plural(run.run.most_hosts(), "host"),
        "engine": listing(list(engines)),
        "mpiexec arguments": run.settings.mpiexec_args,
        "variables": " ".join(run.settings.variables),
    }
    return known | {name: text for name, text in own.items() if text}


def _values(runs: Iterable[dict[str, str]], name: str) -> str:
    return "; ".join(dict.fromkeys(facts.get(name, NOT_RECORDED) for facts in runs))
