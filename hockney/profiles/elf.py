# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reads how an ELF file is linked, and which symbols it binds or exports.

Only the required tables are read, and a damaged file is treated as one without tables. The layout is that of
the System V ABI, chapters 4 and 5, 64-bit and little-endian, as on all processors that have wrappers."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

IDENTIFICATION = b"\x7fELF\2\1"
"""The first bytes of a 64-bit, little-endian ELF file."""
PT_INTERP = 3
SHT_SYMTAB, SHT_DYNSYM = 2, 11
STT_FUNC, STT_GNU_IFUNC = 2, 10
UNDEFINED = 0
MPI_SYMBOL = re.compile(rb"P?MPIX?_\w+|p?mpix?_[a-z0-9_]+")
"""A function of MPI, in C or as compilers for Fortran name it."""

_HEADER = np.dtype([("ident", "V32"), ("phoff", "<u8"), ("shoff", "<u8"), ("flags", "V8"), ("phnum", "<u2"),
                    ("shentsize", "<u2"), ("shnum", "<u2"), ("shstrndx", "<u2")])  # fmt: skip
_PROGRAM = np.dtype([("type", "<u4"), ("flags", "<u4"), ("offset", "<u8"), ("addresses", "V16"),
                     ("size", "<u8"), ("rest", "V16")])  # fmt: skip
_SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("flags", "V16"), ("offset", "<u8"), ("size", "<u8"),
                     ("link", "<u4"), ("rest", "V20")])  # fmt: skip
_SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"),
                    ("size", "<u8")])  # fmt: skip


@dataclass(frozen=True)
class Elf:
    """`interpreter` is the loader of a dynamically linked program, "" if it has none. `bound` are the MPI
    symbols that it imports, `exported` the functions that it exports, `static_symbols` the MPI symbols that
    are linked into it statically."""

    interpreter: str
    bound: tuple[str, ...] = ()
    exported: tuple[str, ...] = ()
    static_symbols: tuple[str, ...] = ()
    loads_at_run_time: bool = False
    """Whether it calls dlopen."""


def read_elf(path: Path) -> Elf | None:
    """Read the MPI symbols of a file; None if it is not an ELF file or cannot be read."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _read(data) if data[:6] == IDENTIFICATION else None
    except (OSError, ValueError, IndexError):  # ValueError: an empty file, or one that is cut off
        return None


def covered_addresses(path: Path, addresses: Sequence[int]) -> frozenset[int]:
    """The addresses inside of functions for which the file contains a symbol with a size."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[:6] != IDENTIFICATION:
                return frozenset()
            sections = _sections(data)
            tables = sections[np.isin(sections["type"], (SHT_DYNSYM, SHT_SYMTAB))]
            return frozenset().union(
                *(_addresses_in_symbols(_symbols(data, table), addresses) for table in tables)
            )
    except (OSError, ValueError, IndexError):
        return frozenset()


def _addresses_in_symbols(symbols: np.ndarray, addresses: Sequence[int]) -> set[int]:
    kept = symbols[_is_code(symbols) & (symbols["section"] != UNDEFINED) & (symbols["size"] > 0)]
    order = np.argsort(kept["value"], kind="stable")
    begins = kept["value"][order]
    # Symbols may be nested: the furthest end of those that begin before an address decides.
    ends = np.maximum.accumulate(begins + kept["size"][order])
    before = np.searchsorted(begins, np.array(addresses, np.uint64), side="right")
    return {
        address
        for address, k in zip(addresses, before.tolist(), strict=True)
        if k and address < int(ends[k - 1])
    }


def _is_code(symbols: np.ndarray) -> np.ndarray:
    return np.isin(symbols["info"] & 0xF, (STT_FUNC, STT_GNU_IFUNC))


def _rows(data: mmap.mmap, dtype: np.dtype[np.void], offset: int, count: int) -> np.ndarray:
    """A copy, so that the file can be closed."""
    return np.frombuffer(data[offset : offset + count * dtype.itemsize], dtype, count)


def _sections(data: mmap.mmap) -> np.ndarray:
    (header,) = _rows(data, _HEADER, 0, 1)
    return _rows(data, _SECTION, int(header["shoff"]), int(header["shnum"]) if header["shoff"] else 0)


def _symbols(data: mmap.mmap, table: np.void) -> np.ndarray:
    """The symbols of a table that the file contains completely."""
    offset, size = int(table["offset"]), int(table["size"])
    return _rows(data, _SYMBOL, offset, max(0, min(size, len(data) - offset)) // _SYMBOL.itemsize)


def _read(data: mmap.mmap) -> Elf:
    (header,) = _rows(data, _HEADER, 0, 1)
    interpreter = ""
    for segment in _rows(data, _PROGRAM, int(header["phoff"]), int(header["phnum"])):
        if segment["type"] == PT_INTERP:
            begin = int(segment["offset"])
            content = data[begin : begin + int(segment["size"])]
            interpreter = content.rstrip(b"\0").decode(errors="replace")
    bound: set[str] = set()
    exported: set[str] = set()
    static_symbols: set[str] = set()
    loads = False
    sections = _sections(data)
    for section in sections:
        if section["type"] not in (SHT_DYNSYM, SHT_SYMTAB) or section["link"] >= len(sections):
            continue
        strings = sections[section["link"]]
        names = data[int(strings["offset"]) : int(strings["offset"]) + int(strings["size"])]
        if section["type"] == SHT_DYNSYM:
            loads = loads or b"\0dlopen\0" in names
        if not any(start in names for start in (b"MPI_", b"mpi_", b"MPIX_", b"mpix_")):
            continue
        for name, defined, is_code in _mpi_symbols(_symbols(data, section), names):
            if not defined:
                bound.add(name)
            elif section["type"] == SHT_SYMTAB:
                static_symbols.add(name)
            elif is_code:
                exported.add(name)
    of_kind = [tuple(sorted(each)) for each in (bound, exported, static_symbols)]
    return Elf(interpreter, of_kind[0], of_kind[1], of_kind[2], loads)


def _mpi_symbols(symbols: np.ndarray, names: bytes) -> Iterator[tuple[str, bool, bool]]:
    """The MPI symbols, each with two flags: whether this file defines it, and whether it is a function."""
    is_defined = symbols["section"] != UNDEFINED
    columns = (symbols["name"], is_defined, _is_code(symbols))
    for start, defined, is_code in zip(*(column.tolist() for column in columns), strict=True):
        match = MPI_SYMBOL.match(names, start)
        if match is not None and names[match.end() : match.end() + 1] in (b"\0", b"@"):
            yield match[0].decode(), defined, is_code
