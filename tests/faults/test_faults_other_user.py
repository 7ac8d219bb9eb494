# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Another user's hockney, run by a user who can write only at home, and not always there."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from real_mpi import engine_for, mpi_named

NOBODY = 65534
MAIN = [sys.executable, "-c", "from hockney.cli import main; main()"]
RUN = ["run", "pingpong bytes=0:64", "--launches", "2", "--seed", "1", "-q", "--out"]


READS_ALL = "+dac_read_search"
"""The capability needed if the tests run where other users have no access, such as below /root."""


@pytest.fixture
def home() -> Iterator[Path]:
    """A home of the other user. Folders created by pytest are not accessible to others."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become another user, by setpriv")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        (Path(folder) / "home").mkdir()
        os.chown(Path(folder) / "home", NOBODY, NOBODY)
        yield Path(folder) / "home"


def as_nobody(
    words: list[str], home: Path, limits: Callable[[], None] | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """A user who may read everything, but only write to their own files."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "HOCKNEY_"))
    }
    caps = [f"--inh-caps={READS_ALL}", f"--ambient-caps={READS_ALL}", "--bounding-set=-all,+dac_read_search"]
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *caps]
    return subprocess.run(
        [*become, *words],
        cwd=home,
        env={**inherited, "HOME": str(home), "TMPDIR": str(home), **env},
        preexec_fn=limits,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_a_run_and_its_report(home: Path):
    done = as_nobody([*MAIN, *RUN, "r"], home, HOCKNEY_MACHINE="fake")
    assert done.returncode == 0, done.stderr
    assert as_nobody([*MAIN, "verify", "r"], home).returncode == 0
    assert as_nobody([*MAIN, "resume", "r", "--machine", "fake"], home).returncode == 0
    assert (home / "r" / "report.html").stat().st_uid == NOBODY


@pytest.mark.slow
def test_a_home_that_cannot_be_written(home: Path):
    os.chmod(home, 0o555)
    with tempfile.TemporaryDirectory() as out:
        os.chown(out, NOBODY, NOBODY)
        done = as_nobody([*MAIN, *RUN, f"{out}/r"], home, HOCKNEY_MACHINE="fake", TMPDIR=out)
    assert done.returncode == 0, done.stderr


def full() -> None:
    """As on a full file system: no file can grow."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.slow
def test_a_full_home(home: Path):
    done = as_nobody([*MAIN, *RUN, "r"], home, full, HOCKNEY_MACHINE="fake")
    assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr
    assert not list(home.glob(".r-*"))


@pytest.mark.slow
@pytest.mark.mpi
def test_the_engine_of_another_user(home: Path):
    """A cache that the administrator has filled, and nobody else can write to."""
    mpi = mpi_named("openmpi")
    built = engine_for(mpi).path.parent
    cache = home.parent / "cache"
    shutil.copytree(built, cache / "engine" / built.name)
    before = {path.stat().st_mtime_ns for path in cache.rglob("*")}
    words = [*MAIN, *RUN, "r", "--mpi", mpi.mpicxx, "--budget", "2s", "--ranks", "2"]
    done = as_nobody(words, home, HOCKNEY_CACHE=str(cache))
    assert done.returncode in (0, 4), done.stderr  # a busy machine may not measure everything in time
    left = [path.name for path in home.iterdir() if not path.name.startswith((".", "ompi", "prte"))]
    assert left == ["r"] and {path.stat().st_mtime_ns for path in cache.rglob("*")} == before
