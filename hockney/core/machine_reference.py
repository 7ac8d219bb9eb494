# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How a user names a machine: SCHEME, or SCHEME:NAME, as --machine and plan.txt have it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class MachineReference:
    """`scheme` selects the kind of machine; no scheme is this machine. What follows the colon is the kind's
    own: a name, a path, or `options`.

    ""                  this machine
    "sim:t3e"           scheme sim, name t3e
    "fake:seed=3;pace=5ms"    scheme fake, options seed and pace
    """

    scheme: str = ""
    name: str = ""

    @staticmethod
    def parse(text: str) -> MachineReference:
        scheme, _, name = text.partition(":")
        return MachineReference(scheme, name)

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """`name` read as NAME=VALUE;..., for kinds that take settings."""
        parts = (part.partition("=") for part in self.name.split(";") if part)
        return tuple((name, value) for name, _, value in parts)

    def __str__(self) -> str:
        return f"{self.scheme}:{self.name}" if self.name else self.scheme


def without_scheme(text: str, schemes: Collection[str]) -> str:
    """The name in `text`, where a name may be given with one of `schemes` or plainly."""
    reference = MachineReference.parse(text)
    return reference.name if ":" in text and reference.scheme in schemes else text
