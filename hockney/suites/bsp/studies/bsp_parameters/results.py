# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of a run by number of ranks, and the paper's printed ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from hockney import reference
from hockney.core.fit import Estimate, Fit
from hockney.models.statistics import ratio_of_estimates
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.reference import PrintedRow
from hockney.suites.bsp.fits.bsp import ROLE, SYNCHRONISATION
from hockney.suites.bsp.models.parameters import (
    LOCAL_ROLE,
    permutation_fit,
    rank_counts,
    relation_fit,
    superstep_fit,
)
from hockney.suites.bsp.models.programs import WORD_BYTES

PAPER_VALUES = reference.published("paragon")
MESHES = {"4x2": 8, "4x4": 16, "8x4": 32, "6x6": 36, "8x8": 64, "10x10": 100}
"""Processors of the paper's meshes."""
PAPER_KEYS = {"g": "bsp/g", "L": "bsp/L", "sigma": "bpram/sigma", "l": "bpram/l"}
"""Keys of the printed values, without paper and mesh, by symbol."""
METHOD_TITLES = {"put": "bsp_put", "send": "bsp_send", "mpi": "one MPI message for each word"}
"""Methods to communicate words."""


@dataclass(frozen=True)
class ParameterResults:
    evidence: Evidence

    @classmethod
    def of(cls, evidence: Evidence) -> ParameterResults:
        return evidence.cached(cls)

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        return rank_counts(self.evidence.fits)

    def fit(self, symbol: str, ranks: int, method: str = "put") -> Fit | None:
        """Returns the fit with this parameter: g and L (of words), sigma and l, or o and G; None if it is
        missing."""
        fits = self.evidence.fits
        if symbol in ("g", "L"):
            return relation_fit(fits, ranks, method)
        return permutation_fit(fits, ranks) if symbol in ("sigma", "l") else superstep_fit(fits, ranks)

    def estimate(self, symbol: str, ranks: int, method: str = "put") -> Estimate | None:
        fit = self.fit(symbol, ranks, method)
        parameter = None if fit is None else fit.parameter(symbol)
        return None if parameter is None else parameter.estimate

    def combining_gain(self, ranks: int) -> Estimate | None:
        """Returns g of words sent immediately over g of combined words. The paper reports 17 to 22."""
        return self.gain_over_put("mpi", ranks)

    def gain_over_put(self, method: str, ranks: int) -> Estimate | None:
        """Returns g of words by this method, over g by bsp_put; None if either is unknown."""
        g, combined_g = (self.estimate("g", ranks, name) for name in (method, "put"))
        return (
            None
            if g is None or combined_g is None or not combined_g.value
            else ratio_of_estimates(g, combined_g)
        )

    def synchronisation(self, ranks: int) -> MeasuredCase | None:
        """Returns the measurement of an empty superstep; None if there is none."""
        candidates = (
            measurement
            for measurement in self.evidence.of_role(ROLE)
            if measurement.workload.operation == SYNCHRONISATION
        )
        return next((measurement for measurement in candidates if measurement.case.ranks == ranks), None)

    def relations(self, ranks: int, method: str = "put") -> tuple[MeasuredCase, ...]:
        """Returns the measured h-relations whose packets are single words."""
        return self.evidence.of("h_relation", ranks=ranks, method=method, packet=WORD_BYTES)

    def permutations(self, ranks: int) -> tuple[MeasuredCase, ...]:
        return self.evidence.of("block_permutation", ranks=ranks)

    @property
    def rates(self) -> tuple[MeasuredCase, ...]:
        """The measured local work."""
        return self.evidence.of_role(LOCAL_ROLE)


def paper_rows(symbol: str) -> dict[str, PrintedRow]:
    """Returns the paper's values (s, or s/B) by mesh of the Paragon."""
    rows = {row.key: row for row in PAPER_VALUES.rows}
    keys = {mesh: f"paragon/{PAPER_KEYS[symbol]}/{mesh}" for mesh in MESHES}
    return {mesh: rows[key] for mesh, key in keys.items() if key in rows}


def paper_values_by_processors(symbol: str) -> dict[int, float]:
    return {MESHES[mesh]: row.si for mesh, row in paper_rows(symbol).items()}
