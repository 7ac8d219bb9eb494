# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Random damage to files of a run."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

MEASURED = ("plan.txt", "machine.json", "catalog.json", "records.jsonl")
DERIVED = ("fits.json", "report.html")
GARBAGE = (
    b"\0",
    b"\xff\xfe",
    b"{",
    b'"',
    b"\x1f\x8b",
    b"[" * 1000,
    b"9" * 400,
    b"NaN",
    "\u202e".encode(),
    b"\r",
)


def mutated(run: Path, rng: random.Random) -> str:
    """Damage one file of the folder `run`; returns a description of the damage."""
    name = rng.choice([*MEASURED * 3, *DERIVED])
    path = run / name
    how = rng.choice(list(KINDS))
    KINDS[how](path, rng)
    return f"{how} of {name}"


def _bit(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def _lines(
    change: Callable[[list[bytes], int, random.Random], None],
) -> Callable[[Path, random.Random], None]:
    def act(path: Path, rng: random.Random) -> None:
        lines = path.read_bytes().splitlines(keepends=True)
        change(lines, rng.randrange(len(lines)), rng)
        path.write_bytes(b"".join(lines))

    return act


def _remove(lines: list[bytes], at: int, rng: random.Random) -> None:
    del lines[at]


def _repeat(lines: list[bytes], at: int, rng: random.Random) -> None:
    lines.insert(at, lines[at])


def _move(lines: list[bytes], at: int, rng: random.Random) -> None:
    lines.insert(rng.randrange(len(lines)), lines.pop(at))


def _head(lines: list[bytes], at: int, rng: random.Random) -> None:
    del lines[at:]


def _cut(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data))])


def _insert(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    at = rng.randrange(len(data) + 1)
    path.write_bytes(data[:at] + rng.choice(GARBAGE) + data[at:])


def _digit(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    digits = [k for k, byte in enumerate(data) if chr(byte).isdecimal()]
    at = rng.choice(digits)
    data[at] = ord(rng.choice([c for c in "0123456789" if ord(c) != data[at]]))
    path.write_bytes(data)


def _replace(path: Path, rng: random.Random) -> None:
    path.unlink()
    kind = rng.randrange(6)
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        path.symlink_to(path.name)
    elif kind == 3:
        path.symlink_to("/dev/zero")
    elif kind == 4:
        path.write_bytes(b"")


KINDS: dict[str, Callable[[Path, random.Random], None]] = {
    "a bit": _bit,
    "a digit": _digit,
    "a line removed": _lines(_remove),
    "a line repeated": _lines(_repeat),
    "a line moved": _lines(_move),
    "the first lines": _lines(_head),
    "a part": _cut,
    "garbage": _insert,
    "another kind": _replace,
}
