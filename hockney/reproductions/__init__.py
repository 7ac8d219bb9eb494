# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reproductions of papers on simulated machines. Each module in this folder with NAME, TITLE, PAPER, FIGURES,
parts, compare, checks and page reproduces one paper: it compares the paper's printed numbers with those of
the simulated machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.plugins import plugin_names, plugins
from hockney.draw.page import Page, Section, Table
from hockney.reproductions.compared import (
    Check,
    CloseRows,
    ComparedNumber,
    Statement,
    Status,
    status_of,
    tally_by_status,
)
from hockney.reproductions.parts import Answer, Part

REPRODUCTION_MEMBERS = ("NAME", "TITLE", "PAPER", "FIGURES", "parts", "compare", "checks", "page")
CONTRIBUTION_MEMBERS = ("PART_OF", "WORKLOADS", "parts", "compare", "checks", "sections", "summary")


class Reproduction(Protocol):
    """A reproduction of a paper. `PAPER` is the name of the reference. `FIGURES` maps a figure of the paper
    to the beginning of the name of the page's figure. `parts` lists what to run on which simulated machine;
    `compare` returns a row for every printed number, including those that were not measured; `checks` are the
    statements of the paper and the conditions under which it counts as reproduced."""

    @property
    def NAME(self) -> str: ...

    @property
    def TITLE(self) -> str: ...

    @property
    def PAPER(self) -> str: ...

    @property
    def FIGURES(self) -> Mapping[str, str]: ...

    def parts(self, catalog: Catalog) -> list[Part]: ...

    def compare(self, answers: Mapping[str, Answer]) -> list[ComparedNumber]: ...

    def checks(self, answers: Mapping[str, Answer], compared: Sequence[ComparedNumber]) -> list[Check]: ...

    def page(
        self, answers: Mapping[str, Answer], compared: Sequence[ComparedNumber], checks: Sequence[Check]
    ) -> Page: ...


class Contribution(Protocol):
    """A module of a suite that adds parts, rows, checks and sections to the reproduction `PART_OF`. Its name
    starts with the name of that reproduction: PAPER_NAME."""

    PART_OF: str

    @property
    def WORKLOADS(self) -> tuple[str, ...]: ...

    def parts(self, catalog: Catalog) -> Iterable[Part]: ...

    def compare(self, answers: Mapping[str, Answer]) -> list[ComparedNumber]: ...

    def checks(self, answers: Mapping[str, Answer]) -> list[Check]: ...

    def sections(self, answers: Mapping[str, Answer]) -> list[Section]: ...

    def summary(self, answers: Mapping[str, Answer]) -> tuple[str, ...]: ...


def summaries(study: Reproduction, compared: Sequence[ComparedNumber]) -> Sequence[Table]:
    """Return the tables that replace a reproduction's rows of the series "algorithms", from its optional
    function `summaries`."""
    create_tables = getattr(study, "summaries", None)
    return create_tables(compared) if create_tables else ()


def tables(study: Reproduction, answers: Mapping[str, Answer]) -> Sequence[Table]:
    """Return results in addition to the printed numbers, from a reproduction's optional function `tables`."""
    create_tables = getattr(study, "tables", None)
    return create_tables(answers) if create_tables else ()


def on_emulated(study: Reproduction) -> Callable[[str], Reproduction] | None:
    """Return the optional function `on_emulated` of a reproduction that can also be measured on an emulated
    machine. For the value of --machine, the function returns the reproduction that simulates and measures."""
    return getattr(study, "on_emulated", None)


def contributions(paper: str) -> tuple[Contribution, ...]:
    """Return the contributions of suites to the reproduction of this name."""
    names = [name for name in plugin_names(__name__) if name.startswith(f"{paper}_")]
    return tuple(plugins(__name__, *CONTRIBUTION_MEMBERS, marks=("PART_OF",), names=names))


def workloads_of(studies: Iterable[Reproduction]) -> tuple[str, ...]:
    """Return the workloads in the optional WORKLOADS of these reproductions, which are compiled on first use
    only."""
    modules = (each for study in studies for each in (study, *contributions(study.NAME)))
    return tuple(dict.fromkeys(name for module in modules for name in getattr(module, "WORKLOADS", ())))


def all_reproductions() -> dict[str, Reproduction]:
    """Return every reproduction, by name."""
    modules = plugins(
        __name__, *REPRODUCTION_MEMBERS, marks=("NAME", "FIGURES"), name_of=lambda module: module.NAME
    )
    return {module.NAME: module for module in sorted(modules, key=lambda module: module.NAME)}


def reproduction(name: str, catalog: Catalog) -> Reproduction:
    """Return the reproduction of this name. Raises UsageError for an unknown name; for the name of a machine,
    the error names the reproduction that runs on it."""
    reproductions = all_reproductions()
    if name not in reproductions:
        raise _unknown_reproduction_error(name, [*reproductions, "all"], _reproduction_on(name, catalog))
    return reproductions[name]


def _reproduction_on(machine: str, catalog: Catalog) -> str:
    """Return the name of the reproduction whose first part runs on `machine`, or "" if there is none."""
    machine = machine.partition(":")[2] or machine
    for name, study in all_reproductions().items():
        if any(part.machine == machine for part in study.parts(catalog)[:1]):
            return name
    return ""


def _unknown_reproduction_error(
    name: str, available: Iterable[str], machine_reproduction: str = ""
) -> UsageError:
    """Return the error. `machine_reproduction` is the reproduction that simulates the machine called `name`,
    "" if there is none."""
    remedy, code = "'hockney reproduce --list' shows all", "unknown-reproduction"
    if not machine_reproduction:
        return unknown("reproduction", name, available, remedy, code=code)
    return UsageError(
        f"unknown reproduction '{printable(name)}'",
        "it is a machine",
        f"use 'hockney reproduce {machine_reproduction}', the paper that describes it",
        code=code,
        name=name,
        suggestion=machine_reproduction,
    )
