# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Messages about where ranks are bound, and about actions on the user's behalf."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.core.notice import Notice


def fabric_left_out(variables: Mapping[str, str]) -> Notice:
    setting = " ".join(f"{name}={value}" for name, value in variables.items())
    return Notice(
        f"on one host, launches disable the network fabric ({setting}) unless you set btl, mtl, pml or osc",
        "fabric-left-out",
    )


def oversubscribed(ranks: int, cores: int, bound: bool) -> Notice:
    share = f"share {cores} {'core' if cores == 1 else 'cores'}{'' if bound else ', so none is bound'}"
    return Notice(
        f"{ranks} ranks {share}: at most {cores} run at a time, a message waits until its receiver runs, and "
        f"no parallel efficiency exceeds {cores / ranks:.0%}",
        "ranks-share-cores",
    )


def bound_to_cores() -> str:
    return "rank i on core i"


def bound_to_list(cpus: Sequence[int]) -> str:
    return f"rank i on cpu i of {','.join(map(str, cpus))}"


def bound_as_reported(cpus: Sequence[str]) -> str:
    """`cpus` is every rank's affinity mask."""
    return f"rank i on cpu {' | '.join(cpus)}"


def bound_in_simulation() -> str:
    return "each rank on a simulated core"


def as_arguments_say() -> str:
    return "as set by the user's mpiexec arguments"


def not_bound_as_requested() -> str:
    return "not bound, as requested"


def not_bound_oversubscribed() -> str:
    return "not bound: more ranks than cores"


def not_bound_although_requested(binding: str) -> str:
    return f"not bound, although requested ({binding})"
