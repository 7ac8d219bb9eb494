# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From a run on a real machine to a description that a simulator can stand in for it with, and grow."""

from hockney.simulated.calibrate.agreement import Agreement, compare
from hockney.simulated.calibrate.calibrate import CalibrationOptions, calibrate
from hockney.simulated.calibrate.survey import Survey

__all__ = ["Agreement", "CalibrationOptions", "Survey", "calibrate", "compare"]
