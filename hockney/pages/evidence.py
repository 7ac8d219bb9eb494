# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a study is given: the options of the question, and later the evidence to answer it from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from hockney.core.case import Case, parse_canonical
from hockney.core.catalog import Catalog
from hockney.core.fit import Fits, Summary
from hockney.core.machine import Machine
from hockney.core.record import Run
from hockney.core.survey_reference import Surveyed
from hockney.draw.page import Page

T = TypeVar("T")


@dataclass(frozen=True)
class Options:
    """What a user may narrow. Empty means: the study decides. `cases` are typed lines, for the study
    that measures just them; `work` (s) and `serial` (fractions) are for a study of granularity, `iterations`
    (0: the study decides) for one of barriers. Where there is `surveyed`, the parameters of the machine come
    from there and need not be measured."""

    ranks: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    cases: tuple[str, ...] = ()
    work: tuple[float, ...] = ()
    serial: tuple[float, ...] = ()
    surveyed: Surveyed | None = None
    iterations: int = 0


@dataclass(frozen=True)
class Evidence:
    """A run as measured, and what had been asked of it. `budget_s` is for all measuring, `planned` counts
    pairs of case and launch, `notices` are what reading the run had to say. Where `every_s` is not 0, each
    launch of everything was a round of its own, begun so many seconds after the one before. `surveyed` is
    where the machine's parameters are from when not from this run."""

    fits: Fits
    run: Run
    machine: Machine
    study: str
    budget_s: float
    precision: float
    launches: int
    seed: int
    planned: int
    notices: tuple[str, ...] = ()
    every_s: float = 0.0
    surveyed: Surveyed | None = None

    def cached(self, compute: Callable[[Evidence], T]) -> T:
        """`compute(self)`, computed the first time only: several sections of a page need the same."""
        if compute not in self._cache:
            self._cache[compute] = compute(self)
        return self._cache[compute]

    @cached_property
    def _cache(self) -> dict[Callable[[Evidence], Any], Any]:
        return {}

    @cached_property
    def measured(self) -> tuple[Measured, ...]:
        """Every summary with its case, by workload, parameters and ranks."""
        found = (Measured(parse_canonical(summary.case), summary) for summary in self.fits.summaries)
        return tuple(sorted(found, key=lambda m: (m.case.workload, m.case.ranks, m.size, m.case.line)))

    def of(self, workload: str, **fixed: str | int | float) -> tuple[Measured, ...]:
        """The measured cases of a workload whose parameters have these values, by ranks and size."""
        return tuple(
            m
            for m in self.measured
            if m.case.workload == workload
            and all({**dict(m.case.parameters), "ranks": m.case.ranks}.get(k) == v for k, v in fixed.items())
        )


@dataclass(frozen=True)
class Measured:
    case: Case
    summary: Summary

    @property
    def size(self) -> int:
        return self.case.size


class Study(Protocol):
    """A module of this folder with these four names is a study. One that also takes other options than all
    do names them in OPTIONS, of "work", "serial", "survey" and "iterations"."""

    NAME: str
    HELP: str

    def plan(self, options: Options, catalog: Catalog, machine: Machine) -> list[Case]: ...

    def page(self, evidence: Evidence) -> Page: ...


def once(cases: Iterable[Case]) -> list[Case]:
    return list(dict.fromkeys(cases))
