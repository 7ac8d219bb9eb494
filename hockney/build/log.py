# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A build's log: all output of its tools, and the line that explains a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hockney import process
from hockney.core.errors import EnvironmentProblem

SILENCE_SECONDS = 600.0


class BuildFailed(EnvironmentProblem):
    """`log` is the whole log, `tail` its last lines."""

    def __init__(
        self,
        what: str,
        why: str = "",
        remedy: str = "",
        *,
        code: str,
        log: Path,
        tail: Sequence[str] = (),
        **fields: object,
    ) -> None:
        super().__init__(what, why, remedy, code=code, **fields)
        self.log = log
        self.tail = tuple(tail)


def logged(
    words: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    on_line: Callable[[str], None] = lambda _: None,
) -> int:
    """Run `words`, append their output to `log` and pass each line to `on_line`; returns the exit code.

    Output is in English, as `disk_full` and `first_error` require. The working folder is the log's, since
    CMake's trials of SimGrid leave a file in the current folder.
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
                on_line(line.text)
        except process.Quiet:
            file.write(f"ended after {SILENCE_SECONDS:g} s of silence\n")
            return job.end()
        code = job.wait(SILENCE_SECONDS)
        return job.end() if code is None else code


def log_lines(log: Path) -> list[str]:
    """The log's lines that are not blank."""
    return [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]


def disk_full(lines: Sequence[str]) -> bool:
    return any("No space left on device" in line or "Disk quota exceeded" in line for line in lines)


def first_error(lines: Sequence[str]) -> str:
    """The first error of compiler or linker, and the end of the log."""
    errors = [
        line
        for line in lines
        if ": error:" in line or "fatal error:" in line or "undefined reference" in line
    ]
    output = [line for line in lines if not line.startswith(("$", "--", "[", "ninja:", "|", "cc1plus"))]
    return " | ".join(dict.fromkeys([*errors[:1], *output[-3:]]))
