# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A build's log: everything its tools say is kept, and the one line of it that matters is found again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hockney import process
from hockney.core.errors import EnvironmentProblem

SILENCE_SECONDS = 600.0


class BuildFailed(EnvironmentProblem):
    """`log` is the whole log, `tail` its last lines."""

    def __init__(self, what: str, why: str, todo: str, log: Path, tail: tuple[str, ...]) -> None:
        super().__init__(what, why, todo)
        self.log = log
        self.tail = tail


def logged(
    words: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    hear: Callable[[str], None] = lambda _: None,
) -> int:
    """Run `words`, append all they say to `log` and tell each line; the exit code.

    In English, which `disk_full` and `first_error` understand; beside the log, since CMake's trials of
    SimGrid leave a file where they are.
    """
    with (
        log.open("a", errors="replace") as file,
        process.stream(words, env={**environment, "LC_ALL": "C"}, cwd=log.parent) as job,
    ):
        file.write(f"$ {' '.join(words)}\n")
        try:
            while (line := job.line(SILENCE_SECONDS)) is not None:
                file.write(line.text + "\n")
                file.flush()
                hear(line.text)
        except process.Quiet:
            file.write(f"ended after {SILENCE_SECONDS:g} s of silence\n")
            return job.end()
        code = job.wait(SILENCE_SECONDS)
        return job.end() if code is None else code


def spoken(log: Path) -> list[str]:
    """The log's lines that are not blank."""
    return [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]


def disk_full(lines: Sequence[str]) -> bool:
    return any("No space left on device" in line or "Disk quota exceeded" in line for line in lines)


def first_error(lines: Sequence[str]) -> str:
    """The first error of compiler or linker, and how the log ends."""
    errors = [
        line
        for line in lines
        if ": error:" in line or "fatal error:" in line or "undefined reference" in line
    ]
    shown = [line for line in lines if not line.startswith(("$", "--", "[", "ninja:", "|", "cc1plus"))]
    return " | ".join(dict.fromkeys([*errors[:1], *shown[-3:]]))
