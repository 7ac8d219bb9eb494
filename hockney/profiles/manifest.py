# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a profile: `profile.json`, and a folder for each launch with the file of every rank."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.system.files import read_regular, write_atomically

MANIFEST = "profile.json"
SCHEMA = 1
TraceMode = Literal["all", "summary"]
"""What a trace keeps of times: those of every call, or their distributions."""


class ProfiledMpi(msgspec.Struct, frozen=True, kw_only=True):
    """The MPI of the program: its family as in `hockney/mpi`, and its version."""

    family: str
    version: str = ""


class ProfiledLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """One launch of the program. `folder` is relative to the profile; `seconds` is the elapsed time of the
    launcher. A launch that is not `profiled` ran without the library, for comparison. Without an `exit_code`
    it is still running, or its end was not observed. `ended_ns` is CLOCK_MONOTONIC of the launcher's host at
    its end; `kernel`, a hexadecimal number, identifies the ranks that share this clock (Header::kernel)."""

    folder: str
    exit_code: int | None = None
    seconds: float = 0.0
    profiled: bool = True
    ended_ns: int = 0
    kernel: str = ""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of `profile.json`. `functions` are names without MPI_, in the order by which rank files
    number them. `cores` is the number of usable cores of the host, `started` an ISO 8601 time, and `survey`
    the folder of the run whose costs explain the profile. `trace` is set if every call was traced."""

    schema: int = SCHEMA
    command: list[str]
    program: str
    started: str
    hockney: str
    mpi: ProfiledMpi
    cores: int
    functions: list[str]
    launches: list[ProfiledLaunch] = []
    survey: str | None = None
    trace: TraceMode | None = None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    write_atomically(folder / MANIFEST, text)


def is_profile(folder: Path) -> bool:
    """Whether the folder contains a profile."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if not path.is_file():
        raise UsageError(
            f"{printable(str(folder))} is not a profile",
            f"it has no {MANIFEST}",
            "'hockney profile -- mpiexec -n 2 ./program' makes one",
            code="not-a-profile",
            path=str(folder),
        )
    try:
        manifest = msgspec.json.decode(read_regular(path), type=Manifest)
    except msgspec.MsgspecError as error:
        raise EnvironmentProblem(
            f"{printable(str(path))} cannot be read",
            str(error),
            "profile the program again",
            code="damaged-profile",
            path=str(path),
        ) from error
    if manifest.schema > SCHEMA:
        raise EnvironmentProblem(
            f"{printable(str(path))} is from a newer hockney",
            f"its schema is {manifest.schema}, and this hockney reads up to {SCHEMA}",
            "update hockney",
            code="newer-profile",
            path=str(path),
            schema=manifest.schema,
        )
    return manifest
