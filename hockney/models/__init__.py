# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Models of communication time: summarise and fit the records of a run."""

from hockney.models.fits.collective import collective_time, fit_collective
from hockney.models.fits.hockney import fit_hockney
from hockney.models.fits.loggp import fit_loggp
from hockney.models.fits.registry import COLLECTIVES, fit_all
from hockney.models.statistics.interval import median_interval
from hockney.models.statistics.observations import Observation, observe
from hockney.models.statistics.summary import summarise

__all__ = [
    "COLLECTIVES",
    "Observation",
    "collective_time",
    "fit_all",
    "fit_collective",
    "fit_hockney",
    "fit_loggp",
    "median_interval",
    "observe",
    "summarise",
]
