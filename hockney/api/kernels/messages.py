# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about predicted kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney.core.errors import Inconclusive, UsageError


def no_run_of_studies(place: Path, studies: Sequence[str]) -> Inconclusive:
    return Inconclusive(
        f"no run of {' or '.join(studies)} in {place}",
        "the prediction is based on its parameters",
        f"run 'hockney run {studies[0]}' first, or give --run RUN",
        code="no-run-of-studies",
        studies=list(studies),
    )


def newest_parameters(run: str, place: Path, written: str) -> str:
    return f"parameters from {run}, the newest run in {place} that has them (last written {written})"


def not_a_kernel(name: str, kernels: Sequence[str]) -> UsageError:
    return UsageError(
        f"{name} is not a kernel",
        "only kernels state their supersteps",
        f"predict one of {', '.join(kernels)}",
        code="not-a-kernel",
        kernels=list(kernels),
    )


def kernel_without_supersteps(case: str) -> UsageError:
    return UsageError(
        f"'{case}' has no supersteps",
        "calls of MPI are not a style that the models describe",
        "use style=bsp or style=bpram",
        code="kernel-without-supersteps",
        case=case,
    )


def no_bulk_parameters(path: Path) -> Inconclusive:
    return Inconclusive(
        f"{path} has no parameters of bulk synchronous models",
        "they are fitted to h-relations and block permutations",
        "name a run of bsp-kernels or bsp-parameters",
        code="no-bulk-parameters",
        path=str(path),
    )


def ranks_without_parameters(path: Path, ranks: int, known: Sequence[int]) -> Inconclusive:
    return Inconclusive(
        f"{path} has no parameters for {ranks} ranks",
        f"it has those for {', '.join(map(str, known))}",
        f"use --ranks {known[0]}, or measure with --ranks {ranks}",
        code="ranks-without-parameters",
        ranks=ranks,
        known=list(known),
    )
