# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From a run on a real machine to a description for simulating it, also at a larger size."""

from hockney.simulated.calibrate.agreement import DECIDED, Agreement, compare
from hockney.simulated.calibrate.calibrate import CalibrationOptions, calibrate
from hockney.simulated.calibrate.survey import Survey

__all__ = ["DECIDED", "Agreement", "CalibrationOptions", "Survey", "calibrate", "compare"]
