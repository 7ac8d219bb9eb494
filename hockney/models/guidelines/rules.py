# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The performance guidelines: no operation should take longer than another way to the same result.

One entry of RULES is one guideline. `left` and the terms of `right` are workloads with a size: n bytes on the
left, where P ranks take part. A size is what the workload calls `bytes`: of the whole vector for bcast,
reduce, allreduce, scan and exscan, of one rank's block for gather, scatter, allgather, alltoall and
reduce_scatter_block. `copies` are bytes that a rank must copy in its memory besides, as the mock-up functions
of PGMPITuneLib do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

SOURCES = {
    1: "J. L. Träff, W. D. Gropp, R. Thakur, Self-Consistent MPI Performance Guidelines, IEEE TPDS 21 (2010) "
    "698",
    2: "S. Hunold, A. Carpen-Amarie, F. D. Lübbe, J. L. Träff, Automatic Verification of Self-Consistent MPI "
    "Performance Guidelines, Euro-Par 2016, LNCS 9833, 433; software PGMPI",
    3: "S. Hunold, A. Carpen-Amarie, Autotuning MPI Collectives using Performance Guidelines, HPC Asia 2018, "
    "64; software PGMPITuneLib",
}

Kind = Literal["emulation", "algorithm", "monotony", "split"]
"""What the right side is: other operations, one of hockney's algorithms for the same operation, the same
operation on more bytes, or several calls of it."""

LOCAL = "reduce_local"
"""Stands for copies in a rank's memory. It reads two vectors and writes one, so it takes at least as long."""

TERM = re.compile(r"(\w+)\((n|n/P|P n)\)")
BYTES: dict[str, Callable[[int, int], int]] = {
    "n": lambda n, ranks: n,
    "P n": lambda n, ranks: ranks * n,
    "n/P": lambda n, ranks: -(-n // ranks),
}
"""The bytes of a size, for n bytes on the left and a number of ranks; parts are rounded up."""


@dataclass(frozen=True)
class Term:
    """A `workload` with a `size` of BYTES; `copies` marks the time of copying, for which it is a limit."""

    workload: str
    size: str
    copies: bool = False

    def bytes(self, n: int, ranks: int) -> int:
        return BYTES[self.size](n, ranks)


@dataclass(frozen=True)
class Guideline:
    """`name` is unique. `how` is how the right side gives the result of the left one, for the
    documentation."""

    name: str
    left: str
    right: str
    sources: tuple[int, ...]
    how: str
    copies: str = ""
    kind: Kind = "emulation"

    @cached_property
    def operation(self) -> str:
        """The workload on the left of an emulation."""
        (term,) = _terms(self.left)
        return term.workload

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The right side of an emulation, with the copies."""
        copying = (Term(LOCAL, self.copies, copies=True),) if self.copies else ()
        return (*_terms(self.right), *copying)


def _terms(text: str) -> tuple[Term, ...]:
    return tuple(Term(*_parsed(word)) for word in text.split(" + "))


def _parsed(word: str) -> tuple[str, str]:
    match = TERM.fullmatch(word)
    assert match, f"{word!r} is not WORKLOAD(n), WORKLOAD(n/P) or WORKLOAD(P n)"
    return match[1], match[2]


RULES = (
    Guideline(
        "bcast-scatter-allgather", "bcast(n)", "scatter(n/P) + allgather(n/P)", (1, 2, 3),
        "the root scatters parts of the vector, and all ranks gather them",
    ),
    Guideline(
        "gather-allgather", "gather(n)", "allgather(n)", (1, 2, 3),
        "the other ranks ignore the result",
    ),
    Guideline(
        "gather-reduce", "gather(n)", "reduce(P n)", (1, 2, 3),
        "each rank contributes a vector of zeros with its block in place", copies="P n",
    ),
    Guideline(
        "gather-gatherv", "gather(n)", "gatherv(n)", (1, 3),
        "equal counts",
    ),
    Guideline(
        "scatter-bcast", "scatter(n)", "bcast(P n)", (1, 2, 3),
        "each rank keeps its block of the vector", copies="n",
    ),
    Guideline(
        "scatter-scatterv", "scatter(n)", "scatterv(n)", (1, 3),
        "equal counts",
    ),
    Guideline(
        "allgather-gather-bcast", "allgather(n)", "gather(n) + bcast(P n)", (1, 2, 3),
        "the root broadcasts what it has gathered",
    ),
    Guideline(
        "allgather-alltoall", "allgather(n)", "alltoall(n)", (1, 2, 3),
        "each rank sends copies of its block", copies="P n",
    ),
    Guideline(
        "allgather-allreduce", "allgather(n)", "allreduce(P n)", (1, 2, 3),
        "each rank contributes a vector of zeros with its block in place", copies="P n",
    ),
    Guideline(
        "allgather-allgatherv", "allgather(n)", "allgatherv(n)", (1, 3),
        "equal counts",
    ),
    Guideline(
        "alltoall-alltoallv", "alltoall(n)", "alltoallv(n)", (1, 3),
        "equal counts",
    ),
    Guideline(
        "reduce-allreduce", "reduce(n)", "allreduce(n)", (1, 2, 3),
        "the other ranks ignore the result",
    ),
    Guideline(
        "reduce-reduce_scatter_block-gather", "reduce(n)", "reduce_scatter_block(n/P) + gather(n/P)", (2, 3),
        "the root gathers the blocks of the sum",
    ),
    Guideline(
        "allreduce-reduce-bcast", "allreduce(n)", "reduce(n) + bcast(n)", (1, 2, 3),
        "the root broadcasts the sum",
    ),
    Guideline(
        "allreduce-reduce_scatter_block-allgather", "allreduce(n)",
        "reduce_scatter_block(n/P) + allgather(n/P)", (1, 2, 3),
        "all ranks gather the blocks of the sum",
    ),
    Guideline(
        "reduce_scatter_block-reduce-scatter", "reduce_scatter_block(n)", "reduce(P n) + scatter(n)",
        (1, 2, 3),
        "the root scatters the sum",
    ),
    Guideline(
        "reduce_scatter_block-allreduce", "reduce_scatter_block(n)", "allreduce(P n)", (2, 3),
        "each rank keeps its block of the sum", copies="n",
    ),
    Guideline(
        "reduce_scatter_block-reduce_scatter", "reduce_scatter_block(n)", "reduce_scatter(n)", (3,),
        "equal counts",
    ),
    Guideline(
        "scan-exscan-reduce_local", "scan(n)", "exscan(n) + reduce_local(n)", (2, 3),
        "each rank adds its vector",
    ),
    Guideline(
        "algorithm", "MPI's operation(n)", "the same with algorithm=X (n)", (1,),
        "sends and receives of a user's program, for each algorithm of hockney", kind="algorithm",
    ),
    Guideline(
        "monotony", "operation(n)", "operation(m), m > n", (1, 2),
        "more bytes than needed", kind="monotony",
    ),
    Guideline(
        "split", "operation(k n)", "k times operation(n)", (1, 2),
        "several calls with a part each", kind="split",
    ),
)  # fmt: skip

EMULATIONS = tuple(rule for rule in RULES if rule.kind == "emulation")
OPERATIONS = frozenset(
    name
    for rule in EMULATIONS
    for name in (rule.operation, *(term.workload for term in rule.terms))
    if name != LOCAL
)
"""MPI's collectives in the table."""
MESSAGES = "pingpong"
"""Monotony and split hold for messages between two ranks too."""
