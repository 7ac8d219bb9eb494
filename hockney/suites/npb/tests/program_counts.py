# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a NAS benchmark sends and computes in a run, counted from its program."""

from __future__ import annotations

import numpy as np

from hockney.models.programs.parts import StepsPart
from hockney.suites.npb.programs.program import NpbProgram


def official_operations(program: NpbProgram, phase: str) -> float:
    """Operations of all ranks in a phase; those that every rank repeats count once."""
    return sum(
        program.iterations * each.share * each.part.computation(program.ranks).sum()
        / (program.ranks if each.repeated else 1)
        for each in program.activities
        if isinstance(each.part, StepsPart) and each.part.name == phase
    )  # fmt: skip


def counts(program: NpbProgram) -> dict[str, float]:
    """Messages between two ranks, collective calls of each rank, and the bytes of both on all ranks, by the
    names of the engine's metrics."""
    steps = [
        (program.iterations * each.share, step)
        for each in program.activities
        if isinstance(each.part, StepsPart)
        for step in each.part.steps
    ]
    layers = [(count, layer) for count, step in steps for layer in step.layers]
    calls = [(program.iterations * each.share, each.bytes) for each in program.activities if each.bytes]
    return {
        "operations": program.operations,
        "sent_messages": sum(count * step.messages for count, step in steps),
        "sent_bytes": sum(n * np.broadcast_to(x.size, x.source.shape).sum() for n, x in layers),
        "collective_calls": sum(count for count, _ in calls),
        "collective_bytes": sum(count * size for count, size in calls),
    }
