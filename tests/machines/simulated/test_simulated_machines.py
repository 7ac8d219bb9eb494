# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney's own machines: every value has an origin, every fit names the printed numbers it used."""

from __future__ import annotations

import pytest

from hockney import reference
from hockney.machines import simulated

MACHINES = [
    words
    for name in simulated.names()
    for words in (name, *(f"{name}+{variant.name}" for variant in simulated.variants(name)))
]


@pytest.mark.parametrize("words", MACHINES)
def test_every_value_has_an_origin(words):
    machine = simulated.platform(words)
    unsaid = [place for place in simulated.places(machine) if simulated.origin_of(machine, place) is None]
    assert unsaid == []


@pytest.mark.parametrize("words", MACHINES)
def test_fits_and_copies_name_numbers_that_were_printed(words):
    machine = simulated.platform(words)
    papers = {name: reference.published(name) for name in reference.names()}
    for origin in machine.origins:
        assert origin.rows or origin.status != "fitted", f"{origin.key} was fitted to nothing"
        for row in origin.rows:
            paper = papers.get(row.split("/")[0])
            assert paper is not None and paper.knows(row), f"{origin.key}: nothing printed is called {row}"


@pytest.mark.parametrize("words", MACHINES)
def test_every_collective_has_an_algorithm(words):
    """The simulator's default would be another library's choice."""
    machine = simulated.platform(words)
    named = {"barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce"}
    assert named <= set(machine.collectives)


@pytest.mark.parametrize("words", MACHINES)
def test_a_machine_reads_back_as_it_was_written(words):
    machine = simulated.platform(words)
    assert simulated.read(simulated.write(machine)) == machine


@pytest.mark.parametrize("name", simulated.names())
def test_a_machine_cites_its_paper(name):
    machine = simulated.platform(name)
    assert machine.name == name and machine.source
    assert name in reference.machine_names(), "printed and simulated machines go by the same name"
    authors = reference.paper_of(name).citation.split(":")[0]
    assert authors.split(",")[0] in machine.source
