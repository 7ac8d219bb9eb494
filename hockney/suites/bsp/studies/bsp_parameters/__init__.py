# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the bulk synchronous models: g, L, sigma, l and local rates, over the number of ranks, as
in B. H. H. Juurlink (1998)."""

from __future__ import annotations

from hockney.suites.bsp.studies.bsp_parameters.columns import answer, summary
from hockney.suites.bsp.studies.bsp_parameters.page import page
from hockney.suites.bsp.studies.bsp_parameters.plan import PARAMETERS, WORKLOADS, plan

NAME = "bsp-parameters"
HELP = "the parameters of bulk synchronous models: g, L, sigma, l and local rates"

__all__ = ["HELP", "NAME", "PARAMETERS", "WORKLOADS", "answer", "page", "plan", "summary"]
