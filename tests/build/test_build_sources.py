# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fetching sources by the real installer, from a folder in place of the package index."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from hockney.build.simgrid import Package, fetch
from hockney.core.errors import EnvironmentProblem

FILES = {
    "PKG-INFO": "Metadata-Version: 2.1\nName: tiny-source\nVersion: 1.2\n\nName: the description's\n",
    "setup.py": "raise SystemExit('the package itself would be built')\n",
    "CMakeLists.txt": "project(tiny)\n",
    "src/with blank, and comma.cpp": "int main() {}\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch) -> Package:
    """An sdist in a folder that the installer uses instead of an index."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    sdist = shelf / "tiny-source-1.2.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        for name, text in FILES.items():
            info = tarfile.TarInfo(f"tiny-source-1.2/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(shelf))):
        monkeypatch.setenv(name, value)
    for name, value in (("UV_NO_INDEX", "1"), ("UV_FIND_LINKS", str(shelf))):
        monkeypatch.setenv(name, value)
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    return Package("tiny-source", "1.2", digest, from_source=True, holds="CMakeLists.txt")


def test_sources_come_as_they_are_and_nothing_of_them_runs(package, tmp_path):
    folder = fetch(package, tmp_path / "place")
    there = {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}
    assert there == FILES


def test_another_file_under_the_same_name_is_refused(package, tmp_path):
    with pytest.raises(EnvironmentProblem) as caught:
        fetch(replace(package, sha256="0" * 64), tmp_path / "place")
    assert caught.value.code == "package-not-fetched" and "hash" in caught.value.fields["reason"].lower()
    assert not list((tmp_path / "place").rglob("CMakeLists.txt"))


@pytest.mark.slow
def test_what_is_expected_in_it_has_to_be_there(package, tmp_path: Path):
    with pytest.raises(EnvironmentProblem) as caught:
        fetch(replace(package, holds="include/boost.hpp"), tmp_path / "place")
    assert caught.value.code == "package-incomplete"
    assert caught.value.fields == {"package": "tiny-source 1.2", "file": "include/boost.hpp"}
