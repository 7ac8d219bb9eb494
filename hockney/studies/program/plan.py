# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: the program on each number of ranks, and the costs for its prediction."""

from __future__ import annotations

import numpy as np

from hockney.core.case import HOT, Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.program_cases import PLAN_PREFIX, PROGRAM
from hockney.models.programs.description import read_stored_descriptions
from hockney.models.programs.parts import CollectivePart, Iteration, StepsPart
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.program_costs import communication_needs, cost_cases
from hockney.studies.shared_parameters import PREDICT, SURVEY, SYNC, synchronization
from hockney.studies.sizes import default_ranks

PARAMETERS = (PREDICT, SURVEY, SYNC)
LONG_ITERATION_S = 0.1
"""Iterations that compute at least this long are measured singly."""
MAX_ITERATIONS = 20
MAX_MESSAGES_PER_REPETITION = 400_000
"""The maximum number of messages in a repetition; a simulation takes about 10 us for each."""


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """One rank is always measured. The costs of messages and collectives are measured in buffers that stay in
    cache, like those of the skeleton."""
    if not options.programs:
        raise UsageError(
            "no program is given",
            "the study needs the file that describes it",
            "run for example 'hockney run jacobi.toml'",
            code="no-program",
        )
    if options.sizes:
        raise UsageError(
            "a described program has the sizes of its description",
            "--sizes is for workloads with messages of a chosen size",
            "give sizes of the problem, for example n=8192",
            code="program-has-sizes",
        )
    programs = read_stored_descriptions(options.programs)
    ranks = sorted({1, *(options.ranks or default_ranks(machine))})
    sync = synchronization(options, machine)
    cases, needs = [], []
    for name, description in programs.items():
        for rank_count in ranks:
            iteration = description.iteration(rank_count)
            case_words = (
                f"{PROGRAM} description={PLAN_PREFIX}{name} iterations={iterations_per_repetition(iteration)}"
            )
            cases.append(catalog.case(f"{case_words} sync={sync} ranks={rank_count}"))
            needs.append(communication_needs(iteration))
    if options.value(PREDICT) == "yes" and options.survey is None and machine.platform is None:
        cases += [catalog.case(line) for line in cost_cases(needs, catalog, machine, HOT)]
    return unique_cases(cases)


def iterations_per_repetition(iteration: Iteration) -> int:
    """The number of consecutive iterations in a repetition. It is large enough for the first iteration, which
    follows a barrier, to have little effect, and a multiple of the period after which all parts have been
    executed."""
    computed_s = float(np.max(iteration.computation, initial=0.0))
    max_iterations = min(
        LONG_ITERATION_S / computed_s if computed_s else MAX_ITERATIONS,
        MAX_MESSAGES_PER_REPETITION / max(1, _message_count(iteration)),
    )
    min_iterations = int(np.clip(max_iterations, 1, MAX_ITERATIONS))
    period = round(1 / min(iteration.shares, default=1.0))
    return -(-min_iterations // period) * period


def _message_count(iteration: Iteration) -> int:
    """The number of messages of an iteration: each one between two ranks, and two for each rank of a
    collective."""
    messages = 0
    for part in iteration.parts:
        if isinstance(part, StepsPart):
            messages += sum(step.messages for step in part.steps)
        elif isinstance(part, CollectivePart):
            messages += iteration.ranks * (iteration.ranks if part.operation == "alltoall" else 2)
        else:
            messages += 2 * len(part.seconds)
    return messages
