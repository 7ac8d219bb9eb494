# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about predicted kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney.core.errors import Inconclusive, UsageError
from hockney.core.notice import Notice


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


def indivisible(kernel: str, size: str, ranks: int, most: int) -> UsageError:
    return UsageError(
        f"{kernel} of class {size} cannot be divided among {ranks} ranks",
        "each rank needs a part of the problem",
        f"use --ranks {most}",
        code="indivisible",
        ranks=ranks,
        most=most,
    )


def no_rate_of_one_rank(place: Path, kernel: str, size: str) -> Inconclusive:
    return Inconclusive(
        f"no run of {kernel} on one rank in {place}",
        "the prediction is based on the rate at which one rank computes",
        f"run 'hockney run \"{kernel} class={size}\" --ranks 1' first, or give --rate",
        code="no-rate-of-one-rank",
        kernel=kernel,
        size=size,
    )


def run_without_one_rank(path: Path, kernel: str, size: str) -> Inconclusive:
    return Inconclusive(
        f"{path} has no times of {kernel} on one rank",
        "the prediction is based on the rate at which one rank computes",
        f"name a run of 'hockney run \"{kernel} class={size}\" --ranks 1', or give --rate instead of --run",
        code="run-without-one-rank",
        path=str(path),
        kernel=kernel,
        size=size,
    )


def rate_of_one_rank(run: str, kernel: str, size: str) -> str:
    return f"the rate of one rank from {run}, which has {kernel} of class {size}"


def ranks_left_out(kernel: str, size: str, ranks: Sequence[int]) -> Notice:
    return Notice(
        f"{kernel} of class {size} cannot be divided among {', '.join(map(str, ranks))} ranks",
        "ranks-left-out",
    )
