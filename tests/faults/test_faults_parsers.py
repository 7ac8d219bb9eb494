# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Randomly damaged input: every parser quickly returns a value or raises one of its documented errors.

The corpus is real input: lines of `contract/golden`, the machines that come with hockney, and the files of
`corpus`."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fault_rounds import Rounds

from hockney.core.case import parse_canonical, split_case
from hockney.core.errors import HockneyError
from hockney.core.launcher_options import parse_launcher_options
from hockney.core.units import parse_bytes, parse_counts, parse_fraction, parse_seconds, parse_sizes
from hockney.launch.reading import decode_line as decoded_engine_line
from hockney.machines.simulated.read import read as read_machine
from hockney.store.plan import parse_plan
from hockney.store.record_reader import decoded
from hockney.system.bundled import bundled_catalog

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"
CATALOG = bundled_catalog()
LONGEST_S = 20.0
"""For one input; a parser with exponential time needs minutes."""
TOKENS = (
    b"\0", b"\xff", b"\xc2\x9b", b"\xe2\x80\xae", b'"', b"'", b"=", b"==", b",", b":", b"{", b"}", b"[",
    b"]", b"#", b"\\", b"-", b"1e999", b"NaN", b"Infinity", b"-0", b"9" * 50, b"null", b"true", b"0x1",
    b"\n", b"\r", b" ", b"\t", b"." * 30, b"[" * 2000, b"a" * 5000, "١٢".encode(), "ſ".encode(), b"1_000",
)  # fmt: skip


def lines(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().splitlines() if line.strip()]


def one_of(parsers: tuple[Callable[[str], object], ...], text: str) -> None:
    """Raises the last one's error if none accepts the text."""
    problems = []
    for parse in parsers:
        try:
            parse(text)
        except HockneyError as problem:
            assert problem.code
            problems.append(problem)
    if len(problems) == len(parsers):
        raise problems[-1]


def golden() -> list[bytes]:
    return lines(ROOT / "contract" / "golden" / "records.jsonl")


def units(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    one_of((parse_bytes, parse_counts, parse_fraction, parse_seconds, parse_sizes), text)


def case(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    one_of((split_case, parse_canonical), text)
    CATALOG.case(text)


def record(data: bytes) -> None:
    decoded(data, Path("records.jsonl"), 1)


def engine_line(data: bytes) -> None:
    decoded_engine_line(data.decode("utf-8", "replace"))


def plan(data: bytes) -> None:
    parse_plan(data.decode("utf-8", "replace"), "plan.txt")


def machine(data: bytes) -> None:
    read_machine(data.decode("utf-8", "replace"))


def words(data: bytes) -> None:
    arguments, _, variables = data.decode("utf-8", "surrogateescape").partition("|")
    parse_launcher_options(arguments.strip(), tuple(variables.split()))


def machines() -> list[bytes]:
    folder = ROOT / "hockney" / "machines" / "simulated" / "machines"
    return [path.read_bytes() for path in sorted(folder.glob("*.toml"))]


TARGETS: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "units": (units, lambda: lines(CORPUS / "units.txt")),
    "case": (case, lambda: lines(CORPUS / "cases.txt")),
    "record": (record, golden),
    "engine line": (engine_line, lambda: [line for line in golden() if b'"kind":"close"' not in line]),
    "plan": (plan, lambda: [(CORPUS / "plan.txt").read_bytes()]),
    "machine file": (machine, machines),
    "launcher words": (words, lambda: lines(CORPUS / "launcher.txt")),
}


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A few changes to `data`: bits flipped, parts removed or repeated, tokens and characters inserted."""
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and data:
            at %= len(data)
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + data[at + rng.randrange(1, 20) :]
        elif kind == 2:
            end = at + rng.randrange(1, 200)
            data = data[:end] + data[at:end] * rng.choice([1, 2, 50]) + data[end:]
        elif kind == 3:
            data = data[:at] + rng.choice(TOKENS) + data[at:]
        elif kind == 4:
            data = data[:at] + rng.choice(string.printable).encode() + data[at + 1 :]
        else:
            data = data[:at]
    return data


@pytest.mark.parametrize("name", TARGETS)
def test_parsers(name: str, rng: random.Random, rounds: Rounds):
    parse, corpus = TARGETS[name]
    seeds = corpus()
    assert seeds
    for _ in rounds(200, 20_000):
        data = mutated(rng.choice(seeds), rng)
        began = time.process_time()
        try:
            parse(data)
        except HockneyError as problem:
            assert problem.code and "\n" not in str(problem), data
        assert time.process_time() - began < LONGEST_S, data


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_itself_is_accepted(name: str):
    parse, corpus = TARGETS[name]
    for data in corpus():
        parse(data)
