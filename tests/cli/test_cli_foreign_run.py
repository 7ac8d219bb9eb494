# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run folder from a stranger starts no program: neither by an MPI that it names or contains, nor by
additions to the launch command."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import one_error
from resealed import reseal

from hockney.api.trusted_settings import mark_programs, refuse_foreign
from hockney.core.errors import UsageError
from hockney.core.settings import Settings


@pytest.fixture
def gift(mine, tmp_path, monkeypatch) -> Path:
    """An unfinished run in gift, with its own MPI whose programs leave a file."""
    folder = tmp_path / "gift"
    shutil.copytree(mine, folder)
    records = folder / "records.jsonl"
    records.write_text("".join(records.read_text().splitlines(keepends=True)[:-2]))
    for name in ("mpicxx", "mpiexec"):
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\nexit 1\n")
        program.chmod(0o755)
    monkeypatch.delenv("HOCKNEY_MACHINE")
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    return folder


def names(folder: Path, **settings) -> None:
    """Gives the plan these settings; its machine is not one that hockney simulates."""
    plan = folder / "plan.txt"
    lines = [line for line in plan.read_text().splitlines() if line.partition(" = ")[0] not in settings]
    at = next(k for k, line in enumerate(lines) if line.startswith("study = "))
    lines[at:at] = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    plan.write_text("\n".join(lines) + "\n")
    reseal(folder)


@pytest.mark.parametrize(
    "named",
    [
        {"mpi": "gift"},
        {"mpi": "./gift/bin/mpicxx"},
        {"mpi": "{tmp}/gift"},
        {"mpiexec_args": "--launch-agent {tmp}/gift/bin/mpiexec"},
        {"variables": ["LD_PRELOAD={tmp}/gift/evil.so"]},
        {"launch_settings": ["a LD_PRELOAD={tmp}/gift/evil.so"]},
        {"hosts": ["n1", "n2"]},
        {"agent": "{tmp}/gift/evil"},
        {"mpi": "openmpi", "variables": ["LD_PRELOAD={tmp}/gift/evil.so"], "mark": "0" * 64},
    ],
)
def test_what_a_plan_names_is_not_started(hockney, gift, tmp_path, named):
    text = json.dumps(named).replace("{tmp}", str(tmp_path))
    names(gift, machine="", **json.loads(text))
    said = hockney("resume", "gift", "--budget", "1s")
    one_error(said, 2)
    assert said.error.code == "programs-of-a-folder"
    assert not (tmp_path / "pwned").exists()


def test_an_error_names_every_option_that_would_be_needed(hockney, gift, tmp_path):
    names(gift, machine="", mpi=str(gift), mpiexec_args="--quiet", variables=["A=1", "B=2"])
    said = hockney("resume", "gift", "--mpi", "openmpi", "--budget", "1s")
    assert said.error.fields["options"] == ["--mpiexec-args", "-x"], "the MPI was typed"
    assert all(word in said.error.remedy for word in ("--quiet", "A=1", "B=2"))


def test_what_the_user_typed_is_used_again(hockney, tmp_path, monkeypatch):
    """Also from a copy of the run; not by another user, nor after it was edited."""
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    typed = Settings("cases", mpi="/opt/mpi", mpiexec_args="--quiet", variables=("A=1",), hosts=("n1", "n2"))
    typed = mark_programs(replace(typed, agent="ssh -p 2222"))
    assert typed.mark
    refuse_foreign(typed, Path("r"), [])

    for edited in (
        replace(typed, mpi="/opt/other"),
        replace(typed, variables=("A=2",)),
        replace(typed, hosts=("n1", "n3")),
        replace(typed, agent="ssh"),
        replace(typed, mark=""),
    ):
        with pytest.raises(UsageError):
            refuse_foreign(edited, Path("r"), [])
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "another-user"))
    with pytest.raises(UsageError):
        refuse_foreign(typed, Path("r"), [])
    assert mark_programs(Settings("cases", mpi="openmpi")).mark == "", "a name is no program"
    monkeypatch.setenv("HOCKNEY_MPI", "/opt/mpi")
    refuse_foreign(Settings("cases", mpi="/opt/mpi"), Path("r"), [])
