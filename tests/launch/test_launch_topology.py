# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Switches between hosts, as Slurm describes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.core.errors import UsageError
from hockney.core.machine import Switch
from hockney.launch.topology import job_topology, parse_topology, read_topology

CONF = """
# two levels
SwitchName=s0 Nodes=n[1-3]   # a comment
switchname=s1 LinkSpeed=100 nodes=n[04-05],gpu1
SwitchName=top \\
  Switches=s[0-1]
"""
PRINTED = """\
SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-3]
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=s0
"""


def test_the_format_of_slurm():
    assert parse_topology(CONF) == [
        Switch(name="s0", nodes=["n1", "n2", "n3"]),
        Switch(name="s1", nodes=["n04", "n05", "gpu1"]),
        Switch(name="top", switches=["s0", "s1"]),
    ]
    assert parse_topology(PRINTED)[1] == Switch(name="top", nodes=["n1", "n2", "n3"], switches=["s0"])
    assert parse_topology("BlockName=b1 Nodes=n[1-4]") == [Switch(name="b1", nodes=["n1", "n2", "n3", "n4"])]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("SwitchName=s0 Nodes=n[1-", 1),
        ("SwitchName=s0 Nodes=n1\nSwitchName=s0 Nodes=n2", 2),
        ("\nNodes=n1", 2),
        ("SwitchName=s0", 1),
        ("nonsense", 1),
    ],
)
def test_malformed_lines(text: str, line: int):
    with pytest.raises(UsageError) as error:
        parse_topology(text)
    assert error.value.code == "topology-malformed" and error.value.fields["line"] == line


def test_files(tmp_path: Path):
    path = tmp_path / "topology.conf"
    path.write_text(CONF)
    assert read_topology(path, ("n1", "n9"))[0].name == "s0"
    for file, hosts, code in (
        (tmp_path / "none", (), "topology-unreadable"),
        (path, ("m1",), "topology-of-other-nodes"),
    ):
        with pytest.raises(UsageError) as error:
            read_topology(file, hosts)
        assert error.value.code == code


def test_scontrol_is_asked_in_a_job_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program = tmp_path / "scontrol"
    program.write_text(f"#!/bin/sh\ncat <<END\n{PRINTED}END\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert job_topology(environ) == []
    assert [switch.name for switch in job_topology({**environ, "SLURM_JOB_ID": "3"})] == ["s0", "top"]
    program.write_text("#!/bin/sh\necho 'slurm_load_topo error' >&2; exit 1\n")
    assert job_topology({**environ, "SLURM_JOB_ID": "3"}) == []
