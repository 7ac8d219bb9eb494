# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Questions about a machine. Each module here that defines NAME, HELP, plan and page is one study; `Study`
lists the optional names."""

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

__all__ = [
    "Evidence",
    "Options",
    "Study",
    "all_studies",
    "answer_document",
    "find_study",
    "is_study",
    "plan_study",
]

MEMBER_NAMES = tuple(field.name for field in fields(Study))
REQUIRED_MEMBERS = tuple(field.name for field in fields(Study) if field.default is MISSING)


def all_studies() -> dict[str, Study]:
    """Every study, by name."""
    return {study.NAME: study for study in sorted(_load_studies(plugin_names(__name__)), key=_name_of)}


def is_study(name: str) -> bool:
    """Whether users can run a study by this name, which is that of its module. No other module is
    imported."""
    module = name.replace("-", "_")
    return module in plugin_names(__name__) and any(
        name == candidate.NAME for candidate in _load_studies([module])
    )


def _load_studies(modules: Iterable[str]) -> Iterator[Study]:
    for module in plugins(__name__, *REQUIRED_MEMBERS, name_of=_required_module_name, names=modules):
        yield Study(**{name: getattr(module, name) for name in MEMBER_NAMES if hasattr(module, name)})


def _required_module_name(module: Any) -> str:
    """The name that the study's module must have: its NAME if users can run it by name."""
    by_name = getattr(module, "RUN_BY_NAME", True)
    return str(module.NAME if by_name else module.__name__.rpartition(".")[2])


def _name_of(study: Study) -> str:
    return study.NAME


def plan_study(study: Study, options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """The study's plan. On several nodes, the launcher decides nothing, unless the study is AS_TYPED."""
    cases = study.plan(options, catalog, machine)
    return cases if study.AS_TYPED else places.with_node_counts(cases, machine)


def answer_document(study: Study, evidence: Evidence) -> dict[str, Any]:
    """The study's own part of the JSON document."""
    return {} if study.answer is None else {"answer": study.answer(evidence)}


def find_study(name: str) -> Study:
    """The study with this name. The module with the same name is tried first, which often avoids importing
    the others."""
    modules = sorted(plugin_names(__name__), key=lambda module: module != name.replace("-", "_"))
    for candidate in _load_studies(modules):
        if name == candidate.NAME:
            return candidate
    raise unknown("study", name, all_studies(), "'hockney run --list' shows all", code="unknown-study")
