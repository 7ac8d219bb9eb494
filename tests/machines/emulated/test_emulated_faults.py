# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Real MPI on emulated hosts, one of which is slow: `hockney run nodes` names it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hosts import programs

from hockney.cli.start import guarded
from hockney.core.ethernet import Ethernet, EthernetFault
from hockney.machines import emulated

pytestmark = [pytest.mark.mpi, pytest.mark.slow(120)]
HOSTS = Ethernet(name="hosts", title="6 hosts", hosts=6, rate=2.5e6, medium="switch", delay_s=5e-6)


@pytest.mark.parametrize(
    ("fault", "nodes", "links"),
    [
        (EthernetFault(hosts=(3,), slowdown=1.5), ["h3"], []),
        (EthernetFault(hosts=(2, 5), slowdown=2.0), [], [["h2", "h5"]]),
        (EthernetFault(hosts=(2, 5), loss=0.2), [], [["h2", "h5"]]),
    ],
)
def test_the_fault_is_named(
    fault: EthernetFault,
    nodes: list[str],
    links: list[list[str]],
    engine,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    programs()
    path = tmp_path / "hosts.toml"
    described = msgspec.structs.replace(HOSTS, faults=(fault,))
    path.write_text(emulated.write(described))
    words = ["measure=bandwidth", "--machine", f"lan:{path}", "--launches", "5", "--budget", "100s"]
    assert guarded(["run", "nodes", *words, "--out", str(tmp_path / "r"), "--json", "-q"]) == 1
    answer = json.loads(capsys.readouterr().out)["answer"]
    assert answer["slow_nodes"] == nodes and answer["slow_links"] == links
