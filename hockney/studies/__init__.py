# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Questions asked of a machine. Each module here that has NAME, HELP, plan and page is one study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import unknown
from hockney.core.launch_setting import LaunchSetting
from hockney.core.machine import Machine
from hockney.core.parameters import StudyParameter
from hockney.core.plugins import plugin_names, plugins
from hockney.draw.page import Table
from hockney.pages.evidence import Evidence, Options, Study
from hockney.studies import places

__all__ = [
    "Evidence",
    "Options",
    "Study",
    "all_studies",
    "asks_for_levels",
    "is_conclusive",
    "is_study",
    "launch_settings",
    "parameters_of",
    "planned",
    "refines",
    "study",
    "workloads_of",
]


def all_studies() -> dict[str, Study]:
    """Every study, by name."""
    return {study.NAME: study for study in sorted(_studies(plugin_names(__name__)), key=_name)}


def is_study(name: str) -> bool:
    """Whether users run a study by this name, which is that of its module; no other is imported."""
    module = name.replace("-", "_")
    return module in plugin_names(__name__) and any(
        name == candidate.NAME for candidate in _studies([module])
    )


def _studies(modules: Iterable[str]) -> Iterator[Study]:
    return plugins(__name__, "NAME", "HELP", "plan", "page", names=modules)


def _name(study: Study) -> str:
    return study.NAME


def parameters_of(study: Study) -> tuple[StudyParameter, ...]:
    """The parameters that the study declares."""
    return getattr(study, "PARAMETERS", ())


def is_conclusive(study: Study, evidence: Evidence) -> bool:
    """Whether the run answers the study's question; studies that do not declare this count as conclusive."""
    return getattr(study, "is_conclusive", lambda evidence: True)(evidence)


def refines(study: Study) -> bool:
    """Whether it adds sizes between the planned ones around changes of a cost; a question about certain sizes
    is answered as asked."""
    return getattr(study, "REFINES", False)


def planned(study: Study, options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """The study's plan, with nothing left to the launcher on several nodes; ad-hoc cases are measured as
    typed."""
    cases = study.plan(options, catalog, machine)
    return cases if getattr(study, "AS_TYPED", False) else places.settled(cases, machine)


def asks_for_levels(study: Study) -> bool:
    """Whether its plan depends on the levels at which ranks of one node meet, which are found by starting
    ranks: it declares ASKS_FOR_LEVELS."""
    return getattr(study, "ASKS_FOR_LEVELS", False)


def launch_settings(study: Study, options: Options, machine: Machine) -> Sequence[LaunchSetting]:
    """The launch settings that the cases of the study's plan name: those that its function `launch_settings`
    returns, if it has one."""
    declared: Callable[[Options, Machine], Sequence[LaunchSetting]] | None
    declared = getattr(study, "launch_settings", None)
    return () if declared is None else declared(options, machine)


def workloads_of(study: Study) -> tuple[str, ...]:
    """The workloads that the study may plan, if some of them are compiled on first use only."""
    return getattr(study, "WORKLOADS", ())


def answer(study: Study, evidence: Evidence) -> dict[str, Any]:
    """The study's own part of the JSON document: what its function `answer` returns, if it has one."""
    made: Callable[[Evidence], dict[str, Any]] | None = getattr(study, "answer", None)
    return {} if made is None else {"answer": made(evidence)}


def summary(study: Study, evidence: Evidence) -> Sequence[Table]:
    """The tables below the headline on a terminal: what its function `summary` returns, if it has one."""
    made: Callable[[Evidence], Sequence[Table]] | None = getattr(study, "summary", None)
    return () if made is None else made(evidence)


def study(name: str) -> Study:
    """The module with the same name is tried first, which spares the import of the others."""
    modules = sorted(plugin_names(__name__), key=lambda module: module != name.replace("-", "_"))
    for candidate in _studies(modules):
        if name == candidate.NAME:
            return candidate
    raise unknown("study", name, all_studies(), "'hockney run --list' shows all", code="unknown-study")
