# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What earlier schemas wrote, as the present one has it: the one place that knows them.

Schema 1: a machine had a kind and no traits.
"""

from __future__ import annotations

from typing import Any

_TRAITS_OF_KIND: dict[str, dict[str, Any]] = {
    "simulated": {
        "origin": "simulated",
        "noiseless": True,
        "local": False,
        "shared_memory": False,
        "wall_clock": False,
    },
    "published": {
        "origin": "published",
        "noiseless": True,
        "local": False,
        "shared_memory": False,
        "wall_clock": False,
    },
    "fake": {"origin": "fake", "local": False},
}
"""Of the kinds of schema 1 that differ from a real machine."""


def upgraded_machine(machine: dict[str, Any]) -> dict[str, Any]:
    """A `machine.json` of any earlier schema, not yet checked."""
    if "traits" in machine:
        return machine
    return machine | {"traits": _TRAITS_OF_KIND.get(str(machine.get("kind")), {})}


def upgraded_survey(survey: dict[str, Any]) -> dict[str, Any]:
    """A `survey.json` of any earlier schema, not yet checked: it holds a machine."""
    machine = survey.get("machine")
    return survey | {"machine": upgraded_machine(machine)} if isinstance(machine, dict) else survey
