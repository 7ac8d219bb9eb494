# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What differs between the environments of two sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hockney.core.fit import Fits
from hockney.core.record import SCHEMA
from hockney.core.wording import list_names, plural
from hockney.judgements.sides import MeasuredRun, Side
from hockney.pages import environment
from hockney.pages.evidence import Evidence

VARYING = (
    "load before", "load of others", "clock", "command", "note", "copied by", "imported from", "imported by",
)  # fmt: skip
"""Facts that differ between any two runs, or that other facts contain."""
ON_OTHER_NODES = "host"
"""The fact that differs between any two batch jobs, which get other nodes every time."""
REPORTED = ("MPI", "library", "MPI standard", "binding", "transport", "messages travel")
"""What MPI reports, in contrast to what the user asked for."""
NOT_RECORDED = "not recorded"
NONE = "none"


@dataclass(frozen=True)
class Difference:
    """A fact about the environment, as it was in A and in B. Several values of a side are joined by
    semicolons."""

    name: str
    a: str
    b: str


def differences(a: Side, b: Side) -> tuple[Difference, ...]:
    """Facts in the order of a report's environment; those that are the same in all runs are left out."""
    by_side = {side.name: [facts(run) for run in side.runs] for side in (a, b)}
    all_facts = [run_facts for side in (a, b) for run_facts in by_side[side.name]]
    names = dict.fromkeys(name for run_facts in all_facts for name in run_facts)
    rows = [
        Difference(name, _values(by_side[a.name], name), _values(by_side[b.name], name)) for name in names
    ]
    if a.loaded or b.loaded:
        rows.append(Difference("launches under load", *(f"{s.loaded} of {s.launches}" for s in (a, b))))
    return tuple(row for row in rows if row.a != row.b)


def mixed(side: Side) -> tuple[str, ...]:
    """The facts that differ between the runs of one side."""
    run_facts = [facts(run) for run in side.runs]
    names = dict.fromkeys(name for each in run_facts for name in each)
    return tuple(name for name in names if len({each.get(name) for each in run_facts}) > 1)


def facts(run: MeasuredRun) -> dict[str, str]:
    """The facts of a run's environment, by name, without those that differ between any two runs."""
    evidence = Evidence(
        fits=Fits(schema=SCHEMA, summaries=[], fits=[]),
        run=run.run,
        machine=run.machine,
        settings=run.settings,
        planned_count=0,
    )
    run_facts = {name: text for name, text in environment.facts(evidence) if name not in VARYING}
    if run.machine.nodes_vary:
        run_facts.pop(ON_OTHER_NODES, None)
        run_facts |= {"nodes": run_facts["nodes"].partition(": ")[0]} if "nodes" in run_facts else {}
    engines = dict.fromkeys(launch.engine for launch in run.run.launches if launch.engine)
    further = {
        "hosts": plural(run.run.max_hosts(), "host") if run.machine.traits.records_nodes else "",
        "engine": list_names(list(engines)),
        "mpiexec arguments": run.settings.mpiexec_args or NONE,
        "variables": " ".join(run.settings.variables) or NONE,
    }
    return run_facts | {name: text for name, text in further.items() if text}


def _values(run_facts: Iterable[dict[str, str]], name: str) -> str:
    return "; ".join(dict.fromkeys(facts_of_run.get(name, NOT_RECORDED) for facts_of_run in run_facts))
