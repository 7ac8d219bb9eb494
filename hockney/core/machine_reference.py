# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How a user names a machine: SCHEME, or SCHEME:NAME, as in --machine and plan.txt."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class MachineReference:
    """`scheme` selects the kind of machine; no scheme is this machine. The part after the colon depends on
    the kind: a name, a path, or `options`.

      ""                        this machine
      "sim:t3e"                 scheme sim, name t3e
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
        """`name` parsed as NAME=VALUE;..., for kinds that take settings."""
        parts = (part.partition("=") for part in self.name.split(";") if part)
        return tuple((name, value) for name, _, value in parts)

    def __str__(self) -> str:
        return f"{self.scheme}:{self.name}" if self.name else self.scheme


def without_scheme(text: str, schemes: Collection[str]) -> str:
    """The name in `text`, which may have one of `schemes` as prefix."""
    reference = MachineReference.parse(text)
    return reference.name if ":" in text and reference.scheme in schemes else text
