# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The doctor's findings about free space, and the whole examination on a real MPI with the stand-in
engine."""

from __future__ import annotations

import pytest

from hockney import lab
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.lab import doctor
from hockney.lab.doctor import cache_room, shared_room, simulator


@pytest.mark.parametrize(
    ("room", "verdict", "code"),
    [
        (None, "note", "shared-memory-missing"),
        ((64 << 20, 64 << 20), "note", "shared-memory-small"),
        ((1 << 30, 2 << 30), "good", "shared-memory"),
    ],
)
def test_shared_memory(room, verdict, code):
    finding = shared_room(room)
    assert (finding.verdict, finding.code) == (verdict, code)


def test_a_cache_that_cannot_be_written_is_bad(tmp_path):
    (tmp_path / "file").write_text("")
    assert cache_room(tmp_path / "new" / "folder").verdict == "good"
    assert cache_room(tmp_path / "file").verdict == "bad"


def test_no_simgrid_is_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr("hockney.machine.simgrid.USUAL", ())
    finding = simulator({"PATH": "", "HOCKNEY_CACHE": str(tmp_path)})
    assert (finding.verdict, finding.code) == ("note", "simgrid-missing")


@pytest.mark.mpi
def test_a_sound_machine_passes_step_by_step(mpi, stand_in, monkeypatch):
    """2 ranks, all cores, one more than cores."""
    monkeypatch.setattr(doctor.build, "engine", lambda found: stand_in)
    monkeypatch.setattr(doctor, "LISTENING_S", 0.01)
    findings = {f.code: f for f in lab.examine("", mpi.prefix)}
    assert not [f for f in findings.values() if f.verdict == "bad"]
    assert mpi.mpiexec in findings["mpi"].text
    assert findings["ranks-start"].verdict == "good" and "cache-writable" in findings
    assert findings.keys() & {"bound", "not-bound"}


def test_the_first_thing_that_is_bad_ends_the_examination(monkeypatch):
    problem = EnvironmentProblem("what", "why", "remedy", code="no-mpi")

    def no_mpi(*_):
        raise problem

    monkeypatch.setattr(doctor, "find_mpi", no_mpi)
    monkeypatch.setattr(doctor, "LISTENING_S", 0.01)
    last = list(lab.examine("", ""))[-1]
    assert (last.verdict, last.code, last.text) == ("bad", "cannot-measure", str(problem))


@pytest.mark.parametrize(
    ("family", "root", "noted"), [("openmpi", True, True), ("openmpi", False, False), ("mpich", True, False)]
)
def test_the_doctor_notes_root_where_it_matters(monkeypatch, family, root, noted):
    found = Mpi(family=family, version="5", prefix="/p", mpicxx="/p/x", mpiexec="/p/m", source="path")

    def no_engine(*_):
        raise EnvironmentProblem("what", "why", "remedy", code="no-engine")

    monkeypatch.setattr(doctor, "find_mpi", lambda *_: found)
    monkeypatch.setattr(doctor, "on_machine", lambda *_: [])
    monkeypatch.setattr(doctor, "is_root", lambda: root)
    monkeypatch.setattr(doctor.build, "engine", no_engine)
    monkeypatch.setattr(doctor, "LISTENING_S", 0.01)
    assert ("root-allowed" in {finding.code for finding in lab.examine("", "")}) == noted
