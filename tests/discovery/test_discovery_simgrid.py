# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Finding SimGrid among stand-ins: scripts with the output of smpicxx and smpirun."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import script

from hockney.core.errors import EnvironmentProblem
from hockney.discovery import simgrid
from hockney.discovery.simgrid import COMPLETE_MARKER, GET_SIMGRID, find_all_simgrids, find_simgrid
from hockney.mpi import title_of


def install(prefix: Path, version: str) -> Path:
    for name, says in (("smpicxx", "c++"), ("smpirun", f"SimGrid version {version}")):
        script(prefix / "bin" / name, f"echo '{says}'")
    return prefix


@pytest.fixture
def environ(tmp_path, monkeypatch):
    monkeypatch.setattr(simgrid, "USUAL", ())
    return {"HOCKNEY_CACHE": str(tmp_path / "cache"), "PATH": str(tmp_path / "empty")}


def refusal(environ, tell=lambda _: None) -> EnvironmentProblem:
    with pytest.raises(EnvironmentProblem) as caught:
        find_simgrid(environ, tell)
    return caught.value


def test_none_says_how_to_get_one(environ):
    error = refusal(environ)
    assert error.code == "no-simgrid" and GET_SIMGRID in error.remedy


def test_the_named_one_goes_before_all_others(environ, tmp_path):
    environ["PATH"] = str(install(tmp_path / "system", "3.36") / "bin")
    prefix = install(tmp_path / "named", "4.0")
    for named in (prefix, prefix / "bin", prefix / "bin" / "smpicxx"):
        simgrid = find_simgrid(environ | {"HOCKNEY_SIMGRID": str(named)})
        assert (simgrid.family, simgrid.version, simgrid.source) == ("smpi", "4.0", "environment")
        assert simgrid.mpicxx == str(prefix / "bin" / "smpicxx") and title_of(simgrid) == "SimGrid 4.0"


def test_a_named_one_that_is_none_is_not_passed_over(environ, tmp_path):
    environ["PATH"] = str(install(tmp_path / "system", "3.36") / "bin")
    named = str(tmp_path / "nowhere")
    assert refusal(environ | {"HOCKNEY_SIMGRID": named}).code == "simgrid-wrapper-missing"


OWN_LIBRARIES = 'case "$LD_LIBRARY_PATH" in /own/lib*) exit 0;; esac; exit 127'


@pytest.mark.parametrize(
    ("simulator", "works"),
    [("exit 0", True), (OWN_LIBRARIES, True), ("exit 127", False), (None, False)],
)
def test_a_simulator_that_does_not_start_is_refused(environ, tmp_path, simulator, works):
    """As in a copy without the libraries of others; smpirun names its own."""
    prefix = install(tmp_path / "named", "4.0")
    program = prefix / "lib" / "smpimain"
    with (prefix / "bin" / "smpirun").open("a") as smpirun:
        smpirun.write(
            'export LD_LIBRARY_PATH="/own/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"\n'
            f'exit 0\n"{program}" "$EXEC"\n'
        )
    if simulator is not None:
        script(program, simulator)
    environ["HOCKNEY_SIMGRID"] = str(prefix)
    if works:
        assert find_simgrid(environ).version == "4.0"
    else:
        assert refusal(environ).code == "simgrid-failed"


def test_the_folder_above_a_name_that_is_not_there_is_not_meant(environ, tmp_path):
    install(tmp_path / "named", "4.0")
    for named in (tmp_path / "named" / "nowhere", tmp_path / "named" / "lib" / "x"):
        assert refusal(environ | {"HOCKNEY_SIMGRID": str(named)}).code == "simgrid-wrapper-missing"


def test_what_hockney_built_goes_before_the_systems_if_it_is_complete(environ, tmp_path):
    environ["PATH"] = str(install(tmp_path / "system", "3.32") / "bin")
    built = install(tmp_path / "cache" / "simgrid-4.1", "4.1")
    assert find_simgrid(environ).version == "3.32"
    (built / COMPLETE_MARKER).write_text(str(built))
    assert (find_simgrid(environ).version, find_simgrid(environ).source) == ("4.1", "cache")
    assert [simgrid.version for simgrid in find_all_simgrids(environ)] == ["4.1", "3.32"]


def test_one_that_is_too_old_is_ignored_with_a_note(environ, tmp_path):
    environ["PATH"] = str(install(tmp_path / "system", "3.25") / "bin")
    notes: list[str] = []
    assert refusal(environ, notes.append).code == "no-simgrid"
    error = refusal(environ | {"HOCKNEY_SIMGRID": str(tmp_path / "system")})
    assert (error.code, error.fields["version"]) == ("simgrid-too-old", "3.25")
    assert notes == [str(error)]


def test_one_that_does_not_answer_is_called_broken(environ, tmp_path):
    broken = install(tmp_path / "named", "4.0")
    (broken / "bin" / "smpirun").write_text("#!/bin/sh\nexit 1\n")
    assert refusal(environ | {"HOCKNEY_SIMGRID": str(broken)}).code == "simgrid-without-version"
