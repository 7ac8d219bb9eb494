# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How well the bulk synchronous models predict complete programs, and which of their assumptions fails:
matrix multiplication, bitonic sort, sample sort and shortest paths, as in B. H. H. Juurlink (1998)."""

from __future__ import annotations

from hockney.suites.bsp.studies.bsp_kernels.columns import answer, summary
from hockney.suites.bsp.studies.bsp_kernels.page import page
from hockney.suites.bsp.studies.bsp_kernels.plan import PARAMETERS, WORKLOADS, plan

NAME = "bsp-kernels"
HELP = "how well BSP and BPRAM predict four kernels, and which assumption fails where"

__all__ = ["HELP", "NAME", "PARAMETERS", "WORKLOADS", "answer", "page", "plan", "summary"]
