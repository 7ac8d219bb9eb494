# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One cluster for all tests that run jobs. They start real ranks, so their marker is `mpi`, but in a
process of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from front import Front, Printed
from native import locked
from needs import missing
from real_mpi import mpi_named
from slurm_rig import Rig, rig_of

from hockney import build


@pytest.fixture(scope="session")
def cluster() -> Iterator[Rig]:
    """Three nodes with four processors each."""
    with rig_of(3, 4) as rig:
        yield rig


@pytest.fixture
def rig(cluster: Rig) -> Iterator[Rig]:
    """The cluster, without jobs and with all nodes idle, before the test as after it."""
    yield cluster
    cluster.clear()


@pytest.fixture
def printed(front: Front, tmp_path: Path) -> Iterator[Printed]:
    """A wrapper around mpiexec, on every node of this test, keeps a copy. `tee` writes each part first to its
    output, so that the copy never has more than hockney could read."""
    mpiexec = Path(front.environ["HOCKNEY_MPI"], "bin", "mpiexec")
    mpirun = mpiexec.with_name("mpirun")
    if not mpirun.exists() or mpirun.samefile(mpiexec):
        missing("mpirun", "as another file than mpiexec")
    folder, wrapper = tmp_path / "printed", tmp_path / "mpiexec"
    folder.mkdir()
    wrapper.write_text(f"""\
#!/bin/bash
set -o pipefail
"{mpirun}" "$@" | tee "{folder}/$(hostname).$$.out"
""")
    wrapper.chmod(0o755)
    for node in front.rig.names:
        front.rig.on(node, f"mount --bind {wrapper} {mpiexec}")
    yield Printed(folder)
    for node in front.rig.names:
        front.rig.on(node, f"umount -l {mpiexec}")


@pytest.fixture(params=["openmpi"])
def front(rig: Rig, tmp_path: Path, request: pytest.FixtureRequest) -> Front:
    mpi = mpi_named(request.param)
    with locked(f"engine-{mpi.family}"):
        build.engine(mpi)
    # by its prefix: by its name, hockney would refuse a wheel whose mpiexec is not the one of the package
    return Front(rig, tmp_path, {"HOCKNEY_MPI": mpi.prefix, "COLUMNS": "100"})
