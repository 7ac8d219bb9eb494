# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A described program, executed as a skeleton: its computation, messages and collectives without its data,
next to the prediction of the same description."""

from hockney.studies.program.columns import answer, summary
from hockney.studies.program.page import page
from hockney.studies.program.plan import PARAMETERS, plan
from hockney.studies.program.results import is_conclusive

NAME = "program"
HELP = "the skeleton of a program that a file describes, measured and predicted: hockney run jacobi.toml"

__all__ = ["HELP", "NAME", "PARAMETERS", "answer", "is_conclusive", "page", "plan", "summary"]
