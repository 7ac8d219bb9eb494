# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The packages from which SimGrid is built, with versions and hashes known to work, from the package
index."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from hockney.build import unpack
from hockney.core.errors import EnvironmentProblem
from hockney.system.packages import install, installer


@dataclass(frozen=True)
class Package:
    """`file` (sdist or wheel) has this SHA-256; `holds` is a file in it by which its folder is found,
    relative to that folder."""

    name: str
    version: str
    sha256: str
    from_source: bool
    holds: str

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"


SIMGRID = Package(
    "simgrid",
    "4.1",
    "23ac24cb5b2467f1f051c992ec921b4a9f8f5ac2df16c489bd01bf1c44e6e817",
    from_source=True,
    holds="CMakeLists.txt",
)
BOOST = Package(
    "boost-headers",
    "1.85.0.post1",
    "4510a571d3bf6c5e913b31d2a9b2441ee79f883ae42d42a5882dd1da46b35e7f",
    from_source=False,
    holds="boost/version.hpp",
)


def fetch(package: Package, place: Path) -> Path:
    """The folder below `place` that contains what `package` holds. Raises EnvironmentProblem, or OSError."""
    place.mkdir()
    wanted = place / "wanted.txt"
    wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n")
    backend = place / "setuptools"
    backend.mkdir()
    (backend / "__init__.py").write_text("")
    shutil.copyfile(unpack.__file__, backend / "build_meta.py")
    words = installer(place / "prefix", package.name if package.from_source else "")
    reason = install(
        [*words, "--require-hashes", "--requirement", str(wanted)],
        {"PYTHONPATH": str(place)} if package.from_source else None,
    )
    if reason:
        raise EnvironmentProblem(
            f"cannot fetch {package.title} from the package index",
            reason,
            "check the network and the configuration of pip or uv (index, proxy), or install SimGrid in "
            "another way: apt install libsimgrid-dev (Debian, Ubuntu), conda, spack",
            code="package-not-fetched",
            package=package.title,
            reason=reason,
        )
    files = sorted((place / "prefix").glob(f"**/{package.holds}"), key=lambda path: len(path.parts))
    if not files:
        raise EnvironmentProblem(
            f"{package.title} does not contain {package.holds}",
            "SimGrid cannot be built without it",
            code="package-incomplete",
            package=package.title,
            file=package.holds,
        )
    return files[0].parents[package.holds.count("/")]
