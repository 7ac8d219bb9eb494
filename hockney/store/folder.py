# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run folder: created once, appended to, read by every later step."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from hockney.core.catalog import Catalog
from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.fit import Fits, UsedSurvey
from hockney.core.machine import Machine
from hockney.core.paths import PLAN
from hockney.core.record import SCHEMA
from hockney.store import messages
from hockney.store.appender import Appender
from hockney.store.checksums import PlanSums, checksum, plan_sums, sealed_plan
from hockney.store.plan import Plan, parse_plan
from hockney.store.record_reader import Reading, read_lines, refuse_inconsistent
from hockney.system.files import create_folder, point_to, read_regular, write_atomically

_SEAL = re.compile(rb',\n "seal": "([0-9a-f]{64})"\n}\n\Z')
_END = b"\n}\n"

Seal = Callable[[bytes], str]
"""Returns the seal for the text of `fits.json` without one; "" for no seal.

The seal tells hockney which fits it may reuse. It is not part of the fits; `measurement/run_results.py`
decides how it is computed.
"""


def no_seal(text: bytes) -> str:
    return ""


MOST_NAMES = 1000
"""Names tried one after another if many runs begin in the same second."""

LATEST = "latest"
"""Symbolic link to the newest run in the default folder."""

T = TypeVar("T", Machine, UsedSurvey, Catalog)
Made = TypeVar("Made")


def default_path(study: str, now: datetime | None = None, parent: Path = Path("runs")) -> Path:
    """Return the path of a new run: runs/STUDY-20260131T093000Z, with -2, -3 ... if it exists."""
    stamp = (now or datetime.now(timezone.utc)).strftime("%Y%m%dT%H%M%SZ")
    path = parent / f"{study}-{stamp}"
    count = 2
    while path.exists():
        path = parent / f"{study}-{stamp}-{count}"
        count += 1
    return path


def create_unnamed(study: str, create: Callable[[Path], Made]) -> Made:
    """Call `create` with an unused path in the default folder, and return its result. `create` raises
    UsageError if another process has just used that path."""
    for _ in range(MOST_NAMES):
        with contextlib.suppress(UsageError):
            return create(default_path(study))
    return create(default_path(study))


def refuse_taken(path: Path) -> None:
    """Raise UsageError if a new run cannot be created there, like `RunFolder.create`."""
    if path.is_dir():
        if any(path.iterdir()):
            raise messages.folder_not_empty(path)
    elif path.exists():
        raise messages.not_a_folder(path)


@dataclass(frozen=True)
class RunFolder:
    path: Path

    @staticmethod
    def create(
        path: Path,
        plan: Plan,
        machine: Machine,
        surveyed: UsedSurvey | None = None,
        catalog: Catalog | None = None,
    ) -> RunFolder:
        """Create a run folder atomically (one concurrent creator wins); `path` may be an empty folder. Writes
        an empty records file, so a missing one means lost records. Stores only the catalog entries that the
        plan uses.

        Raises UsageError if the folder is not empty, EnvironmentProblem if it cannot be written.
        """
        files = _files(plan, machine, surveyed, catalog)
        try:
            create_folder(path, {"records.jsonl": b"", **files})
        except FileExistsError as error:
            describe_problem = messages.folder_not_empty if path.is_dir() else messages.not_a_folder
            raise describe_problem(path) from error
        except OSError as error:
            raise messages.not_writable(path, error) from error
        return RunFolder(path)

    @staticmethod
    def create_new(
        study: str,
        plan: Plan,
        machine: Machine,
        surveyed: UsedSurvey | None = None,
        catalog: Catalog | None = None,
    ) -> RunFolder:
        """Create a folder in the default folder, under an unused name, and let `LATEST` point to it."""
        folder = create_unnamed(study, lambda path: RunFolder.create(path, plan, machine, surveyed, catalog))
        point_to(folder.path.with_name(LATEST), folder.path.name)
        return folder

    def replace_plan(
        self, plan: Plan, machine: Machine, surveyed: UsedSurvey | None, catalog: Catalog
    ) -> None:
        """Replace the plan of a run without records. The plan is written last, so that it does not match the
        other files if this process is killed."""
        for name, data in _files(plan, machine, surveyed, catalog).items():
            self._replace(self.path / name, data)
        self.__dict__.pop("_plan_text", None)

    @staticmethod
    def open(path: Path) -> RunFolder:
        folder = RunFolder(path)
        try:
            if not path.exists():
                raise UsageError(
                    f"there is no run folder {path}",
                    "",
                    "'ls runs' lists the runs in the default location",
                    code="no-run-folder",
                    path=str(path),
                )
            if not folder.plan_path.is_file():
                pair = (path / "a" / "plan.txt").is_file() and (path / "b" / "plan.txt").is_file()
                raise (
                    UsageError(
                        f"{path} is an interleaved comparison, not a run",
                        "it has two runs, a and b",
                        f"give a single run, such as {path / 'a'}, or use 'hockney compare {path}'",
                        code="two-runs",
                        path=str(path),
                    )
                    if pair
                    else UsageError(
                        f"{path} is not a run folder",
                        "it has no plan.txt",
                        "give a folder made by 'hockney survey' or 'hockney run'",
                        code="not-a-run-folder",
                        path=str(path),
                    )
                )
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise UsageError(
                f"cannot open {path}",
                str(error),
                "check the name and its permissions",
                code="run-folder-not-accessible",
            ) from error
        return folder

    @property
    def plan_path(self) -> Path:
        return self.path / PLAN

    @property
    def machine_path(self) -> Path:
        return self.path / "machine.json"

    @property
    def survey_path(self) -> Path:
        return self.path / "survey.json"

    @property
    def catalog_path(self) -> Path:
        return self.path / "catalog.json"

    @property
    def records_path(self) -> Path:
        return self.path / "records.jsonl"

    @property
    def fits_path(self) -> Path:
        return self.path / "fits.json"

    @property
    def report_path(self) -> Path:
        return self.path / "report.html"

    @property
    def job_files(self) -> tuple[Path, ...]:
        """Files of a batch job that measures the run: its description, its script, and its output."""
        return self.path / "job.json", self.path / "job.sh", *self.path.glob("job-*.log")

    @property
    def derived_files(self) -> tuple[Path, ...]:
        """Files that are derived from the others, and have no checksums."""
        return self.fits_path, self.report_path

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that hockney writes there."""
        written = (self.plan_path, self.machine_path, self.survey_path, self.catalog_path)
        shares = self.path.glob("records-*of*.jsonl")
        return (*written, self.records_path, *shares, *self.derived_files, *self.job_files)

    def plan(self) -> Plan:
        plan = parse_plan(self._plan_text, str(self.plan_path))
        if not self.sums.matches:
            raise messages.file_changed(str(self.plan_path))
        return plan

    @property
    def sums(self) -> PlanSums:
        """Checksums of the plan, to which the first line of the records refers, and of the files written with
        it."""
        return plan_sums(self._plan_text)

    @cached_property
    def _plan_text(self) -> str:
        """Text of the plan, read once: a plan does not change, except by `replace_plan`."""
        try:
            return read_regular(self.plan_path).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise self._unreadable(self.plan_path, error) from error

    def machine(self) -> Machine:
        return self._load(self.machine_path, Machine)

    def surveyed(self) -> UsedSurvey | None:
        """Return the survey with the parameters that the run's study uses; None if the study uses its own
        measurements."""
        return self._load(self.survey_path, UsedSurvey) if self.has(self.survey_path) else None

    def has(self, path: Path) -> bool:
        """Return whether the run has this file, or should have it; in the latter case, reading it reports the
        problem."""
        return path.exists() or path.name in self.sums.files

    def catalog(self) -> Catalog | None:
        """Return the entries of the run's workloads; None if they were not stored."""
        return self._load(self.catalog_path, Catalog) if self.has(self.catalog_path) else None

    def read(self) -> Reading:
        """Read the records. Raises EnvironmentProblem if they are damaged or do not belong to the plan."""
        reading = read_lines(self.records_path, self.sums.checksum)
        refuse_inconsistent(reading, RunFolder.plan(self), self.records_path)
        if reading.checksum_problem is not None:
            raise reading.checksum_problem
        return reading

    def append(self) -> Appender:
        return Appender(self.records_path, self.sums.checksum)

    def save_fits(self, fits: Fits, seal: Seal = no_seal) -> None:
        self._replace(self.fits_path, fits_text(fits, seal))

    def sealed_fits(self, matches: Callable[[bytes, str], bool]) -> Fits | None:
        """Return the fits in `fits.json` if their seal `matches` the text."""
        with contextlib.suppress(OSError):
            return sealed_fits(read_regular(self.fits_path), matches)
        return None

    def _load(self, path: Path, kind: type[T]) -> T:
        try:
            data = read_regular(path)
            loaded = msgspec.json.decode(data, type=kind)
        except (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise self._unreadable(path, error) from error
        if loaded.schema > SCHEMA:
            raise messages.newer_file(str(path), loaded.schema, SCHEMA)
        if self.sums.files.get(path.name) != checksum(data):
            raise messages.file_changed(str(path))
        return loaded

    def _unreadable(self, path: Path, error: Exception) -> EnvironmentProblem:
        if isinstance(error, OSError):
            return messages.not_readable(path, error)
        return EnvironmentProblem(
            f"cannot read {path}", printable(str(error)), messages.EDITED, code="file-damaged", path=str(path)
        )

    def _replace(self, path: Path, data: bytes) -> None:
        try:
            write_atomically(path, data)
        except OSError as error:
            raise messages.not_writable(path, error) from error


def _files(
    plan: Plan, machine: Machine, surveyed: UsedSurvey | None, catalog: Catalog | None
) -> dict[str, bytes]:
    """Return the files of a run without records. The plan comes last and contains the checksums of the
    others."""
    files = {"machine.json": _pretty(machine)}
    if surveyed is not None:
        files["survey.json"] = _pretty(surveyed)
    if catalog is not None:
        files["catalog.json"] = _pretty(catalog.restricted_to(case.workload for case in plan.cases))
    return {**files, PLAN: sealed_plan(plan.text, files).encode()}


def _pretty(value: Machine | UsedSurvey | Catalog) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def fits_text(fits: Fits, seal: Seal = no_seal) -> bytes:
    text = msgspec.json.format(msgspec.json.encode(fits), indent=1) + b"\n"
    digest = seal(text)
    return text.removesuffix(_END) + f',\n "seal": "{digest}"\n}}\n'.encode() if digest else text


def sealed_fits(data: bytes, matches: Callable[[bytes, str], bool]) -> Fits | None:
    """Return the fits in a text if its seal `matches` the text without the seal; None otherwise."""
    match = _SEAL.search(data)
    if match is None or not matches(data[: match.start()] + _END, match[1].decode()):
        return None
    try:
        return msgspec.json.decode(data, type=Fits)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
