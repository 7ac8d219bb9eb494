# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about files of tables."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable


def unknown_table_format(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' has no known table format",
        "",
        "end the name in .csv or .parquet",
        code="unknown-table-format",
    )


def no_pyarrow(command: Sequence[str]) -> EnvironmentProblem:
    """`command` installs it."""
    return EnvironmentProblem(
        "cannot write Parquet",
        "pyarrow is not installed",
        f"run '{printable(shlex.join(command))}', or use --csv",
        code="no-pyarrow",
        command=list(command),
    )
