# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What to measure: the program on each number of ranks, and the costs on which its prediction is based."""

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
from hockney.studies.program_costs import cost_cases, needs_of
from hockney.studies.shared_parameters import PREDICT, SURVEY, SYNC, sync_of
from hockney.studies.sizes import default_ranks

PARAMETERS = (PREDICT, SURVEY, SYNC)
LONG_S = 0.1
"""Iterations that compute this long need no others before or after them."""
MAX_ITERATIONS = 20
MAX_MESSAGES = 400_000
"""Messages in a repetition: a simulation needs about 10 us for each."""


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """One rank is always measured. The costs of messages and collectives are measured in buffers that stay in
    cache, as those of the skeleton do."""
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
    sync = sync_of(options, machine)
    cases, needs = [], []
    for name, description in programs.items():
        for p in ranks:
            iteration = description.iteration(p)
            words = f"{PROGRAM} description={PLAN_PREFIX}{name} iterations={iterations(iteration)}"
            cases.append(catalog.case(f"{words} sync={sync} ranks={p}"))
            needs.append(needs_of(iteration))
    if options.value(PREDICT) == "yes" and options.survey is None and machine.platform is None:
        cases += [catalog.case(line) for line in cost_cases(needs, catalog, machine, HOT)]
    return unique_cases(cases)


def iterations(iteration: Iteration) -> int:
    """Back-to-back iterations in a repetition: enough for the first one, which begins after a barrier, to
    count little, and a multiple of those after which all parts have been executed."""
    computed = float(np.max(iteration.computation, initial=0.0))
    fits = min(LONG_S / computed if computed else MAX_ITERATIONS, MAX_MESSAGES / max(1, _messages(iteration)))
    wanted = int(np.clip(fits, 1, MAX_ITERATIONS))
    period = round(1 / min(iteration.shares, default=1.0))
    return -(-wanted // period) * period


def _messages(iteration: Iteration) -> int:
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
