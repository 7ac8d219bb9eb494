# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The sources of the interval of a run time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from replay.made_traces import job_of_written, part, written

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.extrapolation.scaling import error_of_algorithms
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.programs.communication import Communication
from hockney.models.schedules import algorithm_names
from hockney.replay.building import build
from hockney.replay.pricing import make_machine
from hockney.replay.scenarios import RequestedChanges, TracedProgram

pytestmark = pytest.mark.needs("compiler")
RANKS = 16


def program(collectives: dict[str, str]) -> TracedProgram:
    """A program of reductions, on a machine whose description names algorithms."""
    platform = Platform(
        name="p", title="P", network=Network(nodes=(NodeGroup(count=RANKS),)), collectives=collectives,
        segments=(Segment(latency_s=1e-5, per_byte_s=1e-9),),
    )  # fmt: skip
    ranks = written(RANKS)
    for each in ranks:
        each.call("Allreduce", part("collective", size=4096), after=0.0, took=0.0)
        each.call("Reduce", part("collective", size=4096, root=0), after=0.0, took=0.0)
    made = build([each.trace for each in ranks], job_of_written(ranks, hosts=list(range(RANKS))))
    made.graph.tail_s[:] = 0.0
    made = replace(made, recorded_times=None)
    communication = Communication(costs_of_description(platform), platform=platform)
    return TracedProgram(made, {"value": make_machine(communication, made.placement)})


def test_the_interval_contains_the_median_of_algorithms_if_none_is_known():
    unknown = program({"allreduce": "mvapich2"})
    times = [
        unknown.with_changes(RequestedChanges(algorithms={"allreduce": name})).value_s
        for name in algorithm_names("allreduce")
    ]
    expected = math.log(float(np.median(times)) / min(times))
    assert error_of_algorithms(unknown) == pytest.approx(expected)
    assert expected > 0.1
    assert error_of_algorithms(program({})) == 0.0
