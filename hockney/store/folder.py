# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run folder: made once, appended to, read by every later step."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeVar

import msgspec

from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.fit import Fits
from hockney.core.machine import Machine
from hockney.core.record import SCHEMA
from hockney.core.survey_reference import Surveyed
from hockney.store.appender import Appender
from hockney.store.fs_errors import unreadable, unwritable
from hockney.store.plan import Plan, parse_plan
from hockney.store.record_reader import Reading, read_lines
from hockney.system.files import write_atomically

T = TypeVar("T", Machine, Fits, Surveyed)


def default_path(study: str, now: datetime | None = None, parent: Path = Path("runs")) -> Path:
    """runs/STUDY-20260131T093000Z, with -2, -3 ... where that is taken."""
    stamp = (now or datetime.now(timezone.utc)).strftime("%Y%m%dT%H%M%SZ")
    path = parent / f"{study}-{stamp}"
    count = 2
    while path.exists():
        path = parent / f"{study}-{stamp}-{count}"
        count += 1
    return path


@dataclass(frozen=True)
class RunFolder:
    path: Path

    @staticmethod
    def create(path: Path, plan: Plan, machine: Machine, surveyed: Surveyed | None = None) -> RunFolder:
        """A new folder, or an empty one that is there already. `plan.txt` comes last: a folder that has
        one is a run."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise UsageError(
                    f"{path} is not empty", "a run needs a folder of its own", "name a new one with --out"
                )
        except FileExistsError as error:
            raise UsageError(
                f"{path} is not a folder", "a run is kept in a folder", "name a new one with --out"
            ) from error
        except OSError as error:
            raise unwritable(path, error) from error
        folder = RunFolder(path)
        folder._replace(folder.machine_path, _pretty(machine))
        if surveyed is not None:
            folder._replace(folder.survey_path, _pretty(surveyed))
        folder._replace(folder.plan_path, plan.text.encode())
        return folder

    @staticmethod
    def open(path: Path) -> RunFolder:
        folder = RunFolder(path)
        try:
            if not path.exists():
                raise UsageError(
                    f"there is no run folder {path}", "", "'ls runs' shows those in the default place"
                )
            if not folder.plan_path.is_file():
                raise UsageError(
                    f"{path} is not a run folder",
                    "it has no plan.txt",
                    "name a folder made by 'hockney survey' or 'hockney run'",
                )
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise UsageError(
                f"cannot look into {path}", str(error), "check the name and its permissions"
            ) from error
        return folder

    @property
    def plan_path(self) -> Path:
        return self.path / "plan.txt"

    @property
    def machine_path(self) -> Path:
        return self.path / "machine.json"

    @property
    def survey_path(self) -> Path:
        return self.path / "survey.json"

    @property
    def records_path(self) -> Path:
        return self.path / "records.jsonl"

    @property
    def fits_path(self) -> Path:
        return self.path / "fits.json"

    @property
    def report_path(self) -> Path:
        return self.path / "report.html"

    def plan(self) -> Plan:
        try:
            text = self.plan_path.read_text("utf-8", errors="strict")
        except (OSError, UnicodeDecodeError) as error:
            raise self._unreadable(self.plan_path, error) from error
        return parse_plan(text, str(self.plan_path))

    def machine(self) -> Machine:
        return self._load(self.machine_path, Machine)

    def surveyed(self) -> Surveyed | None:
        """The survey whose parameters the run's study uses; None where it uses its own."""
        return self._load(self.survey_path, Surveyed) if self.survey_path.exists() else None

    def read(self) -> Reading:
        return read_lines(self.records_path)

    def append(self) -> Appender:
        return Appender(self.records_path)

    def fits(self) -> Fits | None:
        """The saved fits; None when there are none, or older than the records they came from."""
        with contextlib.suppress(OSError):
            if self.fits_path.stat().st_mtime_ns >= self.records_path.stat().st_mtime_ns:
                return self._load(self.fits_path, Fits)
        return None

    def save_fits(self, fits: Fits) -> None:
        self._replace(self.fits_path, _pretty(fits))

    def _load(self, path: Path, kind: type[T]) -> T:
        try:
            loaded = msgspec.json.decode(path.read_bytes(), type=kind)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._unreadable(path, error) from error
        if loaded.schema > SCHEMA:
            raise EnvironmentProblem(
                f"{path} has schema {loaded.schema}",
                f"this hockney reads up to {SCHEMA}",
                "use a newer hockney",
            )
        return loaded

    def _unreadable(self, path: Path, error: Exception) -> EnvironmentProblem:
        if isinstance(error, OSError):
            return unreadable(path, error)
        return EnvironmentProblem(
            f"cannot read {path}", printable(str(error)), "was it edited? measure again"
        )

    def _replace(self, path: Path, data: bytes) -> None:
        try:
            write_atomically(path, data)
        except OSError as error:
            raise unwritable(path, error) from error


def _pretty(value: Machine | Fits | Surveyed) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
