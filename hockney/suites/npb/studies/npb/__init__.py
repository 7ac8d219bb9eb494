# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks: speed-up, where the time goes, and the cost of barriers inside them, as in
R. Krishnamurthy (1998)."""

from __future__ import annotations

from hockney.suites.npb.studies.npb.columns import answer, summary
from hockney.suites.npb.studies.npb.page import page
from hockney.suites.npb.studies.npb.plan import PARAMETERS, WORKLOADS, plan

NAME = "npb"
HELP = "speed-up of the NAS benchmarks, where their time goes, and the cost of barriers in them"

__all__ = ["HELP", "NAME", "PARAMETERS", "WORKLOADS", "answer", "page", "plan", "summary"]
