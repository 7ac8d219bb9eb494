# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Pages with ```console blocks, run as one shell session and compared with the output on the page.

`$ command` lines are followed by the expected output (stdout and stderr). In it `...` matches anything,
including lines; runs of blanks count as one; and a number matches any number that is close enough.
"""

from __future__ import annotations

import math
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\d])")
MARK = "\x01"


@dataclass(frozen=True)
class Step:
    """`line` is the position of the command on its page."""

    line: int
    command: str
    expected: str


def steps(page: str) -> list[Step]:
    """Every command of the page's console blocks, in order."""
    found: list[Step] = []
    inside = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith("```"):
            inside = line.strip() == "```console"
        elif inside and line.startswith("$ "):
            found.append(Step(number, line[2:], ""))
        elif inside and found:
            last = found.pop()
            if last.command.endswith("\\") or line.startswith("> "):
                found.append(Step(last.line, f"{last.command}\n{line.removeprefix('> ')}", ""))
            else:
                found.append(Step(last.line, last.command, f"{last.expected}{line}\n"))
    return found


def run(page: list[Step], folder: Path, environment: dict[str, str], timeout: float) -> list[tuple[int, str]]:
    """Exit code and output of every step, all in one shell, so that variables persist."""
    script = "exec 2>&1\n"
    for step in page:
        script += f"{step.command}\n__code=$?; printf '\\001%d\\001' $__code; (exit $__code)\n"
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=timeout,
    )
    parts = done.stdout.split(MARK)
    assert len(parts) == 2 * len(page) + 1, done.stdout[-2000:]
    return [(int(code), out) for out, code in zip(parts[0::2], parts[1::2], strict=False)]


def matches(expected: str, seen: str, tolerance: float) -> bool:
    """Numbers may differ by `tolerance`, relative to the page's."""
    expected, seen = (_plain(text) for text in (expected, seen))
    expected = re.sub(r" *\.\.\. *", "...", expected)
    numbers: list[float] = []
    pattern, at = "", 0
    for match in re.finditer(rf"(?m:^\.\.\.\n)|\.\.\.|{NUMBER.pattern}", expected):
        pattern += re.escape(expected[at : match.start()])
        if match[0].startswith("..."):
            pattern += "(?:.*?\n)??" if match[0].endswith("\n") else ".*?"
        else:
            pattern += r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
            numbers.append(float(match[0]))
        at = match.end()
    found = re.fullmatch(pattern + re.escape(expected[at:]), seen, re.DOTALL)
    if found is None:
        return False
    near = zip(numbers, map(float, found.groups()), strict=True)
    return all(abs(theirs - mine) <= tolerance * mine or tolerance == math.inf for mine, theirs in near)


def _plain(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())
