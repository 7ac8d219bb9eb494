# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of collective algorithms, from the records of a run, and their gain measured again."""

from hockney.api.tuning.check import Gain, TimeRatio, check, remove_slower
from hockney.api.tuning.files import CHOICES, DYNAMIC_RULES, Tuned, tune

__all__ = ["CHOICES", "DYNAMIC_RULES", "Gain", "TimeRatio", "Tuned", "check", "remove_slower", "tune"]
