# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Emulated machines by name: one of hockney's own, or a file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hockney.core.errors import UsageError, unknown
from hockney.core.ethernet import Ethernet
from hockney.core.paths import at_home
from hockney.machines.descriptions.files import ENDING, bundled, bundled_text, is_file, read_file
from hockney.machines.emulated.read import read

PACKAGE = "hockney.machines.emulated"


@cache
def names() -> tuple[str, ...]:
    """The machines that come with hockney."""
    return bundled(PACKAGE)


def ethernet(name: str) -> Ethernet:
    """The machine with this name. Raises UsageError, or EnvironmentProblem for a file that cannot be read."""
    return read(*text_of(name))


def text_of(name: str) -> tuple[str, str]:
    """A machine file's text, and its name for the user."""
    if not name.strip():
        raise UsageError(
            "the name of the emulated machine is empty",
            "",
            f"available: {', '.join(names())}",
            code="no-emulated-machine-name",
        )
    if is_file(name):
        return read_file(at_home(Path(name)), names()), name
    if name not in names():
        raise unknown("emulated machine", name, names(), code="unknown-emulated-machine")
    return bundled_text(PACKAGE, name), name + ENDING
