# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Models of communication time: summarise and fit the records of a run."""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.models.fits.caveats import CONTRADICTIONS
    from hockney.models.fits.collective import fit_collective
    from hockney.models.fits.collective_forms import collective_time
    from hockney.models.fits.hockney import fit_hockney
    from hockney.models.fits.loggp import LogGPOverheads, fit_loggp, loggp_overheads
    from hockney.models.fits.model import all_models, fit_all
    from hockney.models.statistics import Observation, median_interval, observe, summarise
else:
    __getattr__ = lazy.attribute_getter(__name__)
