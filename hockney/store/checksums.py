# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Checksums (CRC-32, eight hexadecimal digits), which distinguish edits and damage from a crash.

Each line of `records.jsonl` ends in its own checksum and that of the line before: a changed line no longer
matches its checksum, and if a line was removed, added, repeated or moved, the following line refers to
another one. The first line refers to the checksum of `plan.txt`, which in turn contains those of the other
files that were written before the first launch. A crash only loses lines at the end.

They protect against accidents and careless edits, not against somebody who recomputes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from zlib import crc32

NO_CHECKSUM = "00000000"
"""Checksum before the first line of a file without a plan."""
_SEAL_BEGINS = b',"sum":"'
_SEAL = re.compile(re.escape(_SEAL_BEGINS) + rb'([0-9a-f]{8})-([0-9a-f]{8})"}\s*\Z')
SEAL_BYTES = 64
"""More than the length of a seal and the end of its line."""
_PLAN = "# checksum = "
_FILE = re.compile(r"# ([a-z]+\.json) = ([0-9a-f]{8})")


def checksum(data: bytes) -> str:
    return f"{crc32(data):08x}"


@dataclass(frozen=True)
class Seal:
    """Seal at the end of a line: its `checksum` and that of the `previous` line. `matches` tells whether the
    line matches its checksum."""

    checksum: str
    previous: str
    matches: bool


def seal_line(line: bytes, before: str) -> bytes:
    """Append a seal to `line`, a JSON object on one line."""
    own_checksum = checksum(line + before.encode())
    return line[:-1] + f',"sum":"{own_checksum}-{before}"}}'.encode()


def seal_of(raw: bytes) -> Seal | None:
    """Return the seal at the end of a line; None if it has none."""
    begin = raw.rfind(_SEAL_BEGINS)
    match = _SEAL.match(raw, begin) if begin >= 0 else None
    if match is None:
        return None
    own_checksum, before = (part.decode() for part in match.groups())
    sealed_part = crc32(b"}" + match[2], crc32(memoryview(raw)[:begin]))
    return Seal(own_checksum, before, f"{sealed_part:08x}" == own_checksum)


class Chain:
    """Follows the seals of a file's lines. The first line refers to the checksum `before`. `last` is the
    checksum of the last line."""

    def __init__(self, before: str) -> None:
        self.last = before

    def next(self, raw: bytes) -> Literal["fits", "changed", "moved"]:
        """Check the next line. "moved" means that the line is unchanged, but used to follow another line."""
        seal = seal_of(raw)
        if seal is None:
            return "changed"
        before, self.last = self.last, seal.checksum
        if not seal.matches:
            return "changed"
        return "fits" if seal.previous == before else "moved"


def checksum_at_end(tail: bytes) -> str | None:
    """Return the checksum of the last line of a file, given its last SEAL_BYTES; None if it has none."""
    match = _SEAL.search(tail)
    return match[1].decode() if match else None


def sealed_plan(text: str, files: dict[str, bytes]) -> str:
    """Return the text of a plan with the checksums of the other `files` and its own, inserted after its first
    comments."""
    sums = "".join(f"# {name} = {checksum(data)}\n" for name, data in files.items())
    head, body = _split_head(text)
    text = head + sums + body
    head, body = _split_head(text)
    return f"{head}{_PLAN}{_plan_checksum(text)}\n{body}"


@dataclass(frozen=True)
class PlanSums:
    """Checksums in the text of a plan: its own `checksum`, "" if missing, and those of other `files` by name.
    `matches` tells whether the text matches its checksum."""

    checksum: str
    files: dict[str, str]
    matches: bool


@lru_cache(maxsize=4)  # of the same text for every file that is read
def plan_sums(text: str) -> PlanSums:
    stated = (line.removeprefix(_PLAN).strip() for line in text.splitlines() if line.startswith(_PLAN))
    own_checksum = next(stated, "")
    head = _split_head(text)[0]
    in_place = head.splitlines()[-1:] == [f"{_PLAN}{own_checksum}"]  # where `sealed_plan` puts it
    matches = in_place and own_checksum == _plan_checksum(text)
    return PlanSums(own_checksum, dict(_FILE.findall(head)), matches)


def _plan_checksum(text: str) -> str:
    """Return the checksum of a plan's lines, without the line that states it. Only line feeds end lines."""
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    position = next((k for k, line in enumerate(lines) if line.startswith(_PLAN)), len(lines))
    return checksum("\n".join([*lines[:position], *lines[position + 1 :]]).encode())


def _split_head(text: str) -> tuple[str, str]:
    """Split a plan into the comments at its start and the remaining text."""
    lines = text.splitlines(keepends=True)
    count = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[:count]), "".join(lines[count:])
