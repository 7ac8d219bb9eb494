# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the library that records the MPI calls of a program, for exactly the functions of its MPI.

`engine/profile/functions.txt` lists the functions of the MPI standard (version 5.0) with the kinds of their
parameters. The symbols come from the MPI libraries themselves, so that every function has a wrapper,
including extensions, and no function seems to exist that the MPI lacks. A wrapper forwards its arguments
unchanged, under the same name. It therefore needs no declaration and serves all languages."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.build.identity import PROFILE, source_folder
from hockney.build.once import Products, compile_products, compiled_once
from hockney.core.errors import EnvironmentProblem, printable
from hockney.profiles import operations
from hockney.profiles.elf import read_elf
from hockney.profiles.operations import class_of

LIBRARY = "libhockney-profile.so"
FLAGS = (
    "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-exceptions",
    "-fno-rtti", "-fno-threadsafe-statics", "-ftls-model=initial-exec", "-fno-plt", "-fwhole-program",
)  # fmt: skip
LINKED = ("-Wl,-z,now", "-Wl,--no-undefined", "-Wl,-Bsymbolic-functions", "-ldl", "-lpthread")
"""The wrappers know each other, even if a library before this one has functions of the same names."""
NOT_COMPILED = "profile-does-not-compile"
REGISTERS = {"x86_64": 6, "aarch64": 8}
"""Processors with a wrapper, and the number of arguments that they pass in registers."""

_SYMBOL = re.compile(r"^(?:MPIX?_[A-Z]\w*|MPIX?_[A-Z_0-9]+|mpix?_\w+)$")
_UNWRAPPED = re.compile(
    r"_(?:dup_fn|null_copy_fn|null_delete_fn)_*$|conversion_fn_null|^mpi_sizeof_",
    re.IGNORECASE,
)
"""Functions that programs pass to MPI, which compares their addresses, and the sizes of Fortran's types,
which communicate nothing."""
_VARIANTS = (
    "_f08ts_large", "_f08_large", "_f08ts", "_cptr_f08", "_f08_c", "_f08", "_fts", "_cptr_f", "_cptr", "_f90",
    "_c", "_f",
)  # fmt: skip

_STARTS = re.compile(r"Comm_idup|Grequest_start|Buffer_iflush|Comm_iflush_buffer|Session_iflush_buffer")

_PARAMETERS = {
    "count_": "count origin_count", "type_": "datatype origin_datatype", "send_count": "sendcount",
    "send_type": "sendtype", "receive_count": "recvcount", "receive_type": "recvtype",
    "send_counts": "sendcounts", "receive_counts": "recvcounts", "receive_types": "recvtypes",
    "destination_": "dest target_rank", "source_": "source", "root_": "root", "tag_": "tag sendtag",
    "receive_tag_": "recvtag", "communicator_": "comm comm_old local_comm",
    "new_communicator_": "newcomm comm_cart comm_graph comm_dist_graph newintercomm newintracomm intercomm",
    "request_": "request", "requests_": "array_of_requests", "status_": "status",
    "statuses_": "array_of_statuses", "flag_": "flag", "index_": "index indx", "indices_": "array_of_indices",
    "completed": "outcount", "length_": "incount", "window_": "win", "file_": "fh", "message_": "message",
    "partitions_": "partitions", "level_": "level", "name_": "comm_name",
}  # fmt: skip
"""The names of parameters in functions.hpp, and their names in the standard."""
_PARAMETER_OF = {name: key for key, names in _PARAMETERS.items() for name in names.split()}


@dataclass(frozen=True)
class MpiFunction:
    """A function of the MPI standard, without MPI_: its parameters in C order, each with a letter for its
    kind (n: count of elements, h: the same with 64 bits always, d: datatype, ...), and whether it returns an
    error code."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    returns_error: bool

    @property
    def kind(self) -> str:
        """The name of a Class in functions.hpp."""
        kind = class_of(self.name)
        if kind != "local":
            return kind
        letters = [letter for _, letter in self.parameters]
        if self.name.startswith("File_") and ("n" in letters or self.name.endswith("_end")):
            return "start_file" if "q" in letters else "file"
        if "C" in letters and self.name not in ("Comm_f2c", "Comm_get_parent"):
            return "start_communicator" if "q" in letters else "new_communicator"
        return "local"

    @property
    def fortran_error(self) -> int:
        """The index of IERROR in Fortran, -1 if there is none. Fortran has no command-line arguments."""
        if not self.returns_error or self.name in ("Pcontrol", "F_sync_reg"):
            return -1
        return len(self.parameters) - 2 * any(name == "argc" for name, _ in self.parameters)

    def places(self) -> dict[str, int]:
        """The index of each parameter that records use, by its name in functions.hpp."""
        named: dict[str, int] = {}
        kind = self.kind
        for place, (name, letter) in enumerate(self.parameters):
            key = _PARAMETER_OF.get(name)
            if (name == "count" and letter == "i") or (name == "incount" and letter != "i"):
                key = "length_" if letter == "i" else None
            elif name == "rank" and kind == "synchronize_window":
                key = "destination_"
            elif name == "outcount" and letter != "o":
                key = None
            elif name == "intercomm" and letter != "C":
                key = "communicator_"
            elif self.name.endswith("et_accumulate") and name.startswith(("origin_", "result_")):
                # What comes from the program is ignored with MPI_NO_OP.
                key = {"result_count": "count_", "result_datatype": "type_"}.get(name)
            elif kind == "local" and name not in ("request", "comm"):
                key = None
            if key is not None:
                named.setdefault(key, place)
        return named


@dataclass(frozen=True)
class Wrapper:
    """An exported symbol, and the index in `functions()` of the function that it is a variant of."""

    function: int
    language: str  # of functions.hpp
    large: bool


@functools.cache
def standard_functions() -> tuple[MpiFunction, ...]:
    """The functions that `engine/profile/functions.txt` lists."""
    lines = (source_folder() / PROFILE / "functions.txt").read_text(encoding="utf-8").splitlines()
    return tuple(_function(line) for line in lines if not line.startswith("#"))


def _function(line: str) -> MpiFunction:
    name, *parameters = line.split()
    pairs = tuple((word.partition(":")[0], word.partition(":")[2]) for word in parameters)
    return MpiFunction(name.removesuffix("*"), pairs, not name.endswith("*"))


def functions(symbols: Iterable[str] = ()) -> list[str]:
    """Names without MPI_ in the order in which rank files number them: the names of the standard, then names
    that only `symbols` contains."""
    names = [each.name for each in standard_functions()]
    known = {name.lower() for name in names}
    return names + sorted({name for name in map(_added, symbols) if name and name.lower() not in known})


def _added(symbol: str) -> str:
    """The name of a function that only a certain MPI has, such as MPIX_Comm_shrink, without the prefix
    MPI_."""
    base = _function_of(symbol)
    return "" if base is None or base.lower() in _standard_names() else base


@functools.cache
def _standard_names() -> dict[str, str]:
    return {each.name.lower(): each.name for each in standard_functions()}


def _stem(symbol: str) -> tuple[str, str]:
    """The symbol without the decoration of its language, and the decoration."""
    stem = symbol.rstrip("_")
    for variant in _VARIANTS:
        if stem.lower().endswith(variant):
            shorter = stem[: -len(variant)]
            if shorter.lower().removeprefix("mpi_") in _standard_names() or variant not in ("_c", "_f"):
                return shorter, variant
    return stem, ""


def _function_of(symbol: str) -> str | None:
    if not wraps(symbol):
        return None
    stem, _ = _stem(symbol)
    short = re.sub(r"^mpi_", "", stem, flags=re.IGNORECASE)
    standard = _standard_names().get(short.lower())
    if standard is None and short.lower().startswith("mpix_"):
        # Operations that the standard has taken over keep their earlier names for a while.
        standard = _standard_names().get(short[5:].lower())
    return standard or (short if not short.islower() else short.capitalize())


def wraps(symbol: str) -> bool:
    """Whether an exported symbol of an MPI library is a function that gets a wrapper."""
    return bool(_SYMBOL.match(symbol)) and not _UNWRAPPED.search(symbol)


def wrapper_of(symbol: str, places: Mapping[str, int]) -> Wrapper:
    """The wrapper for a symbol. `places` are the indices of all functions by lower-case name."""
    _, variant = _stem(symbol)
    name = _function_of(symbol)
    assert name is not None
    in_c = re.match(r"MPIX?_[A-Z][a-z]", symbol) or re.match(r"MPI_T_[a-z]", symbol)
    language = "c" if in_c and variant in ("", "_c") else "fortran_2008" if "f08" in variant else "fortran"
    return Wrapper(places[name.lower()], language, variant.endswith(("_c", "_large")))


def exported(library: Path) -> Sequence[str]:
    """The MPI functions that a shared library exports. Raises EnvironmentProblem."""
    elf = read_elf(library)
    if elf is None:
        raise EnvironmentProblem(
            f"the symbols of {printable(str(library))} cannot be read",
            "it is no shared library",
            "choose an MPI with shared libraries",
            code="profile-symbols-unreadable",
            library=str(library),
        )
    return elf.exported


def build(
    mpi_libraries: Sequence[Path],
    environ: Mapping[str, str] | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> Path:
    """Build the recording library for programs that use these MPI libraries, unless it is cached. Raises
    EnvironmentProblem."""
    processor = os.uname().machine
    if processor not in REGISTERS:
        raise EnvironmentProblem(
            f"programs on {processor} cannot be profiled",
            "the wrappers of MPI's functions exist for x86_64 and aarch64",
            "profile the program on another machine",
            code="profile-processor",
            processor=processor,
        )
    symbols = recorded_symbols(mpi_libraries)
    place = compiled_once(
        PROFILE,
        "the library that records MPI calls (once for each MPI; a few seconds)",
        NOT_COMPILED,
        (*FLAGS, *LINKED, *symbols),
        lambda folder: _products(symbols, processor, folder),
        generators=[__file__, operations.__file__],
        environ=environ,
        notify=notify,
    )
    return place / LIBRARY


def recorded_symbols(mpi_libraries: Sequence[Path]) -> list[str]:
    """The symbols of these libraries that get a wrapper, in the order of the generated tables."""
    return sorted({symbol for library in mpi_libraries for symbol in exported(library) if wraps(symbol)})


def compile_library(symbols: Sequence[str], processor: str, compiler: Sequence[str], folder: Path) -> None:
    """Compile the recording library into a folder, with a compiler for this processor.
    Raises EnvironmentProblem."""
    compile_products(compiler, _products(symbols, processor, folder), folder, NOT_COMPILED)


def _products(symbols: Sequence[str], processor: str, folder: Path) -> Products:
    source = source_folder() / PROFILE
    # With -fwhole-program, one unit of all sources saves a fifth of the cost of recording: GCC inlines what
    # frequent calls need. Names in unnamed namespaces must differ between the sources.
    included = (f'#include "{path.relative_to(source.parent)}"\n' for path in sorted(source.glob("*.cpp")))
    generated = folder / "recorder.cpp"
    generated.write_text("".join((tables(symbols, processor), *included)), encoding="utf-8")
    wrappers = folder / "wrappers.S"
    wrappers.write_text(stubs(symbols, processor), encoding="utf-8")
    parts = (str(generated), str(wrappers), str(source / f"call_{processor}.S"))
    yield LIBRARY, (*FLAGS, *parts, *LINKED)


def stubs(symbols: Sequence[str], processor: str) -> str:
    """Assembly of the exported symbols. Each loads its number and jumps to the common wrapper, or to the one
    that also preserves floating-point arguments."""
    load = {
        "x86_64": "  mov ${}, %r11d\n  jmp {}\n",
        "aarch64": "  mov w16, #{}\n  b {}\n",
    }[processor]
    mark = {"x86_64": "@", "aarch64": "%"}[processor]
    lines = ["  .text\n"]
    for number, symbol in enumerate(symbols):
        common = "hockney_profile_call" if _function_of(symbol) in _declared() else "hockney_profile_call_any"
        lines.append(f"  .globl {symbol}\n  .type {symbol}, {mark}function\n  .p2align 3\n{symbol}:\n")
        lines.append(load.format(number, common) + f"  .size {symbol}, . - {symbol}\n")
    return "".join([*lines, f'  .section .note.GNU-stack, "", {mark}progbits\n'])


def tables(symbols: Sequence[str], processor: str) -> str:
    """The definitions of the tables in functions.hpp."""
    names = functions(symbols)
    places = {name.lower(): place for place, name in enumerate(names)}
    standard = {each.name: each for each in standard_functions()}
    opened, closed = "namespace hockney::profile {\n", "}\n"
    lines = ['#include "profile/functions.hpp"\n', opened, "const Function functions[] = {\n"]
    lines += [f"  {_row(standard.get(name), name)},\n" for name in names]
    lines += [
        "};\n",
        closed,
        'extern "C" {\n',
        *(f"void {symbol}();\n" for symbol in symbols),
        closed,
        opened,
    ]
    lines.append("const Symbol symbols[] = {\n")
    for symbol in symbols:
        wrapper = wrapper_of(symbol, places)
        function = _declared().get(names[wrapper.function])
        fields = (
            f'"{symbol}"', f"{wrapper.function}", f"Language::{wrapper.language}", str(wrapper.large).lower(),
            f"{_stack_words(function, wrapper, REGISTERS[processor])}", f"reinterpret_cast<void*>(&{symbol})",
        )  # fmt: skip
        lines.append(f"  {{{', '.join(fields)}}},\n")
    lines.append(f"}};\nconst std::uint32_t symbol_count = {len(symbols)};\n")
    lines += [f"void* real[{max(1, len(symbols))}];\n", closed]
    return "".join(lines)


_UNKNOWN_WORDS = 12


@functools.cache
def _declared() -> dict[str, MpiFunction]:
    """The functions with a known number of arguments that are all integers or pointers, by name.
    MPI_Pcontrol, for example, takes any arguments."""
    return {each.name: each for each in standard_functions() if each.name != "Pcontrol"}


def _stack_words(function: MpiFunction | None, wrapper: Wrapper, registers: int) -> int:
    """The number of words that a call may pass on the stack. In Fortran the error code and the lengths of
    texts follow the other arguments."""
    if function is None:
        return _UNKNOWN_WORDS
    if wrapper.language == "c":
        return max(0, len(function.parameters) - registers)
    return max(0, len(function.parameters) + 1 + 4 - registers)


def _row(function: MpiFunction | None, name: str) -> str:
    if function is None:
        return f'{{"{name}", Class::local, true, false, false, 0, -1, {{{_places({})}}}, 0}}'
    at = function.places()
    wide = sum(1 << _order().index(key) for key, place in at.items() if function.parameters[place][1] == "h")
    starts = bool(_STARTS.match(name))
    gathers = function.name.lower().removeprefix("i").startswith("gather")
    flags = [str(flag).lower() for flag in (not function.returns_error, starts, gathers)]
    fields = [f'"{name}"', f"Class::{function.kind}", *flags, f"{len(function.parameters)}"]
    fields.append(str(function.fortran_error))
    return f"{{{', '.join(fields)}, {{{_places(at)}}}, {wide}u}}"


def _places(at: Mapping[str, int]) -> str:
    return ", ".join(str(at.get(key, -1)) for key in _order())


@functools.cache
def _order() -> tuple[str, ...]:
    """The enumerators of Parameter in functions.hpp."""
    text = (source_folder() / PROFILE / "functions.hpp").read_text(encoding="utf-8")
    body = re.search(r"enum Parameter[^{]*\{(.*?)parameter_count", text, re.DOTALL)
    assert body is not None
    return tuple(re.findall(r"^\s*(\w+),", body[1], re.MULTILINE))
