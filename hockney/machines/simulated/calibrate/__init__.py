# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration: converts a run on a real machine to a description for simulating it, also at a larger size."""

from hockney.machines.simulated.calibrate.agreement import DECIDED, Agreement, compare
from hockney.machines.simulated.calibrate.calibrate import CalibrationOptions, calibrate
from hockney.machines.simulated.calibrate.survey import Survey
