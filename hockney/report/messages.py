# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about the report."""

from __future__ import annotations

from hockney.core.errors import EnvironmentProblem


def no_plotly() -> EnvironmentProblem:
    return EnvironmentProblem(
        "Plotly's script is not installed",
        "the report's figures need it",
        "run 'pip install plotly'",
        code="no-plotly",
    )
