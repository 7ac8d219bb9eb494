# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The doctor's findings about free space, and the whole examination on a real MPI with the stand-in
engine."""

from __future__ import annotations

import pytest
from launch_site import ALONE, CONNECTED, Site, empty_launch, hello

from hockney import build, measurement
from hockney.core.errors import EnvironmentProblem
from hockney.core.launcher_options import LauncherOptions
from hockney.core.layout import Cores, HostOptions
from hockney.core.machine import Mpi
from hockney.launch.mpi import MpiLauncher
from hockney.measurement import doctor
from hockney.measurement.doctor import cache_finding, shared_memory_finding, simgrid_finding
from hockney.measurement.events import Finding
from hockney.system.bundled import bundled_catalog


@pytest.mark.parametrize(
    ("room", "verdict", "code"),
    [
        (None, "note", "shared-memory-missing"),
        (64 << 20, "note", "shared-memory-small"),
        (1 << 30, "good", "shared-memory"),
    ],
)
def test_shared_memory(room, verdict, code):
    finding = shared_memory_finding(room)
    assert (finding.verdict, finding.code) == (verdict, code)


def test_a_cache_that_cannot_be_written_is_bad(tmp_path):
    (tmp_path / "file").write_text("")
    assert cache_finding(tmp_path / "new" / "folder").verdict == "good"
    assert cache_finding(tmp_path / "file").verdict == "bad"


def test_no_simgrid_is_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr("hockney.discovery.simgrid.USUAL", ())
    finding = simgrid_finding({"PATH": "", "HOCKNEY_CACHE": str(tmp_path)})
    assert (finding.verdict, finding.code) == ("note", "simgrid-missing")


@pytest.mark.mpi
def test_a_sound_machine_passes_step_by_step(mpi, stand_in, monkeypatch):
    """2 ranks, all cores, one more than cores."""
    monkeypatch.setattr(doctor.build, "engine", lambda found: stand_in)
    monkeypatch.setattr(doctor, "LOAD_SAMPLE_S", 0.01)
    findings = {f.code: f for f in measurement.examine("", mpi.prefix)}
    assert not [f for f in findings.values() if f.verdict == "bad"]
    assert mpi.mpiexec in findings["mpi"].text
    assert findings["ranks-start"].verdict == "good" and "cache-writable" in findings
    assert findings.keys() & {"bound", "not-bound"}


def test_the_first_thing_that_is_bad_ends_the_examination(monkeypatch):
    problem = EnvironmentProblem("what", "why", "remedy", code="no-mpi")

    def no_mpi(*_):
        raise problem

    monkeypatch.setattr(doctor, "find_mpi", no_mpi)
    monkeypatch.setattr(doctor, "LOAD_SAMPLE_S", 0.01)
    last = list(measurement.examine("", ""))[-1]
    assert (last.verdict, last.code, last.text) == ("bad", "cannot-measure", str(problem))


@pytest.mark.parametrize(
    ("family", "root", "noted"), [("openmpi", True, True), ("openmpi", False, False), ("mpich", True, False)]
)
def test_the_doctor_notes_root_where_it_matters(monkeypatch, family, root, noted):
    found = Mpi(family=family, version="5", prefix="/p", mpicxx="/p/x", mpiexec="/p/m", source="path")

    def no_engine(*_):
        raise EnvironmentProblem("what", "why", "remedy", code="no-engine")

    monkeypatch.setattr(doctor, "find_mpi", lambda *_: found)
    monkeypatch.setattr(doctor, "find_all_mpis", lambda *_: [])
    monkeypatch.setattr(doctor, "is_root", lambda: root)
    monkeypatch.setattr(doctor.build, "engine", no_engine)
    monkeypatch.setattr(doctor, "LOAD_SAMPLE_S", 0.01)
    assert ("root-allowed" in {finding.code for finding in measurement.examine("", "")}) == noted


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A job of Slurm on two hosts, whose launchers are scripts."""
    (tmp_path / "hockney-engine").write_text("")
    made = Site(tmp_path)
    engine = build.Engine(
        tmp_path / "hockney-engine", bundled_catalog(), 0.0, True, tmp_path / "log", "none", ""
    )
    for name, value in made.job.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(doctor, "find_mpi", lambda *_: made.mpi)
    monkeypatch.setattr(doctor, "find_all_mpis", lambda *_: [])
    monkeypatch.setattr(doctor, "ability_findings", lambda *_: [])
    monkeypatch.setattr(doctor.build, "engine", lambda *_: engine)
    monkeypatch.setattr(doctor, "LOAD_SAMPLE_S", 0.01)
    return made


def found_by_the_doctor(**places) -> dict[str, Finding]:
    return {finding.code: finding for finding in measurement.examine("", "", 0.0, HostOptions(**places))}


def test_the_hosts_of_a_job(site):
    site.mpiexec(CONNECTED, launch=empty_launch(0.25))
    found = found_by_the_doctor()
    assert found["layout"].numbers == {"nodes": 2, "ranks_per_node": 2, "hosts": ["n1", "n2"]}
    assert found["launcher"].numbers["program"] == site.mpi.mpiexec
    assert found["levels"].numbers["levels"] == ["node", "network"]
    assert found["cost-of-starting"].numbers["init_s"] == 0.25
    assert "bound" in found and "cost-of-fabric" not in found, "several hosts may need it"


def test_the_options_of_mpiexec(site):
    """As in a survey, which may need them to start at all."""
    site.mpiexec(CONNECTED, launch=empty_launch(0.25))
    user = LauncherOptions(("--mca", "btl", "tcp"), (("A", "b"),))
    assert "cost-of-starting" in {each.code for each in measurement.examine("", "", 0.0, HostOptions(), user)}
    calls = (site.folder / "calls").read_text().splitlines()
    assert len(calls) > 1 and all("--mca btl tcp" in call and "-x A" in call for call in calls), calls


def test_the_interface_of_srun(site):
    site.mpiexec("no route", 1)
    site.srun(pmix=ALONE, pmi2=CONNECTED)
    found = found_by_the_doctor()
    assert found["launcher"].numbers["interface"] == "pmi2"


BAD = {
    "engine-not-reachable": "[proxy:1@n2] HYDU_create_process: execvp error on file /c (No such file)",
    "host-unreachable": "ssh: connect to host n2 port 22: No route to host",
    "ssh-login-refused": "root@n2: Permission denied (publickey,password).",
    "not-enough-slots": "There are not enough slots available in the system",
    "ranks-run-as-separate-jobs": ALONE,
    "engines-differ": hello((0, 4), (1, 4)) + "\n" + hello((2, 4), (3, 4), host="n2", engine="2"),
}


@pytest.mark.parametrize("code", BAD)
def test_what_goes_wrong_on_hosts_is_one_line(site, code):
    site.mpiexec(BAD[code], code=0 if "{" in BAD[code] else 1)
    last = found_by_the_doctor(starter="mpiexec")["cannot-measure"]
    assert last.verdict == "bad" and "\n" not in last.text
    with pytest.raises(EnvironmentProblem) as caught:
        MpiLauncher(site.mpi, site.folder / "hockney-engine", Cores((0,), (0,), 1)).check(4)
    assert caught.value.code == code and str(caught.value) == last.text


def test_the_cost_of_a_fabric_is_named_on_one_host(site, monkeypatch):
    for name in site.job:
        if name != "PATH":
            monkeypatch.delenv(name)
    path = site.folder / "mpiexec"
    site.mpiexec(CONNECTED, launch=empty_launch(1.25))
    slow = path.read_text()
    site.mpiexec(CONNECTED, launch=empty_launch(0.25))
    (site.folder / "slow").write_text(slow)
    quick = path.read_text().replace("#!/bin/sh", "#!/bin/sh\n[ $OMPI_MCA_btl ] || exec sh $0/../slow $*")
    path.write_text(quick.replace("$0/..", str(site.folder)))
    found = found_by_the_doctor(ranks_per_node=4)
    assert found["cost-of-fabric"].numbers["with_fabric_s"] == 1.25
    assert found["cost-of-fabric"].numbers["init_s"] == 0.25
