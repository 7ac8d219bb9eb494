# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Self-consistent performance guidelines: collectives that are slower than another way to the same result, by
other collectives, hockney's algorithms, more bytes, or several calls."""

from __future__ import annotations

from hockney.studies.guidelines.page import page
from hockney.studies.guidelines.plan import PARAMETERS, WORKLOADS, plan

NAME = "guidelines"
HELP = "where a collective is slower than another way to the same result"

__all__ = ["HELP", "NAME", "PARAMETERS", "WORKLOADS", "page", "plan"]
