# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What an ELF file says about itself: how it is linked, and the symbols that it binds or exports.

Only the tables that are needed are read, and a damaged file is treated as one without them. The layout is
that of the System V ABI, chapters 4 and 5."""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MAGIC = b"\x7fELF"
PT_DYNAMIC, PT_INTERP = 2, 3
SHT_SYMTAB, SHT_DYNSYM = 2, 11
STT_FUNC, STT_GNU_IFUNC = 2, 10
UNDEFINED = 0
MPI_SYMBOL = re.compile(rb"P?MPIX?_\w+|p?mpix?_[a-z0-9_]+")
"""A function of MPI, in C or as compilers for Fortran name it."""


@dataclass(frozen=True)
class Elf:
    """`interpreter` is the loader of a dynamically linked program, "" if it has none; `dynamic` whether
    anything is linked to it at run time. `bound` are the symbols of MPI that it takes from elsewhere,
    `exported` the functions that others may take from it, `contained` the symbols that are linked into it
    statically."""

    interpreter: str
    dynamic: bool
    bound: tuple[str, ...] = ()
    exported: tuple[str, ...] = ()
    contained: tuple[str, ...] = ()
    loads_at_run_time: bool = False
    """Whether it calls dlopen."""


@dataclass(frozen=True)
class _Layout:
    """How numbers are stored, and where the fields are that differ between 32 and 64 bits."""

    order: str
    wide: bool

    @property
    def file_header(self) -> struct.Struct:
        """From e_entry on: entry, phoff, shoff, flags, ehsize, phentsize, phnum, shentsize, shnum,
        shstrndx."""
        return struct.Struct(self.order + ("QQQ" if self.wide else "III") + "IHHHHHH")

    @property
    def program_header(self) -> struct.Struct:
        return struct.Struct(self.order + ("IIQQQQQQ" if self.wide else "IIIIIIII"))

    @property
    def section_header(self) -> struct.Struct:
        """name, type, flags, addr, offset, size, link, info, addralign, entsize."""
        return struct.Struct(self.order + ("IIQQQQIIQQ" if self.wide else "IIIIIIIIII"))

    @property
    def symbol(self) -> struct.Struct:
        return struct.Struct(self.order + ("IBBHQQ" if self.wide else "IIIBBH"))

    @property
    def symbol_fields(self) -> np.dtype[Any]:
        o = self.order
        name, info = ("name", f"{o}u4"), [("info", "u1"), ("other", "u1"), ("shndx", f"{o}u2")]
        value = [("value", f"{o}u{8 if self.wide else 4}"), ("size", f"{o}u{8 if self.wide else 4}")]
        return np.dtype([name, *info, *value] if self.wide else [name, *value, *info])


@dataclass(frozen=True)
class _Section:
    kind: int
    offset: int
    size: int
    link: int


def read_elf(path: Path) -> Elf | None:
    """None if the file is not an ELF file, or cannot be read."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[:4] != MAGIC or data[5] not in (1, 2):
                return None
            return _read(data)
    except (OSError, ValueError, struct.error, IndexError):  # ValueError: an empty file
        return None


def covered(path: Path, addresses: Sequence[int]) -> frozenset[int]:
    """Those of the addresses that are inside a function of which the file has a symbol with its size."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[:4] != MAGIC or data[5] not in (1, 2):
                return frozenset()
            layout, sections = _sections(data)
            found: set[int] = set()
            for section in sections:
                if section.kind in (SHT_DYNSYM, SHT_SYMTAB):
                    found |= _inside(data, layout, section, addresses)
            return frozenset(found)
    except (OSError, ValueError, struct.error, IndexError):
        return frozenset()


def _inside(data: mmap.mmap, layout: _Layout, section: _Section, addresses: Sequence[int]) -> set[int]:
    count = max(0, min(section.size, len(data) - section.offset)) // layout.symbol.size
    content = data[section.offset : section.offset + count * layout.symbol.size]
    symbols = np.frombuffer(content, layout.symbol_fields)
    is_code = np.isin(symbols["info"] & 0xF, (STT_FUNC, STT_GNU_IFUNC))
    kept = symbols[is_code & (symbols["shndx"] != UNDEFINED) & (symbols["size"] > 0)]
    order = np.argsort(kept["value"], kind="stable")
    begins = kept["value"][order].astype(np.uint64)
    # Symbols may be nested: the furthest end of those that begin before an address decides.
    ends = np.maximum.accumulate(begins + kept["size"][order].astype(np.uint64))
    wanted = np.array(addresses, np.uint64)
    before = np.searchsorted(begins, wanted, side="right")
    return {
        address
        for address, k in zip(addresses, before.tolist(), strict=True)
        if k and address < int(ends[k - 1])
    }


def _sections(data: mmap.mmap) -> tuple[_Layout, list[_Section]]:
    layout = _Layout("<" if data[5] == 1 else ">", data[4] == 2)
    _, _, shoff, _, _, _, _, shentsize, shnum, _ = layout.file_header.unpack_from(data, 24)
    headers = (
        layout.section_header.unpack_from(data, shoff + k * shentsize) for k in range(shnum if shoff else 0)
    )
    return layout, [_Section(fields[1], fields[4], fields[5], fields[6]) for fields in headers]


def _read(data: mmap.mmap) -> Elf:
    layout, sections = _sections(data)
    _, phoff, _, _, _, phentsize, phnum, _, _, _ = layout.file_header.unpack_from(data, 24)
    interpreter, dynamic = "", False
    for k in range(phnum):
        fields = layout.program_header.unpack_from(data, phoff + k * phentsize)
        offset, size = (fields[2], fields[5]) if layout.wide else (fields[1], fields[4])
        if fields[0] == PT_INTERP:
            interpreter = data[offset : offset + size].rstrip(b"\0").decode(errors="replace")
        dynamic = dynamic or fields[0] == PT_DYNAMIC
    bound: set[str] = set()
    exported: set[str] = set()
    contained: set[str] = set()
    loads = False
    for section in sections:
        if section.kind not in (SHT_DYNSYM, SHT_SYMTAB) or section.link >= len(sections):
            continue
        strings = sections[section.link]
        names = data[strings.offset : strings.offset + strings.size]
        if section.kind == SHT_DYNSYM:
            loads = loads or b"\0dlopen\0" in names
        if not any(start in names for start in (b"MPI_", b"mpi_", b"MPIX_", b"mpix_")):
            continue
        for name, defined, is_code in _symbols(data, layout, section, names):
            if not defined:
                bound.add(name)
            elif section.kind == SHT_SYMTAB:
                contained.add(name)
            elif is_code:
                exported.add(name)
    return Elf(
        interpreter,
        dynamic,
        tuple(sorted(bound)),
        tuple(sorted(exported)),
        tuple(sorted(contained)),
        loads,
    )


def _symbols(
    data: mmap.mmap, layout: _Layout, section: _Section, names: bytes
) -> Iterator[tuple[str, bool, bool]]:
    """The symbols of MPI in a table, each with whether it is defined there, and whether it is a function."""
    table = data[section.offset : section.offset + section.size]
    for fields in layout.symbol.iter_unpack(table[: len(table) // layout.symbol.size * layout.symbol.size]):
        start, (info, _, shndx) = fields[0], fields[1:4] if layout.wide else fields[3:6]
        match = MPI_SYMBOL.match(names, start)
        if match is not None and names[match.end() : match.end() + 1] in (b"\0", b"@"):
            yield match[0].decode(), shndx != UNDEFINED, info & 0xF in (STT_FUNC, STT_GNU_IFUNC)
