# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of a described program's ranks, as the engine reads them: every message is sent and received, in
one order, and every rank computes and calls what the description gives it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from made_up_programs import every_program

from hockney.models.programs.description import parse_description, read_stored_descriptions, store_description
from hockney.models.programs.parts import CollectivePart, StepsPart, TasksPart
from hockney.models.programs.skeleton import skeleton_text

PROGRAMS = every_program()


def sections(text: str) -> tuple[list[str], list[list[list[str]]]]:
    """The common lines, and the words of each rank's lines."""
    common, *ranks = text.split("rank ")
    return common.splitlines(), [[line.split() for line in section.splitlines()[1:]] for section in ranks]


def channels(ranks: list[list[list[str]]]) -> tuple[dict, dict]:
    """The bytes sent, and received, from one rank to another, in order; None for a part between them."""
    sent, received = defaultdict(list), defaultdict(list)
    for rank, lines in enumerate(ranks):
        part = 0
        for word, *rest in lines:
            part += word == "part"
            if word in ("send", "isend", "exchange"):
                sent[rank, int(rest[0])].append((part, rest[1]))
            if word in ("receive", "ireceive"):
                received[int(rest[0]), rank].append((part, rest[1]))
            if word == "exchange":
                received[int(rest[2]), rank].append((part, rest[3]))
    return sent, received


@pytest.mark.parametrize("ranks", range(1, 10))
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_that_is_described_is_written_for_its_ranks_and_every_request_waited_for(name, ranks):
    iteration = parse_description(PROGRAMS[name], name).iteration(ranks)
    common, lines = sections(skeleton_text(iteration))
    assert common[0] == f"ranks {ranks}" and len(lines) == ranks
    sent, received = channels(lines)
    assert sent == received
    parts = [part for part in iteration.parts if isinstance(part, StepsPart)]
    layers = [layer for part in parts for step in part.steps for layer in step.layers]
    assert sum(map(len, sent.values())) == sum(len(layer.source) for layer in layers)
    assert all(sum(line[0] == "part" for line in own) == len(iteration.parts) for own in lines)
    computed = [sum(float(line[1]) for line in own if line[0] == "compute") for own in lines]
    assert computed == pytest.approx(sum((part.computation(ranks) for part in parts), np.zeros(ranks)))
    called = [[line[1:4] for line in own if line[0] == "collective"] for own in lines]
    assert all(each == called[0] for each in called), "all ranks call in one order"
    collectives = [part.operation for part in iteration.parts if isinstance(part, CollectivePart)]
    assert [call[0] for call in called[0] if call[0] != "barrier"] == [
        operation for operation in collectives if operation != "barrier"
    ]
    tasks = [part for part in iteration.parts if isinstance(part, TasksPart)]
    assert [len(line.split()) - 1 for line in common[1:]] == [len(part.seconds) for part in tasks]
    masters = [[line[0] for line in own if line[0] in ("master", "worker")] for own in lines]
    assert masters == [["worker" if rank else "master"] * len(tasks) for rank in range(ranks)]
    for own in lines:
        pending = 0
        for word, *_ in own:
            if word == "wait":
                assert pending
                pending = 0
            pending += word in ("isend", "ireceive")
            assert not (pending and word in ("part", "send", "receive", "exchange", "collective"))
        assert not pending


def test_vectors_of_reductions_are_whole_doubles():
    text = skeleton_text(parse_description({"phase": [{"allreduce": 12}, {"bcast": 12}]}, "p").iteration(2))
    assert "collective allreduce 16 mpi -1 0" in text and "collective bcast 12 mpi -1 0" in text


def test_groups_have_colours():
    phases = [{"allreduce": 8, "along": "y"}, {"bcast": 8, "along": "y"}]
    raw = {"grid": ["3 if ranks > 1 else 1", "2 if ranks > 1 else 1"], "phase": phases}
    _, lines = sections(skeleton_text(parse_description(raw, "p").iteration(6)))
    members = parse_description(raw, "p").iteration(6).parts[0].groups.tolist()
    calls = [[tuple(line[4:6]) for line in own if line[0] == "collective"] for own in lines]
    assert {call[0] for own in calls for call in own} == {"0"}, "one grouping"
    assert len(members) == 3
    assert all(calls[rank][0][1] == str(color) for color, group in enumerate(members) for rank in group)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_stored_description_is_read_again(name):
    line = store_description(PROGRAMS[name], name)
    ((key, description),) = read_stored_descriptions([line]).items()
    assert key == line.split(" ")[0]
    assert skeleton_text(description.iteration(4)) == skeleton_text(
        parse_description(PROGRAMS[name], name).iteration(4)
    )


def test_another_description_has_another_name():
    names = {
        store_description(PROGRAMS["jacobi"] | {"iterations": k}, "jacobi").split(" ")[0] for k in (1, 2)
    }
    assert len(names) == 2
