# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Determines what the command to be profiled starts: its launcher, its programs, and their MPI libraries.

The program itself is never executed: its loader lists its libraries. What cannot be determined is left out,
because the program runs in any case."""

from __future__ import annotations

import mmap
import os
import re
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal

from hockney import process
from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.discovery.probe import link_chain, read_launcher
from hockney.mpi import UNKNOWN, MpiFamily, all_arguments, families, families_by_precedence, family_named
from hockney.profiles.elf import Elf, read_elf

LAUNCHERS = ("mpiexec", "mpirun", *(name for family in families() for name in family.launchers))
SRUN = "srun"
WRAPPERS = frozenset({
    "catchsegv", "chrt", "env", "exec", "gdb", "hockney-ethernet", "hwloc-bind", "ionice", "ltrace", "nice",
    "nohup", "numactl", "perf", "prlimit", "rr", "setarch", "setsid", "stdbuf", "strace", "sudo", "taskset",
    "time", "timeout", "unbuffer", "valgrind", "xvfb-run",
})  # fmt: skip
"""Programs that start the command which follows their options."""
SRUN_OPTION_WORDS = dict.fromkeys(
    (
        *"AbBcCdDeGiJLmMnNopqrStTwWx", "account", "bb", "bcast", "begin", "chdir", "cluster-constraint",
        "clusters", "comment", "constraint", "container", "core-spec", "cores-per-socket", "cpu-bind",
        "cpus-per-gpu", "cpus-per-task", "deadline", "delay-boot", "dependency", "distribution", "error",
        "exclude", "export", "gpu-bind", "gpus", "gpus-per-node", "gpus-per-task", "gres", "het-group",
        "hint", "input", "jobid", "job-name", "licenses", "mem", "mem-bind", "mem-per-cpu", "mem-per-gpu",
        "mpi", "network", "nodefile", "nodelist", "nodes", "ntasks", "ntasks-per-core", "ntasks-per-node",
        "ntasks-per-socket", "output", "partition", "prolog", "qos", "relative", "reservation", "signal",
        "slurmd-debug", "sockets-per-node", "task-epilog", "task-prolog", "threads", "threads-per-core",
        "time", "tmp", "tres-per-task", "wait", "wckey",
    ),
    1,
)  # fmt: skip
"""The options of srun that are followed by their value, from its manual."""
SEPARATOR = ":"
"""The word between several programs that one launcher starts."""
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
PYTHON = re.compile(r"python[\d.]*")
LIST_SECONDS = 30.0
MAX_INTERPRETERS = 4
"""A script may be interpreted by a script."""
MPI_FILE = re.compile(r"lib\w*mpi\w*\.so[\d.]*")
FIRST_FUNCTIONS = frozenset(
    {"PMPI_Init", "pmpi_init", "pmpi_init_", "pmpi_init__", "PMPI_INIT", "pmpi_init_f08_"}
)
"""An MPI library exports one of these. Tools that replace MPI's functions do not: they call them."""
MULTIARCH = ("lib", "lib64", "lib/*-linux-gnu*", "lib/release", "lib/*-linux-gnu*/*/lib", "lib64/*/lib")
"""Where the libraries of an MPI are, relative to its prefix."""
AMBIGUOUS_ABI = re.compile(r"libmpi_abi\.so")
ASK_MPI4PY = """
import os
from importlib.util import find_spec
found = find_spec("mpi4py")
print("folder", found.submodule_search_locations[0] if found else "")
try:
    from mpi4py import _mpiabi
    print("abi", _mpiabi._get_mpiabi())
except Exception:
    pass
with open("/proc/self/maps") as maps:
    for path in dict.fromkeys(line.split(None, 5)[5].strip() for line in maps if "/" in line):
        if "mpi" in os.path.basename(path):
            print("loaded", path)
"""
"""Prints where mpi4py is, and of a version for several MPIs the one that it chooses, and the library that it
loads for this."""


RANKS_OPTIONS = ("n", "np", "ntasks")


@dataclass(frozen=True)
class Launcher:
    """A launcher of ranks. `at` is the index of its word in the command. `family` is unknown for srun."""

    at: int
    path: Path
    family: MpiFamily
    version: str = ""

    @property
    def is_srun(self) -> bool:
        return self.path.name == SRUN

    @property
    def option_words(self) -> Mapping[str, int]:
        return SRUN_OPTION_WORDS if self.is_srun else self.family.option_words


@dataclass(frozen=True)
class Command:
    """The words as typed. Without a launcher, the command is a program with one rank, or a script that calls
    launchers."""

    words: tuple[str, ...]
    launcher: Launcher | None

    @property
    def segments(self) -> list[range]:
        """The words after the launcher, for each program that it starts."""
        if self.launcher is None:
            return [range(len(self.words))]
        ends = [k for k, word in enumerate(self.words) if word == SEPARATOR and k > self.launcher.at]
        starts = [self.launcher.at + 1, *(end + 1 for end in ends)]
        return [range(start, end) for start, end in zip(starts, [*ends, len(self.words)], strict=True)]

    @property
    def line(self) -> str:
        return shlex.join(self.words)


@dataclass(frozen=True)
class Library:
    """An MPI library. Its family is unknown if its text names none."""

    path: Path
    family: MpiFamily


Kind = Literal["dynamic", "static", "script", "unknown", "missing"]


@dataclass(frozen=True)
class Program:
    """A program of the command. `elf` describes the file, or a script's interpreter. `libraries` are the MPI
    libraries that its loader finds, `unresolved` those that it does not find. A `privileged` program runs
    with the rights of another user or group, so that the loader ignores LD_PRELOAD."""

    word: str
    path: Path | None
    kind: Kind
    elf: Elf | None = None
    interpreter: Path | None = None
    libraries: tuple[Library, ...] = ()
    unresolved: tuple[str, ...] = ()
    privileged: bool = False
    searches: bool = False
    """Whether it looks for an MPI that is already loaded, and would take hockney's library for one: mpi4py
    for several MPIs. Then the MPI has to be loaded with it."""
    environ: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Its variables, as far as the command shows them; not those that the launcher adds."""

    @property
    def families(self) -> list[MpiFamily]:
        return known_families(self.libraries)

    @property
    def calls_mpi(self) -> bool:
        """Whether it is linked to an MPI."""
        return bool(self.libraries or self.unresolved)

    @cached_property
    def bound(self) -> tuple[str, ...]:
        """The MPI functions that it imports from libraries."""
        return self.elf.bound if self.elf is not None else ()


def known_families(libraries: Iterable[Library]) -> list[MpiFamily]:
    return list(dict.fromkeys(library.family for library in libraries if library.family.known))


def parse_command(words: Sequence[str] | str, environ: Mapping[str, str]) -> Command:
    """Find the launcher in a command, given as words or as a shell line. Raises UsageError if there is no
    command, or if its first word is not a program."""
    typed = tuple(_split(words) if isinstance(words, str) else map(os.fspath, words))
    if not typed or not typed[0]:
        raise UsageError(
            "there is no command to profile",
            "it follows --, as typed without hockney",
            "use for example: hockney profile -- mpiexec -n 2 ./program",
            code="profile-without-command",
        )
    if find_program(typed[0], environ) is None:
        raise UsageError(
            f"'{printable(typed[0])}' is {'not' if len(typed) > 1 else 'neither a profile nor'} a program",
            "no executable file has this name" + ("" if os.sep in typed[0] else " on PATH"),
            "give a path, or add its folder to PATH",
            code="profile-command-not-found",
            word=typed[0],
        )
    return Command(typed, _find_launcher(typed, environ))


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(
            f"the command '{printable(line)}' cannot be split into words",
            str(error).lower(),
            "quote as in a shell, or give a list of words",
            code="profile-command-not-words",
            line=line,
        ) from error


def _find_launcher(words: Sequence[str], environ: Mapping[str, str]) -> Launcher | None:
    """The launcher, if only wrappers with their options and values precede it."""
    for at, word in enumerate(words):
        path = find_program(word, environ)
        if path is None or word.startswith("-"):
            continue
        if _is_launcher(word):
            family, version = _family_of_launcher(path)
            return Launcher(at, path, family, version)
        if path.name not in WRAPPERS:
            return None
    return None


def _is_launcher(word: str) -> bool:
    """Suffixes are those of several MPIs in one folder (mpiexec.hydra)."""
    name = Path(word).name
    return name == SRUN or name in LAUNCHERS or re.split(r"[.-]", name)[0] in LAUNCHERS


def _family_of_launcher(path: Path) -> tuple[MpiFamily, str]:
    if path.name == SRUN:
        return family_named(UNKNOWN), ""
    try:
        return read_launcher(path)
    except EnvironmentProblem:  # the command will show it
        return family_named(UNKNOWN), ""


def find_program(word: str, environ: Mapping[str, str]) -> Path | None:
    """The executable file that a word names."""
    found = shutil.which(word, path=environ.get("PATH", os.defpath))
    return Path(found) if found else None


def find_programs(command: Command, environ: Mapping[str, str]) -> list[Program]:
    """The programs that the command starts, as far as its words reveal them."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], Program] = {}
    for segment in command.segments:
        of_ranks = rank_variables(command, segment, environ)
        word = _program_word(command, segment, of_ranks)
        key = word, tuple(sorted(of_ranks.items()))
        if word and key not in found:
            found[key] = replace(examine(word, of_ranks), environ=of_ranks)
    return list(found.values())


def ranks_of(command: Command, environ: Mapping[str, str]) -> int | None:
    """The number of ranks that the launcher's options name; None if they name none."""
    total = 0
    for segment in command.segments:
        options, _ = _split_segment(command, segment, environ)
        words = [part for word in options for part in word.split("=", 1)]
        counts = [
            following
            for word, following in pairwise(words)
            if word.startswith("-") and word.lstrip("-") in RANKS_OPTIONS
        ]
        if command.launcher is None or not counts or not counts[-1].isdecimal():
            return None
        total += int(counts[-1])
    return total


def rank_variables(command: Command, segment: range, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of the ranks of one program: `environ`, as changed by env and by options of
    the launcher."""
    variables = dict(environ)
    options, behind = _split_segment(command, segment, environ)
    if command.launcher is not None:
        _apply_env(variables, command.words[: command.launcher.at])
        if segment != command.segments[0]:
            of_first, _ = _split_segment(command, command.segments[0], environ)
            _apply_options(variables, of_first, command.launcher.option_words, for_all=True)
        _apply_options(variables, options, command.launcher.option_words)
    program = _program_word(command, segment, environ)
    _apply_env(variables, behind[: behind.index(program)] if program in behind else behind)
    return variables


def _apply_options(
    variables: dict[str, str], words: Sequence[str], option_words: Mapping[str, int], for_all: bool = False
) -> None:
    """Apply Hydra's "-env NAME VALUE" (and "-genv NAME VALUE" `for_all` programs) and Open MPI's "-x
    NAME=VALUE"."""
    names = all_arguments().variables
    for option, *values in zip(words, words[1:], (*words[2:], ""), strict=False):
        name = option.lstrip("-")
        if not option.startswith("-") or name not in names or (for_all and not name.startswith("g")):
            continue
        if ASSIGNMENT.match(values[0]):
            key, _, value = values[0].partition("=")
            variables[key] = value
        elif option_words.get(name) == 2:
            variables[values[0]] = values[1]


def _apply_env(variables: dict[str, str], words: Sequence[str]) -> None:
    """The assignments and options of env among wrappers of a program."""
    of_env = False
    for word, following in zip(words, (*words[1:], ""), strict=False):
        if Path(word).name in WRAPPERS:
            of_env = Path(word).name == "env"
        elif not of_env:
            continue
        elif word in ("-i", "-", "--ignore-environment"):
            variables.clear()
        elif word in ("-u", "--unset"):
            variables.pop(following, None)
        elif word.startswith(("-u", "--unset=")):
            variables.pop(word.removeprefix("--unset=").removeprefix("-u"), None)
        elif ASSIGNMENT.match(word):
            name, _, value = word.partition("=")
            variables[name] = value


def _split_segment(
    command: Command, segment: range, environ: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """The launcher's options with their values, and the words behind them."""
    words = [command.words[k] for k in segment]
    if command.launcher is None:
        return [], words
    behind = _without_options(words, command.launcher.option_words, environ)
    return words[: len(words) - len(behind)], behind


def option_places(command: Command, environ: Mapping[str, str]) -> list[range]:
    """The indices of the launcher's options and their values, for each program that it starts."""
    of_each = [(segment, _split_segment(command, segment, environ)[0]) for segment in command.segments]
    return [range(segment.start, segment.start + len(options)) for segment, options in of_each]


def _program_word(command: Command, segment: range, environ: Mapping[str, str]) -> str:
    """The word that names the program behind the launcher's options and wrappers; "" if there is none."""
    _, words = _split_segment(command, segment, environ)
    while words and Path(words[0]).name in WRAPPERS:
        wrapper, *words = words
        words = list(_from_program(words, environ))
        if not words:
            return wrapper
    return words[0] if words else ""


def _without_options(
    words: Sequence[str], option_words: Mapping[str, int], environ: Mapping[str, str]
) -> list[str]:
    """The words from the first one that is neither an option nor a value. If that is not a program, an option
    was unknown, and the first program is used."""
    k = 0
    while k < len(words) and words[k].startswith("-"):
        k += 1 + option_words.get(words[k].lstrip("-"), 0)
    rest = list(words[k:])
    if rest and _names_program(rest[0], environ):
        return rest
    return list(_from_program(rest, environ)) or rest


def _from_program(words: Sequence[str], environ: Mapping[str, str]) -> Sequence[str]:
    """The words from the first one that names a program."""
    for k, word in enumerate(words):
        if not word.startswith("-") and not ASSIGNMENT.match(word) and _names_program(word, environ):
            return words[k:]
    return ()


def _names_program(word: str, environ: Mapping[str, str]) -> bool:
    return find_program(word, environ) is not None or os.access(Path.cwd() / word, os.X_OK)


def examine(word: str, environ: Mapping[str, str]) -> Program:
    """Examine the program that a word names, in the environment of a launch."""
    path = find_program(word, environ)
    if path is None and Path(word).is_file():  # some launchers look in the current folder
        path = Path(word).absolute()
    if path is None:
        return Program(word, None, "missing")
    chain = _interpreters(path, environ)
    interpreter = chain[-1] if chain else None
    file = interpreter or path
    elf = read_elf(file)
    privileged = _is_privileged(file)
    if elf is None:
        return Program(word, path, "unknown", interpreter=interpreter, privileged=privileged)
    kind: Kind = "dynamic" if interpreter is None else "script"
    if not elf.interpreter:  # `dynamic` may be a static program too, if it is position-independent
        kind = "static"
    program = Program(word, path, kind, elf, interpreter, privileged=privileged)
    if kind == "static":
        return program
    libraries, unresolved = find_libraries(file, elf, environ)
    program = replace(program, libraries=libraries, unresolved=unresolved)
    python = next((each for each in (path, *chain) if PYTHON.fullmatch(each.name)), None)
    return program if program.calls_mpi or python is None else _with_mpi4py(program, python, environ)


def _interpreters(path: Path, environ: Mapping[str, str]) -> list[Path]:
    """The interpreter of a script, then its own interpreter if it is a script too, and so on; empty if the
    file is not a script."""
    chain: list[Path] = []
    for _ in range(MAX_INTERPRETERS):
        try:
            with (chain[-1] if chain else path).open("rb") as file:
                line = file.read(256)
        except OSError:
            break
        if not line.startswith(b"#!"):
            break
        words = line[2:].split(b"\n")[0].decode(errors="replace").split()
        if words and Path(words[0]).name == "env":
            words = [word for word in words[1:] if not word.startswith("-") and not ASSIGNMENT.match(word)]
        found = find_program(words[0], environ) if words else None
        if found is None:
            break
        chain.append(found)
    return chain


def _is_privileged(path: Path) -> bool:
    """Whether the loader starts it in secure-execution mode (ld.so(8))."""
    try:
        status = path.stat()
    except OSError:
        return False
    if status.st_mode & stat.S_ISUID and status.st_uid != os.getuid():
        return True
    if status.st_mode & stat.S_ISGID and status.st_mode & stat.S_IXGRP and status.st_gid != os.getgid():
        return True
    try:
        return bool(os.getxattr(path, "security.capability")) and os.getuid() != 0
    except (OSError, AttributeError):
        return False


def find_libraries(
    path: Path, elf: Elf, environ: Mapping[str, str]
) -> tuple[tuple[Library, ...], tuple[str, ...]]:
    """The MPI libraries that the loader finds for a program, and the names of those that it does not find."""
    found, missing = list_libraries(path, elf.interpreter, environ)
    libraries = filter(None, map(read_mpi_library, found))
    return tuple(libraries), tuple(name for name in missing if MPI_FILE.fullmatch(name))


def list_libraries(path: Path, loader: str, environ: Mapping[str, str]) -> tuple[list[Path], list[str]]:
    """All libraries that the loader finds for a program, and the names of those that it does not find. Works
    like ldd, but never starts the program."""
    lists = [[loader, "--list", str(path)]]
    if Path(loader).name.startswith("ld-linux"):  # whose --list stops at the first library that is missing
        lists.append(["env", "LD_TRACE_LOADED_OBJECTS=1", loader, str(path)])
    output = ""
    for words in lists:
        try:
            done = process.capture(words, env=_environment_changes(environ), timeout=LIST_SECONDS)
        except EnvironmentProblem:
            continue
        output = done.out
        if done.ok:
            break
    found, missing = [], []
    for line in output.splitlines():
        name, arrow, remainder = line.strip().partition(" => ")
        if arrow and remainder.startswith("not found"):
            missing.append(name)
        elif arrow and remainder.startswith("/"):
            found.append(Path(remainder.rpartition(" (")[0]))
        elif name.startswith("/") and " (" in name:
            found.append(Path(name.rpartition(" (")[0]))
    return found, missing


def _environment_changes(environ: Mapping[str, str]) -> dict[str, str | None]:
    """The changes that turn this process's environment into `environ`."""
    return {**dict.fromkeys(os.environ), **environ}


def read_mpi_library(path: Path) -> Library | None:
    """The MPI library at `path`; None if the file is not one."""
    elf = read_elf(path)
    if elf is None:
        return None
    of_mpi = not FIRST_FUNCTIONS.isdisjoint(elf.exported)
    separate = MPI_FILE.fullmatch(path.name) and "MPI_Init" in elf.exported  # functions of PMPI are elsewhere
    return Library(path, family_of_file(path)) if of_mpi or separate else None


def family_of_file(path: Path) -> MpiFamily:
    """The family that the text of a library names."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for family in families_by_precedence():
                if any(data.find(sign.encode()) >= 0 for sign in family.library_signs):
                    return family
    except (OSError, ValueError):
        pass
    return family_named(UNKNOWN)


def _with_mpi4py(program: Program, python: Path, environ: Mapping[str, str]) -> Program:
    """The interpreter with the MPI library that its mpi4py uses: the library to which mpi4py is linked or, if
    it has modules for more than one MPI, the one that it loads. mpi4py chooses that by the library that it
    finds, or by MPI4PY_MPIABI; its module for this MPI is linked to the library."""
    try:
        done = process.capture(
            [str(python), "-c", ASK_MPI4PY], env=_environment_changes(environ), timeout=LIST_SECONDS
        )
    except EnvironmentProblem:
        return program
    answers = [line.partition(" ")[::2] for line in done.out.splitlines()]
    folders = [path for key, path in answers if key == "folder" and path]
    modules = [module for folder in folders for module in sorted(Path(folder).glob("MPI.*.so"))]
    by_name = [path for key, path in answers if key == "abi"] if environ.get("MPI4PY_MPIABI") else []
    chosen = [module for module in modules if [module.name.split(".")[1]] == by_name] or modules
    if len(chosen) == 1 and program.elf is not None:
        libraries, unresolved = find_libraries(chosen[0], program.elf, environ)
        if libraries or by_name:
            return replace(program, libraries=libraries, unresolved=unresolved)
    loaded = [read_mpi_library(Path(path)) for key, path in answers if key == "loaded"]
    libraries = tuple(library for library in loaded if library is not None)
    return replace(program, libraries=libraries, searches=len(modules) > 1)


def libraries_near(path: Path, family: MpiFamily, environ: Mapping[str, str]) -> tuple[Library, ...]:
    """The MPI libraries of a launcher, or of an interpreter's environment, in library folders next to it,
    restricted to its family if known. Libraries for another binary interface of the same MPI are left out."""
    folders = [Path(folder) for folder in environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if folder]
    for link in link_chain(path):
        folders += (folder for name in MULTIARCH for folder in sorted(link.parent.parent.glob(name)))
    libraries: dict[Path, Library] = {}
    for file in _mpi_files(dict.fromkeys(folders)):
        library = read_mpi_library(file)
        if library is not None and (library.family is family or not (library.family.known and family.known)):
            libraries.setdefault(file.resolve(), library)
    usual = tuple(each for each in libraries.values() if not AMBIGUOUS_ABI.match(each.path.name))
    return usual or tuple(libraries.values())


def _mpi_files(folders: Iterable[Path]) -> Iterator[Path]:
    """The first file of each name, like the loader, if it is a shared library and not a linker script."""
    seen = set()
    for folder in folders:
        for file in sorted(folder.glob("lib*mpi*.so*")):
            if MPI_FILE.fullmatch(file.name) and file.name not in seen and file.is_file():
                seen.add(file.name)
                yield file


def user_variables(command: Command, name: str) -> list[int]:
    """The indices of words behind the launcher that set or pass the variable `name` to ranks: "NAME=VALUE",
    or "NAME" if the option passes it (Open MPI's -x) or is followed by the value (Hydra's -genv)."""
    first_word = 0 if command.launcher is None else command.launcher.at + 1
    options = all_arguments().variables
    places = []
    for k in range(first_word, len(command.words)):
        word, before = command.words[k], command.words[k - 1] if k > 0 else ""
        if word.startswith(f"{name}=") or (word == name and before.lstrip("-") in options):
            places.append(k)
    return places
