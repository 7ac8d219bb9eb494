# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Papers measured again on simulated machines. Each module here that has NAME, TITLE, PAPER, FIGURES, parts,
compare, checks and page reproduces one paper: its printed numbers are compared with the simulated machine."""

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
    tallies,
)
from hockney.reproductions.parts import Answer, Part

MEMBERS = ("NAME", "TITLE", "PAPER", "FIGURES", "parts", "compare", "checks", "page")
CONTRIBUTED = ("PART_OF", "WORKLOADS", "parts", "compare", "checks", "sections", "summary")


class Reproduction(Protocol):
    """`PAPER` is the reference's name; `FIGURES` maps a figure of the paper to the beginning of the name of
    the page's figure. `parts` lists what to run on which simulated machine; `compare` gives a row for every
    printed number, including those that were not measured; `checks` are what the paper states, and the
    conditions under which it counts as reproduced."""

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
    """A module of a suite that adds parts, rows, checks and sections to the reproduction `PART_OF`. It is
    named after it, and something else: PAPER_NAME."""

    PART_OF: str

    @property
    def WORKLOADS(self) -> tuple[str, ...]: ...

    def parts(self, catalog: Catalog) -> Iterable[Part]: ...

    def compare(self, answers: Mapping[str, Answer]) -> list[ComparedNumber]: ...

    def checks(self, answers: Mapping[str, Answer]) -> list[Check]: ...

    def sections(self, answers: Mapping[str, Answer]) -> list[Section]: ...

    def summary(self, answers: Mapping[str, Answer]) -> tuple[str, ...]: ...


def summaries(study: Reproduction, compared: Sequence[ComparedNumber]) -> Sequence[Table]:
    """Tables that a reproduction has instead of its rows of the series "algorithms"; its optional function
    `summaries` returns them."""
    make = getattr(study, "summaries", None)
    return make(compared) if make else ()


def tables(study: Reproduction, answers: Mapping[str, Answer]) -> Sequence[Table]:
    """Results besides the printed numbers; a reproduction's optional function `tables` returns them."""
    make = getattr(study, "tables", None)
    return make(answers) if make else ()


def on_emulated(study: Reproduction) -> Callable[[str], Reproduction] | None:
    """The optional function `on_emulated` of a reproduction whose questions can be measured on an emulated
    machine: for the value of --machine it returns the reproduction that simulates and measures."""
    return getattr(study, "on_emulated", None)


def contributions(paper: str) -> tuple[Contribution, ...]:
    """The contributions of suites to the reproduction of this name."""
    names = [name for name in plugin_names(__name__) if name.startswith(f"{paper}_")]
    return tuple(plugins(__name__, *CONTRIBUTED, marks=("PART_OF",), names=names))


def workloads_of(studies: Iterable[Reproduction]) -> tuple[str, ...]:
    """The workloads in their optional WORKLOADS, which are compiled on first use only."""
    modules = (each for study in studies for each in (study, *contributions(study.NAME)))
    return tuple(dict.fromkeys(name for module in modules for name in getattr(module, "WORKLOADS", ())))


def all_reproductions() -> dict[str, Reproduction]:
    """Every reproduction, by name."""
    modules = plugins(__name__, *MEMBERS, marks=("NAME", "FIGURES"), name_of=lambda module: module.NAME)
    return {module.NAME: module for module in sorted(modules, key=lambda module: module.NAME)}


def reproduction(name: str, catalog: Catalog) -> Reproduction:
    """Raises UsageError for an unknown name; if it is a machine's name, the error names the reproduction that
    runs on it."""
    shelf = all_reproductions()
    if name not in shelf:
        raise _unknown_reproduction(name, [*shelf, "all"], _reproduction_on(name, catalog))
    return shelf[name]


def _reproduction_on(machine: str, catalog: Catalog) -> str:
    """The reproduction whose first part runs on `machine`; "" if there is none."""
    machine = machine.partition(":")[2] or machine
    for name, study in all_reproductions().items():
        if any(part.machine == machine for part in study.parts(catalog)[:1]):
            return name
    return ""


def _unknown_reproduction(name: str, available: Iterable[str], of_machine: str = "") -> UsageError:
    """`of_machine` is the reproduction that simulates the machine called `name`, "" for none."""
    remedy, code = "'hockney reproduce --list' shows all", "unknown-reproduction"
    if not of_machine:
        return unknown("reproduction", name, available, remedy, code=code)
    return UsageError(
        f"unknown reproduction '{printable(name)}'",
        "it is a machine",
        f"use 'hockney reproduce {of_machine}', the paper that describes it",
        code=code,
        name=name,
        suggestion=of_machine,
    )
