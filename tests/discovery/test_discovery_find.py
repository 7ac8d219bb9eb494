# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Finding an MPI among stand-in tools: scripts with the output of real ones."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from scripts import script

from hockney.core.errors import EnvironmentProblem, HockneyError, UsageError
from hockney.core.paths import cache_folder
from hockney.discovery import wheels
from hockney.discovery.find import (
    find_all_mpis,
    find_mpi,
)
from hockney.discovery.probe import family_of_header, probe

HEADERS = {
    "openmpi": "#define OMPI_MAJOR_VERSION 4\n#define OMPI_MINOR_VERSION 1\n#define OMPI_RELEASE_VERSION 4\n",
    "mpich": '#define MPICH_VERSION "4.0.2"\n',
    "intel": '#define I_MPI_VERSION "2021.18.1"\n#define MPICH_VERSION "3.4a2"\n',
}
VERSIONS = {"openmpi": "4.1.4", "mpich": "4.0.2", "intel": "2021.18.1"}
LAUNCHERS = {
    "openmpi": "mpiexec (OpenRTE) 4.1.4",
    "mpich": "HYDRA build details:",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.18.1",
}


def install(prefix: Path, family: str, suffix: str = "", launcher: str = "") -> Path:
    """An MPI below `prefix` whose tools' names end in `suffix`; `launcher` "none" leaves out mpiexec."""
    include = prefix / f"include{suffix}"
    include.mkdir(parents=True, exist_ok=True)
    (include / "mpi.h").write_text(HEADERS[family])
    if launcher != "none":
        script(prefix / "bin" / f"mpiexec{suffix}", f"echo '{LAUNCHERS[launcher or family]}'")
    return script(prefix / "bin" / f"mpicxx{suffix}", f'echo "c++ -I{include} -L{prefix}/lib -lmpi"')


def refused(kind: type[HockneyError], function: Callable[..., object], *arguments: object) -> HockneyError:
    """The error of a call that fails."""
    with pytest.raises(kind) as caught:
        function(*arguments)
    return caught.value


@pytest.fixture
def environ(tmp_path, monkeypatch):
    """An environment without any MPI except those that the test installs."""
    monkeypatch.setattr("hockney.discovery.find.usual_folders", list)
    monkeypatch.setattr(wheels, "installed_version", lambda family: "")
    monkeypatch.setattr(wheels, "find_intact_wrapper", lambda family: None)

    def no_index(family, *_):
        raise EnvironmentProblem("fetched", code="fetched", family=family)

    monkeypatch.setattr(wheels, "provide_wheel", no_index)
    return {"PATH": str(tmp_path / "empty"), "HOCKNEY_CACHE": str(tmp_path / "cache")}


@pytest.mark.parametrize("family", HEADERS)
def test_the_header_tells_family_and_version(family):
    found, version = family_of_header(HEADERS[family])
    assert (found.name, version) == (family, VERSIONS[family])


def test_a_prefix_a_bin_folder_and_both_tools_name_the_same_mpi(tmp_path, environ):
    install(tmp_path / "m", "mpich")
    for path in ("m", "m/bin", "m/bin/mpicxx", "m/bin/mpiexec"):
        mpi = find_mpi(str(tmp_path / path), environ)
        assert (mpi.family, mpi.version, mpi.source) == ("mpich", "4.0.2", "option")
        assert mpi.mpiexec == str(tmp_path / "m/bin/mpiexec") and mpi.prefix == str(tmp_path / "m")


def test_option_beats_environment_beats_path(tmp_path, environ):
    install(tmp_path / "a", "mpich")
    install(tmp_path / "b", "openmpi")
    install(tmp_path / "c", "intel")
    environ |= {"HOCKNEY_MPI": str(tmp_path / "b"), "PATH": str(tmp_path / "c/bin")}
    assert find_mpi(str(tmp_path / "a"), environ).source == "option"
    assert find_mpi(None, environ).source == "environment" and find_mpi(None, environ).family == "openmpi"
    del environ["HOCKNEY_MPI"]
    assert (find_mpi(None, environ).source, find_mpi(None, environ).family) == ("path", "intel")


def test_debians_suffixes_and_alternatives(tmp_path, environ):
    """mpicxx is a chain of links to mpic++.openmpi, while the plain mpiexec is MPICH's."""
    prefix = tmp_path / "usr"
    install(prefix, "openmpi", ".openmpi")
    install(prefix, "mpich", ".mpich")
    (prefix / "bin/mpicxx.openmpi").rename(prefix / "bin/mpic++.openmpi")
    (prefix / "alternatives").mkdir()
    (prefix / "alternatives/mpicxx").symlink_to(prefix / "bin/mpic++.openmpi")
    (prefix / "bin/mpicxx").symlink_to(prefix / "alternatives/mpicxx")
    (prefix / "bin/mpiexec").symlink_to(prefix / "bin/mpiexec.mpich")
    environ["PATH"] = str(prefix / "bin")
    notes: list[str] = []
    mpi = find_mpi(None, environ, notes.append)
    assert (mpi.family, Path(mpi.mpiexec).name) == ("openmpi", "mpiexec.openmpi")
    wrapper, first = (str(prefix / "bin" / name) for name in ("mpicxx", "mpiexec"))
    assert len(notes) == 1 and all(each in notes[0] for each in (mpi.mpiexec, str(wrapper), str(first)))
    assert Path(find_mpi("mpich", environ).mpiexec).name == "mpiexec.mpich"
    assert {mpi.family for mpi in find_all_mpis(environ)} == {"openmpi", "mpich"}


def test_the_launcher_of_another_mpi_is_refused(tmp_path, environ):
    install(tmp_path / "m", "mpich", launcher="openmpi")
    error = refused(EnvironmentProblem, find_mpi, str(tmp_path / "m"), environ)
    assert error.code == "mpi-launcher-mismatch"
    assert error.fields == {"compiles_for": "MPICH", "launcher_of": "Open MPI"}


def test_a_wrapper_without_launcher_and_the_reverse(tmp_path, environ):
    install(tmp_path / "a", "mpich", launcher="none")
    error = refused(EnvironmentProblem, find_mpi, str(tmp_path / "a"), environ)
    assert error.code == "mpi-launcher-missing"
    script(tmp_path / "b/bin/mpiexec", "echo HYDRA")
    mpiexec = str(tmp_path / "b/bin/mpiexec")
    assert refused(EnvironmentProblem, find_mpi, mpiexec, environ).code == "mpi-wrapper-missing"
    notes: list[str] = []
    path = environ | {"PATH": str(tmp_path / "b/bin")}
    assert refused(EnvironmentProblem, find_mpi, None, path, notes.append).code == "no-mpi"
    assert len(notes) == 1 and notes[0].startswith(f"{mpiexec} is ignored")


@pytest.mark.parametrize(
    ("wanted", "kind", "code", "suggestion"),
    [
        ("mpixh", UsageError, "unknown-mpi", "mpich"),
        ("/no/such/place", UsageError, "mpi-path-missing", ""),
        ("./\x1b[31m", UsageError, "mpi-path-missing", ""),
        ("~nosuchuser/mpi", EnvironmentProblem, "no-home-folder", ""),
    ],
)
def test_wrong_names(environ, wanted, kind, code, suggestion):
    error = refused(kind, find_mpi, wanted, environ)
    assert (error.code, error.suggestion) == (code, suggestion) and "\x1b" not in str(error)


def test_a_broken_wrapper_is_one_line_with_its_reason(tmp_path, environ):
    install(tmp_path / "m", "mpich")
    script(tmp_path / "m/bin/mpicxx", "echo cannot open config >&2; exit 1")
    error = refused(EnvironmentProblem, probe, tmp_path / "m/bin/mpicxx", "option")
    assert error.code == "mpi-tool-failed" and error.fields["reason"] == "cannot open config"
    assert "\n" not in str(error)


def test_a_name_is_looked_for_on_the_machine_before_it_is_fetched(tmp_path, environ):
    install(tmp_path / "m", "mpich")
    environ["PATH"] = str(tmp_path / "m/bin")
    assert find_mpi("MPICH", environ).prefix == str(tmp_path / "m")
    error = refused(EnvironmentProblem, find_mpi, "openmpi", environ)
    assert (error.code, error.fields["family"]) == ("fetched", "openmpi")


class Wheel:
    """A distribution as importlib.metadata provides it, with a RECORD of what it once installed."""

    def __init__(self, prefix: Path, contents: dict[str, str]) -> None:
        self.files = []
        for name, text in contents.items():
            path = metadata.PackagePath(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            path.hash = metadata.FileHash(f"sha256={digest}")
            path.dist = self
            self.files.append(path)
        self.prefix = prefix

    def locate_file(self, name: os.PathLike) -> Path:
        return self.prefix / name


def test_of_two_wheels_the_overwritten_one_is_noticed(tmp_path, monkeypatch):
    contents = {
        "openmpi": {"bin/mpicxx": "o", "lib/libmpi.so.40": "o"},
        "mpich": {"bin/mpicxx": "m", "include/mpi.h": "m"},
    }
    both = {name: Wheel(tmp_path, files) for name, files in contents.items()}

    def distribution(name):
        if name not in both:
            raise metadata.PackageNotFoundError(name)
        return both[name]

    monkeypatch.setattr(metadata, "distribution", distribution)
    for name in ("openmpi", "mpich"):
        for place, text in contents[name].items():
            (tmp_path / place).parent.mkdir(exist_ok=True)
            (tmp_path / place).write_text(text)
    assert wheels.find_intact_wrapper("mpich") == tmp_path / "bin/mpicxx"
    assert wheels.find_intact_wrapper("openmpi") is None and wheels.find_intact_wrapper("intel") is None
    (tmp_path / "bin/mpicxx").write_text("o")
    assert (
        wheels.find_intact_wrapper("openmpi") == tmp_path / "bin/mpicxx"
        and wheels.find_intact_wrapper("mpich") is None
    )
    (tmp_path / "lib/libmpi.so.40").unlink()
    assert wheels.find_intact_wrapper("openmpi") is None


def test_a_damaged_wheel_is_replaced_by_a_clean_copy_in_the_cache(tmp_path, environ, monkeypatch):
    monkeypatch.setattr(wheels, "installed_version", lambda family: "5.0.11" if family == "openmpi" else "")
    copy = install(tmp_path / "cache/mpi/openmpi-5.0.11", "openmpi")
    monkeypatch.setattr(wheels, "provide_wheel", lambda *_: copy)
    notes: list[str] = []
    mpi = find_mpi(None, environ, notes.append)
    assert (mpi.source, mpi.mpicxx) == ("cache", str(copy))
    assert len(notes) == 1 and "Open MPI wheel" in notes[0] and sys.prefix in notes[0]


def test_the_newest_copy_in_the_cache_is_taken(tmp_path):
    environ = {"HOCKNEY_CACHE": str(tmp_path)}
    for version in ("4.9.1", "4.10.0", "4.2.0"):
        install(tmp_path / f"mpi/mpich-{version}", "mpich")
    assert wheels.find_cached_wrapper("mpich", environ) == tmp_path / "mpi/mpich-4.10.0/bin/mpicxx"
    assert wheels.find_cached_wrapper("mpich", environ, "4.2.0") == tmp_path / "mpi/mpich-4.2.0/bin/mpicxx"
    assert wheels.find_cached_wrapper("openmpi", environ) is None


def test_bringing_installs_beside_and_moves_into_place(tmp_path, monkeypatch):
    """A stand-in installer lays out the files like pip; Debian's own Python puts `local` in between."""
    environ = {"HOCKNEY_CACHE": str(tmp_path / "cache")}

    def installer(prefix: Path) -> list[str]:
        install(prefix / "local", "mpich")
        (prefix / "local/lib/python3/dist-packages/mpich-4.9.9.dist-info").mkdir(parents=True)
        return ["true"]

    monkeypatch.setattr(wheels, "installer_command", installer)
    assert wheels.provide_wheel("mpich", environ) == tmp_path / "cache/mpi/mpich-4.9.9/bin/mpicxx"
    assert [p.name for p in (tmp_path / "cache/mpi").iterdir()] == ["mpich-4.9.9"]


def test_an_index_that_is_out_of_reach(tmp_path, monkeypatch):
    environ = {"HOCKNEY_CACHE": str(tmp_path)}
    monkeypatch.setattr(
        wheels,
        "installer_command",
        lambda prefix: ["sh", "-c", "echo 'ERROR: no route to index' >&2; exit 1"],
    )
    error = refused(EnvironmentProblem, wheels.provide_wheel, "mpich", environ)
    assert error.code == "wheel-not-fetched" and "no route to index" in error.fields["reason"]
    assert not list((tmp_path / "mpi").iterdir())


def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    cache = {"HOCKNEY_CACHE": str(tmp_path / "file")}
    assert refused(EnvironmentProblem, wheels.provide_wheel, "mpich", cache).code == "cache-unwritable"


def test_the_cache_folder(tmp_path):
    assert cache_folder({"HOCKNEY_CACHE": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")
    assert cache_folder({"XDG_CACHE_HOME": "/b", "HOME": "/h"}) == Path("/b/hockney")
    assert cache_folder({"XDG_CACHE_HOME": "relative", "HOME": "/h"}) == Path("/h/.cache/hockney")


def test_a_user_without_a_home(monkeypatch):
    def homeless(self):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)
    assert refused(EnvironmentProblem, cache_folder, {}).code == "no-home-folder"
