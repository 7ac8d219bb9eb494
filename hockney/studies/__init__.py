# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Questions asked of a machine. Each module here that has NAME, HELP, plan and page is one study; `Study`
lists the names that it may define besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from typing import Any

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import unknown
from hockney.core.machine import Machine
from hockney.core.plugins import plugin_names, plugins
from hockney.pages.evidence import Evidence, Options, Study
from hockney.studies import places

__all__ = ["Evidence", "Options", "Study", "all_studies", "answer", "is_study", "planned", "study"]

MEMBERS = tuple(field.name for field in fields(Study))
REQUIRED = tuple(field.name for field in fields(Study) if field.default is MISSING)


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
    for module in plugins(__name__, *REQUIRED, name_of=_name_of_module, names=modules):
        yield Study(**{name: getattr(module, name) for name in MEMBERS if hasattr(module, name)})


def _name_of_module(module: Any) -> str:
    """The name that the study's module must have: its own if it is one that users type."""
    by_name = getattr(module, "RUN_BY_NAME", True)
    return str(module.NAME if by_name else module.__name__.rpartition(".")[2])


def _name(study: Study) -> str:
    return study.NAME


def planned(study: Study, options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """The study's plan, with nothing left to the launcher on several nodes unless it is AS_TYPED."""
    cases = study.plan(options, catalog, machine)
    return cases if study.AS_TYPED else places.settled(cases, machine)


def answer(study: Study, evidence: Evidence) -> dict[str, Any]:
    """The study's own part of the JSON document."""
    return {} if study.answer is None else {"answer": study.answer(evidence)}


def study(name: str) -> Study:
    """The module with the same name is tried first, which spares the import of the others."""
    modules = sorted(plugin_names(__name__), key=lambda module: module != name.replace("-", "_"))
    for candidate in _studies(modules):
        if name == candidate.NAME:
            return candidate
    raise unknown("study", name, all_studies(), "'hockney run --list' shows all", code="unknown-study")
