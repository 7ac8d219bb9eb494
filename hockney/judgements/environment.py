# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Differences between the environments of two sides."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hockney.core.fit import Fits
from hockney.core.record import SCHEMA
from hockney.core.wording import list_names, plural
from hockney.judgements.sides import MeasuredRun, Side
from hockney.pages import environment
from hockney.pages.evidence import Evidence

VARYING_FACTS = (
    "load before", "load of others", "clock", "command", "note", "copied by", "imported from", "imported by",
)  # fmt: skip
"""Facts that differ between any two runs, or that other facts contain."""
HOST_FACT = "host"
"""The fact that differs between any two batch jobs, because each gets other nodes."""
MPI_FACTS = ("MPI", "library", "MPI standard", "binding", "transport", "messages travel")
"""Facts reported by MPI, in contrast to those requested by the user."""
NOT_RECORDED = "not recorded"
NO_VALUE = "none"


@dataclass(frozen=True)
class Difference:
    """A fact about the environment that differs between A and B. Several values of a side are joined by
    semicolons."""

    name: str
    a: str
    b: str


def environment_differences(a: Side, b: Side) -> tuple[Difference, ...]:
    """Return the facts that differ between the sides, in the order of a report's environment."""
    facts_by_side = {side.name: [environment_facts(run) for run in side.runs] for side in (a, b)}
    all_facts = [run_facts for side in (a, b) for run_facts in facts_by_side[side.name]]
    names = dict.fromkeys(name for run_facts in all_facts for name in run_facts)
    rows = [
        Difference(
            name, _joined_values(facts_by_side[a.name], name), _joined_values(facts_by_side[b.name], name)
        )
        for name in names
    ]
    if a.loaded_count or b.loaded_count:
        rows.append(
            Difference(
                "launches under load", *(f"{side.loaded_count} of {side.launch_count}" for side in (a, b))
            )
        )
    return tuple(row for row in rows if row.a != row.b)


def mixed_facts(side: Side) -> tuple[str, ...]:
    """Return the names of the facts that differ between the runs of one side."""
    facts_by_run = [environment_facts(run) for run in side.runs]
    names = dict.fromkeys(name for run_facts in facts_by_run for name in run_facts)
    return tuple(name for name in names if len({run_facts.get(name) for run_facts in facts_by_run}) > 1)


def environment_facts(run: MeasuredRun) -> dict[str, str]:
    """Return the facts of a run's environment by name, without those that differ between any two runs."""
    evidence = Evidence(
        fits=Fits(schema=SCHEMA, summaries=[], fits=[]),
        run=run.run,
        machine=run.machine,
        settings=run.settings,
        planned_count=0,
    )
    facts_by_name = {name: text for name, text in environment.facts(evidence) if name not in VARYING_FACTS}
    if run.machine.nodes_vary:
        facts_by_name.pop(HOST_FACT, None)
        facts_by_name |= (
            {"nodes": facts_by_name["nodes"].partition(": ")[0]} if "nodes" in facts_by_name else {}
        )
    engines = dict.fromkeys(launch.engine for launch in run.run.launches if launch.engine)
    additional_facts = {
        "hosts": plural(run.run.max_hosts(), "host") if run.machine.traits.records_nodes else "",
        "engine": list_names(list(engines)),
        "mpiexec arguments": run.settings.mpiexec_args or NO_VALUE,
        "variables": " ".join(run.settings.variables) or NO_VALUE,
    }
    return facts_by_name | {name: text for name, text in additional_facts.items() if text}


def _joined_values(facts_by_run: Iterable[dict[str, str]], name: str) -> str:
    return "; ".join(dict.fromkeys(run_facts.get(name, NOT_RECORDED) for run_facts in facts_by_run))
