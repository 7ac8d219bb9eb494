# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Resolves return addresses to functions, files and lines, and finds the call site among them.

Files and lines come from the program's debugging information, through the system's addr2line (GNU binutils).
Without them a call site is a symbol, or a module and an offset. Call sites of Python programs are recorded as
text."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from hockney.core.errors import HockneyError, printable
from hockney.process import capture
from hockney.profiles.elf import covered_addresses
from hockney.profiles.rank_file import RankFile, text_of

ADDR2LINE = "addr2line"
TIMEOUT_S = 60.0
_MPI_MODULE = re.compile(
    r"(lib(p?mpi|hockney|open-(rte|pal|mpi)|ompi|opal|mpich|fmpich|oshmem|mpl|ucp|uct|ucs|fabric|pmix|psm2)[^/]*"
    r"\.(so|dylib)[^/]*|mca_[^/]*\.so|mpi_(f08|ext)[^/]*)$"
)
_MPI4PY = re.compile(r"(^|/)mpi4py(/|\.)")
_PYTHON = re.compile(r"^(?P<file>.+?):(?P<line>\d+)(?: (?P<function>.*))?$")
_UNKNOWN = ("??", "")
MAX_PATH_LENGTH = 60
CHECKED_CALLS = 1024
"""The library compares the call path of every call with this number with that of the first."""
MAX_UNCHECKED_SHARE = 0.1
"""The share of a site's calls whose call paths were not compared, up to which its caller is known."""
_OPERATOR = re.compile(
    r"operator *(\(\)|\[\]|new\[\]|delete\[\]|new\b|delete\b|->\*?|<=>|<<=?|>>=?|[-+*/%^&|<>=!]=|&&|\|\||\+\+"
    r"|--|[-+*/%^&|~!=<>,])"
)
_CLONE = re.compile(r" \[clone [^]]*\]|\[abi:\w+\]")


@dataclass(frozen=True, order=True)
class Frame:
    """A return address. `function` and `file` are "" and `line` is 0 if unknown. `module` is the path of the
    program or library, `offset` an address in it."""

    function: str = ""
    file: str = ""
    line: int = 0
    module: str = ""
    offset: int = 0

    @property
    def of_mpi(self) -> bool:
        """Whether the frame belongs to an MPI library, to a wrapper of it, or to hockney."""
        return bool(_MPI_MODULE.search(Path(self.module).name) or _MPI4PY.search(self.module))

    @property
    def place(self) -> str:
        """ "solver.c:120", or a less specific location."""
        if self.file:
            return f"{Path(self.file).name}:{self.line}" if self.line else Path(self.file).name
        if self.function:
            return self.name
        name = Path(self.module).name or "unknown"
        return f"{name}+{self.offset:#x}" if self.module or self.offset else "unknown"

    @property
    def text(self) -> str:
        """ "solver.c:120 solve"."""
        return f"{self.place} {self.name}" if self.file and self.function else self.place

    @property
    def full_text(self) -> str:
        """The text with the function's template arguments and parameters."""
        if not self.function:
            return self.place
        return f"{self.place} {self.function}" if self.file else self.function

    @property
    def name(self) -> str:
        """The function without template arguments, parameters and return type. Python functions are
        unchanged."""
        return short_name(self.function) if self.module else self.function


@dataclass(frozen=True)
class CallSite:
    """The innermost frame outside of MPI, and its callers, innermost first. `callers` belong to one of the
    call paths to the site. An `ambiguous` site also counts calls from other places."""

    frame: Frame
    callers: tuple[Frame, ...] = ()
    ambiguous: bool = False
    mixed: bool = False
    """Whether there are calls of other call paths among them; an ambiguous site is mixed too."""
    caller: Frame | None = None
    """The only place from which the function is called, if that is known and in another file: then the
    function is probably a wrapper of MPI."""

    @property
    def place(self) -> str:
        return self.frame.place

    @property
    def text(self) -> str:
        text = self.frame.text if self.caller is None else f"{self.place} from {self.caller.place}"
        return text if len(text) <= MAX_PATH_LENGTH else text[: MAX_PATH_LENGTH - 3] + "..."

    @property
    def path_text(self) -> str:
        """The call path: "solver.c:120 solve < main.c:30 main"."""
        return " < ".join(frame.full_text for frame in (self.frame, *self.callers))

    @property
    def identity(self) -> str:
        """A text that stays equal in another version of the program if only line numbers changed."""
        frame = self.frame
        if frame.function:
            return f"{Path(frame.file).name}:{frame.function}" if frame.file else frame.function
        return Path(frame.file).name if frame.file else frame.place


NOWHERE = CallSite(Frame())
"""The call site of calls that have none."""


def short_name(function: str) -> str:
    """ "miniFE::dot" of "double miniFE::dot<Vector<double> >(Vector<double> const&)"."""
    text = _CLONE.sub("", function).replace("(anonymous namespace)::", "")
    if not any(character in text for character in "<( "):
        return text
    kept, depth, at = "", 0, 0
    while at < len(text):
        of_operator = _OPERATOR.match(text, at) if not re.search(r"\w$", text[:at]) else None
        if of_operator is not None:
            kept += of_operator[0] if depth == 0 else ""
            at = of_operator.end()
            continue
        character = text[at]
        if character in "<({":
            kept += "{lambda}" if depth == 0 and text.startswith("{lambda", at) else ""
            depth += 1
        elif character in ">)}":
            depth -= 1
        elif depth == 0:
            kept += character
        at += 1
    kept = re.sub(r"( (const|volatile|noexcept|&|&&))+$", "", kept.rstrip())
    conversion = kept.find("operator ")
    start = kept.rfind(" ", 0, conversion if conversion >= 0 else len(kept)) + 1
    return kept[start:] if depth == 0 and kept[start:] else function


def python_frame(text: str) -> Frame:
    """Parse the frame "FILE:LINE FUNCTION"."""
    match = _PYTHON.match(text)
    if match is None:
        return Frame(function=text)
    function = match["function"] or ""
    return Frame("" if function == "<module>" else function, match["file"], int(match["line"]))


def call_sites(files: Sequence[RankFile]) -> tuple[tuple[CallSite, ...], tuple[Mapping[int, int], ...]]:
    """All distinct call sites of a launch. Also returns, for each file, the index of the site with each
    number."""
    located = [_locate_frames(each) for each in files]
    wanted: dict[str, set[int]] = {}
    for rows in located:
        for row in rows:
            for module, offset in row.frames:
                if module and not Frame(module=module).of_mpi:
                    wanted.setdefault(module, set()).add(offset)
    frames: dict[tuple[str, int], Frame] = {}
    for module, offsets in wanted.items():
        frames.update(_symbols(module, sorted(offsets)))
    by_frame: dict[Frame, int] = {NOWHERE.frame: 0}
    sites = [NOWHERE]
    origins: list[_Origins] = [_Origins()]
    indices = []
    for file, rows in zip(files, located, strict=True):
        calls = _call_counts(file)
        index_of = {0: 0}
        for row in rows:
            site = _site(row, frames)
            if site.frame not in by_frame:
                by_frame[site.frame] = len(sites)
                sites.append(site)
                origins.append(_Origins())
            index_of[row.number] = by_frame[site.frame]
            origins[by_frame[site.frame]].add(site, calls.get(row.number, 0))
        indices.append(index_of)
    merged = tuple(
        replace(site, ambiguous=of.ambiguous, mixed=of.mixed, caller=of.caller(site))
        for site, of in zip(sites, origins, strict=True)
    )
    return (NOWHERE, *merged[1:]), tuple(indices)


def _call_counts(file: RankFile) -> dict[int, int]:
    """The number of calls of each site."""
    calls: dict[int, int] = {}
    for site, count in zip(file.entries["site"].tolist(), file.entries["calls"].tolist(), strict=True):
        calls[site] = calls.get(site, 0) + count
    return calls


@dataclass
class _Origins:
    """The call paths of a site, merged from all of its records."""

    ambiguous: bool = False
    seen_mixed: bool = False
    paths: set[tuple[Frame, ...]] = field(default_factory=set)
    calls: int = 0
    unchecked: int = 0

    @property
    def mixed(self) -> bool:
        return self.seen_mixed or len(self.paths) > 1

    def add(self, site: CallSite, calls: int) -> None:
        self.ambiguous = self.ambiguous or site.ambiguous
        self.seen_mixed = self.seen_mixed or site.mixed
        self.paths.add(site.callers)
        self.calls += calls
        self.unchecked += calls if calls < CHECKED_CALLS else 0

    def caller(self, site: CallSite) -> Frame | None:
        """The only caller of the site, or None. Two calls from different lines of one function have the same
        stack, so the caller is known only if call paths were compared."""
        callers = {path[0] if path else NOWHERE.frame for path in self.paths}
        if self.seen_mixed or len(callers) != 1 or self.unchecked > MAX_UNCHECKED_SHARE * self.calls:
            return None
        (caller,) = callers
        if not caller.line or not self.calls or "main" in (caller.function, site.frame.function):
            return None  # the system's library calls main
        return caller if site.frame.line and caller.file != site.frame.file else None


@dataclass(frozen=True)
class _RawCallSite:
    """The frames of a site as modules and offsets, innermost first."""

    number: int
    frames: tuple[tuple[str, int], ...]
    python: str
    ambiguous: bool


def _locate_frames(file: RankFile) -> list[_RawCallSite]:
    modules = np.sort(file.modules, order="begin")
    paths = [text_of(path) for path in modules["path"]]
    addresses = file.sites["frame"]
    module_indices = np.searchsorted(modules["begin"], addresses, side="right") - 1
    rows = []
    for row, site in enumerate(file.sites):
        frames = []
        for address, module in zip(
            addresses[row, : int(site["frames"])].tolist(), module_indices[row].tolist(), strict=False
        ):
            if module >= 0 and address < int(modules["end"][module]):
                frames.append((paths[module], address - int(modules["bias"][module])))
            elif address:
                frames.append(("", address))
        python = text_of(site["python"])
        rows.append(_RawCallSite(int(site["id"]), tuple(frames), python, bool(site["ambiguous"])))
    return rows


def _site(row: _RawCallSite, resolved: Mapping[tuple[str, int], Frame]) -> CallSite:
    """The call site of a record. The innermost return address, and Python's line, hold for all calls of the
    record."""
    frames = [
        resolved.get(frame_key, Frame(module=frame_key[0], offset=frame_key[1])) for frame_key in row.frames
    ]
    if row.python:
        return CallSite(python_frame(row.python), mixed=row.ambiguous)
    program_frames = [frame for frame in frames if not frame.of_mpi]
    if not program_frames:
        ambiguous = row.ambiguous and len(frames) != 1
        return CallSite(frames[-1] if frames else NOWHERE.frame, ambiguous=ambiguous, mixed=row.ambiguous)
    # The same line is one call site, whichever of its instructions made the call.
    innermost, *callers = program_frames
    return CallSite(
        _without_offset(innermost),
        tuple(map(_without_offset, callers)),
        ambiguous=row.ambiguous and frames[0].of_mpi,
        mixed=row.ambiguous,
    )


def _without_offset(frame: Frame) -> Frame:
    return Frame(frame.function, frame.file, frame.line, frame.module) if frame.line else frame


def _symbols(module: str, offsets: Sequence[int]) -> dict[tuple[str, int], Frame]:
    """Resolve return addresses to frames. The line is looked up one byte before the return address, in the
    call."""
    if shutil.which(ADDR2LINE) is None or not Path(module).is_file():
        return {}
    addresses = "".join(f"{max(0, offset - 1):#x}\n" for offset in offsets)
    words = (ADDR2LINE, "-a", "-f", "-C", "-i", "-e", module)
    try:
        program = capture(words, timeout=TIMEOUT_S, input=addresses)
    except HockneyError:
        return {}
    if not program.ok:
        return {}
    by_address = {max(0, offset - 1): offset for offset in offsets}
    inside = covered_addresses(Path(module), list(by_address))
    found = {}
    for address, function, place in _parse_output(program.out.splitlines()):
        offset = by_address.get(address)
        if offset is None or (module, offset) in found:
            continue  # the innermost inlined function is first
        file, _, line = place.partition(" (")[0].rpartition(":")
        number = int(line) if line.isdigit() else 0
        if function in _UNKNOWN and number == 0:
            continue
        known_file = "" if file in _UNKNOWN or not number else printable(file)
        if not known_file and address not in inside:
            continue  # addr2line names the nearest symbol before it
        name = "" if function in _UNKNOWN else printable(function)
        found[module, offset] = Frame(name, known_file, number if known_file else 0, module, offset)
    return found


def _parse_output(lines: Iterable[str]) -> Iterable[tuple[int, str, str]]:
    """The address, function and place in each line of addr2line's output."""
    address, function = -1, None
    for line in lines:
        if line.startswith("0x") and function is None:
            address = int(line, 16)
        elif function is None:
            function = line
        else:
            yield address, function, line
            function = None
