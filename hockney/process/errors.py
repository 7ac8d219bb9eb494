# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Why a program gave no result."""

from __future__ import annotations

from hockney.core.errors import EnvironmentProblem


class CannotStart(EnvironmentProblem):
    """The program is missing, not executable, or not for this machine."""


class CannotWrite(EnvironmentProblem):
    """Files that the program needs cannot be written."""


class TookTooLong(EnvironmentProblem):
    """The program exceeded its time limit and was ended. `out` and `err` are its output."""

    def __init__(
        self, what: str, why: str = "", remedy: str = "", *, code: str, out: str = "", err: str = ""
    ) -> None:
        super().__init__(what, why, remedy, code=code)
        self.out = out
        self.err = err
