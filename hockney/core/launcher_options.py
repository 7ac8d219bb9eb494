# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The user's additions to the launch command: arguments of mpiexec, and variables of the ranks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from hockney.core.errors import UsageError, printable
from hockney.core.wording import option

VARIABLE_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RANK_OPTIONS = ("n", "np", "c")
"""Options of mpiexec for the number of ranks, which hockney sets."""


@dataclass(frozen=True)
class LauncherOptions:
    """The user's additions. `arguments` follow hockney's own arguments of mpiexec; `variables` are names and
    values."""

    arguments: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.arguments or self.variables)

    def with_variables(self, variables: Sequence[tuple[str, str]]) -> LauncherOptions:
        """Return a copy with added `variables`, which override those of the same name."""
        return LauncherOptions(self.arguments, tuple((dict(self.variables) | dict(variables)).items()))

    @property
    def line(self) -> str:
        """Arguments as typed in a shell."""
        return shlex.join(self.arguments)


NO_LAUNCHER_OPTIONS = LauncherOptions()


def parse_launcher_options(arguments: str, variables: Sequence[str]) -> LauncherOptions:
    """Parse the values of --mpiexec-args and -x. Raises UsageError."""
    values: dict[str, str] = {}
    for text in variables:
        name, equals, value = text.partition("=")
        if not (VARIABLE_PATTERN.fullmatch(name) and equals and value.isprintable()):
            raise UsageError(
                f"'{printable(text)}' is not a variable with its value",
                "",
                "use for example -x UCX_TLS=self,sm",
                code="not-a-variable",
                text=text,
            )
        if name in values:
            what = f"-x {printable(name)} is given twice"
            raise UsageError(
                what, "it takes one value", "give it once", code="variable-given-twice", name=name
            )
        values[name] = value
    return LauncherOptions(_split_arguments(arguments), tuple(values.items()))


def _split_arguments(arguments: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(arguments))
    except ValueError as error:
        raise _mpiexec_args_not_words(arguments, str(error)) from error
    if not all(word.isprintable() for word in words):
        raise _mpiexec_args_not_words(arguments, "Control character")
    for word in words:
        if word.startswith("-") and word.lstrip("-").partition("=")[0] in RANK_OPTIONS:
            raise UsageError(
                f"{option('mpiexec_args')} has {printable(word)}, the number of ranks",
                "hockney starts each case with the ranks that it names",
                f"use {option('ranks')}",
                code="mpiexec-args-with-ranks",
                option=word,
            )
    return words


def _mpiexec_args_not_words(text: str, reason: str) -> UsageError:
    return UsageError(
        f"{option('mpiexec_args', printable(text))} cannot be split into words",
        reason[:1].lower() + reason[1:],
        f"quote as in a shell, for example {option('mpiexec_args')} '--mca btl self,tcp'",
        code="mpiexec-args-not-words",
        text=text,
    )
