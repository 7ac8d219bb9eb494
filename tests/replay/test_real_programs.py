# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of real programs, with both MPIs, as graphs: every message of the profile is in them, the one that a
receive got is the one that it is matched with, and they can be replayed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from profiles.recorded import Recorded, compiled, recorded
from replay.replayed import replayed
from replay.test_pricing import DESCRIBED, machine, on_description

from hockney.core.machine import Mpi
from hockney.profiles import trace as t
from hockney.profiles.manifest import ProfiledLaunch
from hockney.profiles.profile import make_launch
from hockney.profiles.rank_file import RankFiles
from hockney.profiles.trace import RankTrace, traces_for_files
from hockney.replay import graph as g
from hockney.replay.building import TraceGraph, build, job_from_launch
from hockney.replay.graph import computed_by_rank

pytestmark = [pytest.mark.mpi, pytest.mark.slow]


def built(run: Recorded, traces: list[RankTrace]) -> TraceGraph:
    launch = make_launch(RankFiles(run.files), ProfiledLaunch(folder=""), run.names)
    return build(traces, job_from_launch(launch))


@pytest.mark.parametrize(
    ("name", "ranks", "words"),
    [("messages", 3, ()), ("order", 4, ("2", "300")), ("collectives", 3, ()), ("onesided", 2, ("file",))],
)
def test_the_graph_of_a_program(mpi: Mpi, tmp_path: Path, monkeypatch, name, ranks, words):
    monkeypatch.chdir(tmp_path)
    program = compiled(mpi, tmp_path, name)
    run = recorded(mpi, tmp_path, ranks, program, *words, HOCKNEY_PROFILE_TRACE="all")
    traces = traces_for_files(run.files, run.names)
    found = built(run, traces)
    graph = found.graph
    assert found.unmatched == ()
    assert found.cut_s is None
    two_sided = graph.messages[np.unique(graph.ops["slot"][graph.ops["kind"] == g.SEND])]
    one_sided = graph.ops["slot"][(graph.ops["kind"] == g.SEND) & (graph.ops["flags"] & g.ONE_SIDED > 0)]
    assert len(two_sided) == len(graph.messages)
    others = np.ones(len(graph.messages), dtype=bool)
    others[one_sided] = False
    for file in run.files:
        for peer in file.peers:
            mine = (
                others & (graph.messages["source"] == file.rank) & (graph.messages["target"] == peer["rank"])
            )
            assert np.count_nonzero(mine) == peer["sent"], (file.rank, peer["rank"])
            assert graph.messages["size"][mine].sum() == peer["sent_bytes"]
    for rank, trace in enumerate(traces):
        ops = graph.ops[graph.first[rank] : graph.first[rank + 1]]
        mine = graph.messages[ops["slot"][(ops["kind"] == g.RECEIVED) & (ops["flags"] & g.ONE_SIDED == 0)]]
        assert (
            sorted(told(trace) - set(zip(mine["source"].tolist(), mine["size"].tolist(), strict=True))) == []
        )
    assert (computed_by_rank(graph) <= found.end_s + 1e-6).all()
    # The programs depend on sends that do not wait.
    eager = on_description(replace(DESCRIBED, eager=1 << 20))
    assert 0 < replayed(graph, machine(eager, ranks)).run_s < np.inf


def told(trace: RankTrace) -> set[tuple[int, int]]:
    """The sender and bytes of each message whose receive tells them."""
    found = set()
    for number in np.unique(trace.events["call"]).tolist():
        for part in trace.calls[number].parts:
            tells = part["what"] in (t.RECEIVE, t.END) and part["peer"] >= 0 and part["tag"] >= 0
            if tells and not part["flags"] & t.CANCELLED:
                found.add((int(part["peer"]), int(part["bytes"])))
    return found
