# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""When a SimGrid is built, and when the existing one is used; building itself is tested in tests/build."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import script

from hockney import build, measurement
from hockney.core.errors import EnvironmentProblem
from hockney.core.paths import COMPLETE_MARKER
from hockney.measurement.builds import compiler_jobs, simgrid_present_text


def install(prefix: Path, version: str) -> Path:
    for name in ("smpicxx", "smpirun"):
        script(prefix / "bin" / name, f"echo 'SimGrid version {version}'")
    return prefix


class Here:
    """An environment whose builds are stand-ins, counted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {"HOCKNEY_CACHE": str(folder / "cache"), "PATH": str(folder / "system/bin")}
        self.progress: list[str] = []
        self.builds = 0

    def build(self, environ, tell, progress, compiler_jobs, again) -> Path:
        self.builds += 1
        assert compiler_jobs >= 1
        prefix = install(self.folder / f"cache/simgrid-4.{self.builds}", f"4.{self.builds}")
        (prefix / COMPLETE_MARKER).write_text(str(prefix))
        return prefix

    def bring(self, again: bool = False) -> str:
        return measurement.provide_simgrid(
            again, self.progress.append, lambda done, total: None, self.environ
        ).version


@pytest.fixture
def here(tmp_path, monkeypatch) -> Here:
    made = Here(tmp_path)
    monkeypatch.setattr("hockney.discovery.simgrid.USUAL", ())
    monkeypatch.setattr(build, "simgrid", made.build)
    return made


def test_none_is_built_once_and_found_then(here):
    assert (here.bring(), here.bring(), here.builds) == ("4.1", "4.1", 1)
    prefix = str(here.folder / "cache/simgrid-4.1")
    assert here.progress == [simgrid_present_text("SimGrid 4.1", prefix, is_cached=True)]


def test_the_systems_is_used_unless_forced(here):
    install(here.folder / "system", "3.36")
    assert (here.bring(), here.builds) == ("3.36", 0)
    prefix = str(here.folder / "system")
    assert here.progress == [simgrid_present_text("SimGrid 3.36", prefix, is_cached=False)]
    assert (here.bring(again=True), here.builds) == ("4.1", 1)
    assert here.bring() == "4.1"


def test_one_that_is_too_old_is_no_reason_not_to_build(here):
    install(here.folder / "system", "3.25")
    assert (here.bring(), here.builds) == ("4.1", 1)
    assert len(here.progress) == 1, "a note about the old one"


def test_one_that_is_named_has_to_work(here):
    here.environ["HOCKNEY_SIMGRID"] = str(install(here.folder / "mine", "4.0"))
    assert (here.bring(), here.builds) == ("4.0", 0)
    here.environ["HOCKNEY_SIMGRID"] = str(here.folder / "nowhere")
    with pytest.raises(EnvironmentProblem) as caught:
        here.bring()
    assert str(here.folder / "nowhere") in caught.value.what


def test_little_memory_means_few_compilers_at_once(monkeypatch):
    monkeypatch.setattr("hockney.measurement.builds.memory_bytes", lambda: 1_500_000_000)
    assert compiler_jobs() == 1
    monkeypatch.setattr("hockney.measurement.builds.memory_bytes", lambda: 0)
    assert compiler_jobs() == 1
