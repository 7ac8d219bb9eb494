# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where a run was made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as replace_struct
from visited import LINE, evidence

from hockney.core.ethernet import Ethernet
from hockney.core.machine import Traits
from hockney.pages import environment
from hockney.pages.caveats import caveats

LAN = Ethernet(name="office", title="An office", source="A paper", hosts=3, rate=1.25e6, medium="bus")


def test_an_emulated_machine_is_described_beside_its_host():
    seen = evidence({LINE: [np.full(4, 1e-6)] * 3})
    machine = replace_struct(seen.machine, emulated=LAN, traits=Traits(origin="emulated"), cpu="a processor")
    seen = replace(seen, machine=machine)
    facts = dict(environment.facts(seen))
    assert "office" in facts["machine"] and "emulated" in facts["machine"]
    assert (facts["after"], facts["hosts"], facts["processor"]) == ("A paper", "3", "a processor")
    assert "10.0 Mbit/s bus" in facts["wire"] and "1.14 MB/s" in facts["payload rate"]
    assert "An office, emulated" in environment.subtitle(seen)
    codes = {each.caveat.code for each in caveats(seen)}
    assert "emulated" in codes


@pytest.mark.parametrize(("share", "told"), [(0.95, False), (0.17, True)])
def test_a_wire_that_this_host_cannot_reach_is_named(share, told):
    fast = replace_struct(LAN, rate=1.25e9, medium="switch")
    long, takes_s = "pingpong buffers=hot bytes=1048576 ranks=2", 2**20 / (share * fast.payload_rate)
    seen = evidence({LINE: [np.full(4, 1e-4)] * 3, long: [np.full(4, takes_s)] * 3})
    machine = replace_struct(seen.machine, emulated=fast, traits=Traits(origin="emulated"))
    found = {each.caveat.code: each.caveat for each in caveats(replace(seen, machine=machine))}
    assert ("wire-not-reached" in found) == told


def test_the_launch_shown_has_the_most_ranks():
    """A run of granularity begins with one rank, which is bound in another way."""
    seen = evidence({LINE: [np.full(4, 1e-6)] * 3})
    two, other, last = seen.run.launches
    one = replace_struct(two, ranks=two.ranks[:1], command=["mpiexec", "-n", "1"], binding="none")
    several = replace_struct(other, command=["mpiexec", "-n", "2"], binding="core")
    run = replace(seen.run, launches=(one, several, last))
    facts = dict(environment.facts(replace(seen, run=run)))
    assert facts["command"] == "mpiexec -n 2" and facts["binding"] == "core"


@pytest.mark.parametrize(
    ("hosts", "nodes", "shown"),
    [
        ([], 1, "1 node"),
        (["a", "b"], 2, "2 nodes: a, b"),
        (["a", "b", "c"], 2, "2 nodes in each launch, of 3 hosts: a, b, c"),
        ([f"h{k}" for k in range(18)], 18, f"18 nodes: {', '.join(f'h{k}' for k in range(16))}, and 2 more"),
    ],
)
def test_hosts_and_levels_are_shown_where_ranks_have_a_layout(hosts, nodes, shown):
    seen = evidence({LINE: [np.full(4, 1e-6)] * 3})
    assert not {"nodes", "ranks per node"} & dict(environment.facts(seen)).keys()
    levels = ["cache", "network"]
    machine = replace_struct(seen.machine, hosts=hosts, nodes=nodes, ranks_per_node=4, levels=levels)
    facts = dict(environment.facts(replace(seen, machine=machine)))
    assert (facts["nodes"], facts["ranks per node"]) == (shown, "4")
    assert facts["messages travel"] == "within a cache, between nodes"
