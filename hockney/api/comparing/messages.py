# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about the two sides of a comparison."""

from __future__ import annotations

from pathlib import Path

from hockney.core.errors import UsageError, printable


def no_runs_in_folder(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' has no runs",
        "neither the folder itself nor one directly inside it is a run",
        "name a run, or a folder of runs",
        code="no-runs-in-folder",
        path=str(path),
    )


def side_without_runs(name: str) -> UsageError:
    return UsageError(
        f"{name} names no run", "a side needs at least one", "name a run", code="side-without-runs", side=name
    )


def run_on_both_sides(path: str) -> UsageError:
    return UsageError(
        f"'{printable(path)}' is on both sides",
        "a run does not differ from itself",
        "name each run once",
        code="run-on-both-sides",
        path=path,
    )


def tolerance_out_of_range(tolerance: float) -> UsageError:
    return UsageError(
        f"tolerance is {tolerance:g}",
        "it is a share of the time, from 0 to 1",
        "use for example 0.05",
        code="tolerance-out-of-range",
        tolerance=tolerance,
    )
