# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the doctor says of rooms, and the whole examination on a real MPI with the stand-in engine."""

from __future__ import annotations

import pytest

from hockney import lab
from hockney.core.errors import EnvironmentProblem
from hockney.lab import doctor
from hockney.lab.doctor import cache_room, shared_room, simulator


@pytest.mark.parametrize(
    ("room", "verdict", "words"),
    [
        (None, "note", "is not there"),
        ((64 << 20, 64 << 20), "note", "--shm-size"),
        ((1 << 30, 2 << 30), "good", "1 GiB free"),
    ],
)
def test_shared_memory(room, verdict, words):
    (finding,) = shared_room(room)
    assert finding.verdict == verdict and words in finding.text


def test_a_cache_that_cannot_be_written_is_bad(tmp_path):
    (tmp_path / "file").write_text("")
    assert cache_room(tmp_path / "new" / "folder").verdict == "good"
    assert cache_room(tmp_path / "file").verdict == "bad"


def test_no_simgrid_is_a_note_with_the_ways_to_get_one(tmp_path, monkeypatch):
    monkeypatch.setattr("hockney.machine.simgrid.USUAL", ())
    finding = simulator({"PATH": "", "HOCKNEY_CACHE": str(tmp_path)})
    assert finding.verdict == "note" and "hockney build --simgrid" in finding.text


@pytest.mark.mpi
def test_a_sound_machine_passes_step_by_step(mpi, stand_in, monkeypatch):
    """2 ranks, all cores, one more than cores."""
    monkeypatch.setattr(doctor.build, "engine", lambda found: stand_in)
    monkeypatch.setattr(doctor, "LISTENING_S", 0.01)
    findings = {f.subject: f for f in lab.examine("", mpi.prefix)}
    assert not [f for f in findings.values() if f.verdict == "bad"]
    assert mpi.mpiexec in findings["MPI"].text
    assert findings["2 ranks"].verdict == "good" and "binding" in findings and "cache" in findings


def test_the_first_thing_that_is_bad_ends_the_examination(monkeypatch):
    def no_mpi(*_):
        raise EnvironmentProblem("there is no MPI here", "why", "what to do")

    monkeypatch.setattr(doctor, "find_mpi", no_mpi)
    monkeypatch.setattr(doctor, "LISTENING_S", 0.01)
    last = list(lab.examine("", ""))[-1]
    assert (last.verdict, last.text) == ("bad", "there is no MPI here (why) what to do")
