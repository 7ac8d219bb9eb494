# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Models of communication time: summarise and fit the records of a run."""

from hockney.models.fits.caveats import CONTRADICTIONS
from hockney.models.fits.collective import collective_time, fit_collective
from hockney.models.fits.hockney import fit_hockney
from hockney.models.fits.loggp import fit_loggp
from hockney.models.fits.registry import all_models, fit_all
from hockney.models.statistics import Observation, median_interval, observe, summarise

__all__ = [
    "CONTRADICTIONS",
    "Observation",
    "all_models",
    "collective_time",
    "fit_all",
    "fit_collective",
    "fit_hockney",
    "fit_loggp",
    "median_interval",
    "observe",
    "summarise",
]
