# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches the user's command with the recording library in its ranks, and notes in the profile's manifest
how each launch ended.

Only ranks load the library: if the launcher has options for the variables of ranks, they are used, and the
launcher itself is not changed."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from hockney import process
from hockney.core.errors import EnvironmentProblem, printable
from hockney.core.fit import Estimate
from hockney.profiles.efficiencies import over_values
from hockney.profiles.manifest import Manifest, ProfiledLaunch, TraceMode, write_manifest
from hockney.profiles.program import Command, option_places, user_variables
from hockney.profiles.rank_file import PATTERN

PRELOAD, FOLDER = "LD_PRELOAD", "HOCKNEY_PROFILE_FOLDER"
TRACE, TRACE_LIMIT = "HOCKNEY_PROFILE_TRACE", "HOCKNEY_PROFILE_TRACE_LIMIT"
COUNTER = "HOCKNEY_PROFILE_COUNTER"
"""Whether each call is traced, and the largest size of a rank's trace in MiB (engine/profile/trace.cpp)."""
MIN_PAIRS = 5
"""Pairs of launches with and without the library, for the overhead."""
EXPORT = "--export"
ALL, NONE = "ALL", ("NONE", "NIL")
"""Values of srun's --export: all variables, or none but Slurm's."""
SEPARATORS = ":", " "
"""The characters between libraries in LD_PRELOAD."""


@dataclass(frozen=True)
class LaunchCommand:
    """A command line and the environment in which it is started."""

    words: tuple[str, ...]
    environ: Mapping[str, str]


def launch_command(
    command: Command,
    library: str,
    folder: Path,
    environ: Mapping[str, str],
    trace: TraceMode | None = None,
    extra_variables: Mapping[str, str] | None = None,
) -> LaunchCommand:
    """The command with the variables for its ranks, which write into `folder`, and `extra_variables`.
    Variables that the user sets for the ranks are kept: their libraries come after `library`."""
    variables = {
        PRELOAD: _join_libraries(library, environ.get(PRELOAD, "")),
        FOLDER: str(folder),
        **(extra_variables or {}),
    }
    if trace is not None:
        variables |= {
            TRACE: trace,
            **{name: environ[name] for name in (TRACE_LIMIT, COUNTER) if name in environ},
        }
    words, replaced = _with_library(command, library, environ)
    launcher = command.launcher
    if launcher is None:
        return LaunchCommand(words, {**environ, **variables})
    if launcher.is_srun:
        return LaunchCommand(_export_variables(command, words, library, environ), {**environ, **variables})
    wanted_variables = [(name, value) for name, value in variables.items() if name != PRELOAD or not replaced]
    options = launcher.family.variable_words(wanted_variables)
    if options is None:
        return LaunchCommand(words, {**environ, **variables})
    starts = [segment.start for segment in command.segments]
    option_words = starts if launcher.family.variables_per_program else starts[:1]
    inserted: list[str] = []
    for k, word in enumerate(words):
        inserted += [*(options if k in option_words else []), word]
    return LaunchCommand((*inserted, *(options if len(words) in option_words else [])), dict(environ))


def _join_libraries(library: str, others: str) -> str:
    return f"{library}:{others}" if others else library


def _with_library(command: Command, library: str, environ: Mapping[str, str]) -> tuple[tuple[str, ...], bool]:
    """The command's words with the library added to each LD_PRELOAD for ranks, and whether an option of the
    launcher sets LD_PRELOAD, which then must not be set by another option."""
    words, replaced = list(command.words), False
    for k in user_variables(command, PRELOAD):
        name, equals, value = words[k].partition("=")
        if equals:
            words[k] = f"{name}={_join_libraries(library, value)}"
        elif command.launcher is not None and _value_follows(command, k):
            words[k + 1] = _join_libraries(library, words[k + 1])
        else:
            words[k] = f"{name}={_join_libraries(library, environ.get(PRELOAD, ''))}"
        replaced = replaced or words[k - 1].startswith("-")
    return tuple(words), replaced


def _value_follows(command: Command, k: int) -> bool:
    """Whether the option before word `k` is followed by a name and a value as two words."""
    assert command.launcher is not None
    option = command.words[k - 1].lstrip("-")
    return command.launcher.option_words.get(option, 1) > 1 and k + 1 < len(command.words)


def _export_variables(
    command: Command, words: Sequence[str], library: str, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The words for srun. It exports its environment, unless options or a variable name what it exports. Then
    the variables are added, and a library that the user preloads comes after `library`."""
    assert command.launcher is not None
    changed = list(words)
    given = False
    for places in option_places(command, environ):
        for k in places:
            option, equals, value = words[k].partition("=")
            if option == EXPORT and equals:
                changed[k] = f"{EXPORT}={_add_to_export(value, library)}"
            elif option == EXPORT and k + 1 < len(words):
                changed[k + 1] = _add_to_export(words[k + 1], library)
            given = given or option == EXPORT
    usual = environ.get("SLURM_EXPORT_ENV", "")
    if given or not usual or _add_to_export(usual, library) == usual:
        return tuple(changed)
    at = command.launcher.at + 1
    return (*changed[:at], f"{EXPORT}={_add_to_export(usual, library)}", *changed[at:])


def _add_to_export(exported: str, library: str) -> str:
    if exported.upper() in NONE:
        return f"{PRELOAD},{FOLDER}"
    words = []
    for word in exported.split(","):
        name, equals, value = word.partition("=")
        words.append(f"{PRELOAD}={_join_libraries(library, value)}" if equals and name == PRELOAD else word)
    names = {word.partition("=")[0] for word in words}
    missing = () if ALL in map(str.upper, words) else (PRELOAD, FOLDER)
    return ",".join([*words, *(name for name in missing if name not in names)])


@contextlib.contextmanager
def preloadable(library: Path) -> Iterator[str]:
    """A path of the library that LD_PRELOAD accepts, without its separators."""
    if not any(separator in str(library) for separator in SEPARATORS):
        yield str(library)
        return
    folder = Path(tempfile.mkdtemp(prefix="hockney-profile-", dir="/tmp"))
    try:
        yield str(shutil.copy(library, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def plan_launches(repeat: int, overhead: bool, seed: int) -> list[bool]:
    """Whether each launch is recorded. There are `repeat` recorded launches or, to measure the overhead,
    `repeat` pairs (at least MIN_PAIRS) of a launch with the library and one without, each pair in random
    order."""
    if not overhead:
        return [True] * repeat
    order = random.Random(seed)
    launches: list[bool] = []
    for _ in range(max(repeat, MIN_PAIRS)):
        first = order.random() < 0.5
        launches += [first, not first]
    return launches


@dataclass(frozen=True)
class Side:
    """Launches of one kind, with their profile in `folder`. Their ranks also load the library `added`, and
    get these `variables`."""

    folder: Path
    manifest: Manifest
    added: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


def launch_all(
    command: Command,
    library: Path | None,
    folder: Path,
    manifest: Manifest,
    plan: Sequence[bool],
    environ: Mapping[str, str],
    *,
    preloaded: Sequence[Path] = (),
    stdout: int | None = None,
    listen: Callable[[int, bool], None] = lambda number, profiled: None,
) -> tuple[Manifest, int | None]:
    """Run the planned launches in the profile's folder, one after another, until the user interrupts one.
    Without a library the command is unchanged. `preloaded` are libraries that ranks load with it. `stdout` is
    a descriptor for the program's standard output. `listen` is called before each launch with its number,
    from 1. Returns the manifest, and the signal by which the user ended the program. Raises
    EnvironmentProblem if the folder cannot be written, CannotStart."""
    turns = [(0, profiled) for profiled in plan]
    sides = [Side(folder, manifest)]

    def tell(number: int, side: Side, profiled: bool) -> None:
        listen(number, profiled)

    (side,), received = _launch_each(command, library, sides, turns, environ, preloaded, stdout, tell)
    return side.manifest, received


def launch_in_turns(
    command: Command,
    library: Path,
    sides: Sequence[Side],
    rounds: int,
    environ: Mapping[str, str],
    *,
    seed: int,
    preloaded: Sequence[Path] = (),
    stdout: int | None = None,
    listen: Callable[[int, Side], None] = lambda number, side: None,
) -> tuple[list[Side], int | None]:
    """Run a recorded launch of each side `rounds` times, in random order, like `launch_all`. A call passes
    through `library` before the library of the side, so that it is recorded once. Returns the sides, and the
    signal by which the user ended the program."""
    order = random.Random(seed)
    turns = [(k, True) for _ in range(rounds) for k in order.sample(range(len(sides)), len(sides))]

    def tell(number: int, side: Side, profiled: bool) -> None:
        listen(number, side)

    return _launch_each(command, library, sides, turns, environ, preloaded, stdout, tell)


def _launch_each(
    command: Command,
    library: Path | None,
    sides: Sequence[Side],
    turns: Sequence[tuple[int, bool]],
    environ: Mapping[str, str],
    preloaded: Sequence[Path],
    stdout: int | None,
    listen: Callable[[int, Side, bool], None],
) -> tuple[list[Side], int | None]:
    """Launch a side in each of the `turns`, with or without recording."""
    now, received = list(sides), None
    with contextlib.ExitStack() as stack:
        copied = {
            path: stack.enter_context(preloadable(path))
            for path in dict.fromkeys([library, *(side.added for side in sides)])
            if path is not None
        }
        rewind = stack.enter_context(_repeatable_input(len(turns)))
        for number, (k, profiled) in enumerate(turns, start=1):
            side = now[k]
            listen(number, side, profiled)
            libraries = None
            if profiled and library is not None:
                added = [] if side.added is None else [copied[side.added]]
                libraries = ":".join([copied[library], *map(str, preloaded), *added])
            now[k], received = _launch(command, side, libraries, environ, rewind(), stdout, profiled)
            if received is not None:
                break
    return now, received


def _launch(
    command: Command,
    side: Side,
    libraries: str | None,
    environ: Mapping[str, str],
    stdin: int | None,
    stdout: int | None,
    profiled: bool,
) -> tuple[Side, int | None]:
    """Run a launch, and note it in the profile before and after. `libraries` are preloaded; None leaves the
    command unchanged. Returns the side, and the signal by which the user ended the program."""
    name = f"launch-{len(side.manifest.launches) + 1}"
    folder = side.folder / name
    earlier = side.manifest.launches
    create_folder(folder)
    _with_launches(side, [*earlier, ProfiledLaunch(folder=name, profiled=profiled)])
    launch = LaunchCommand(command.words, environ)
    if libraries is not None:
        own = (side.manifest.trace, side.variables)
        launch = launch_command(command, libraries, folder.absolute(), environ, *own)
    end = process.run_in_foreground(launch.words, launch.environ, stdin=stdin, stdout=stdout)
    done = ProfiledLaunch(
        folder=name,
        exit_code=end.code,
        seconds=end.seconds,
        profiled=profiled,
        ended_ns=time.clock_gettime_ns(time.CLOCK_MONOTONIC),
        kernel=f"{kernel_here():x}",
    )
    return replace(side, manifest=_with_launches(side, [*earlier, done])), end.received


def kernel_here() -> int:
    """A number equal to Header::kernel of ranks that share CLOCK_MONOTONIC with this process, computed from
    the boot of the kernel and the namespace of its clocks (engine/profile/session.cpp)."""
    boot, clocks = b"", b""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()[:64]
    with contextlib.suppress(OSError):
        clocks = os.fsencode(os.readlink("/proc/self/ns/time"))[:64]
    return _mix(functools.reduce(_mix, boot, 1), functools.reduce(_mix, clocks, 1))


def _mix(a: int, b: int) -> int:
    """`mix` of engine/profile/communicators.hpp."""
    every = (1 << 64) - 1
    x = (a * 0xFF51AFD7ED558CCD & every) ^ ((b + 0x9E3779B97F4A7C15) * 0xC4CEB9FE1A85EC53 & every)
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & every
    return x ^ x >> 32


def _with_launches(side: Side, launches: Sequence[ProfiledLaunch]) -> Manifest:
    """Write the manifest with these launches."""
    manifest = msgspec.structs.replace(side.manifest, launches=[*launches])
    create_folder(side.folder, manifest)
    return manifest


def create_folder(folder: Path, manifest: Manifest | None = None) -> None:
    """Create a folder, unless it exists, and write a profile's manifest into it. Raises
    EnvironmentProblem."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if manifest is not None:
            write_manifest(folder, manifest)
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot write the profile to {printable(str(folder))}",
            (error.strerror or str(error)).lower(),
            "choose a writable folder with --out, on a disk that has space",
            code="profile-folder-not-writable",
            folder=str(folder),
            errno=error.errno,
        ) from error


@contextlib.contextmanager
def _repeatable_input(launches: int) -> Iterator[Callable[[], int | None]]:
    """Return a function for the descriptor of each launch's standard input, rewound so that every launch
    reads the same input. Input from a terminal is not repeated: each launch reads what is typed."""
    descriptor, start = None, 0
    with contextlib.ExitStack() as stack:
        mode = 0
        if launches > 1:
            with contextlib.suppress(OSError):
                mode = os.fstat(0).st_mode
        if stat.S_ISREG(mode):
            descriptor, start = 0, os.lseek(0, 0, os.SEEK_CUR)
        elif stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            copy = stack.enter_context(tempfile.TemporaryFile())
            while block := os.read(0, 1 << 16):
                copy.write(block)
            copy.flush()
            descriptor = copy.fileno()

        def rewound() -> int | None:
            if descriptor is not None:
                os.lseek(descriptor, start, os.SEEK_SET)
            return descriptor

        yield rewound


def rank_files(folder: Path, manifest: Manifest) -> list[Path]:
    """All files of ranks in a profile."""
    names = [launch.folder for launch in manifest.launches if launch.profiled]
    return [file for name in names for file in sorted((folder / name).glob(PATTERN))]


@dataclass(frozen=True)
class Overhead:
    """The ratio of elapsed times with and without the library, as measured at the launcher, including the
    start of the ranks."""

    ratio: Estimate
    pairs: int


def measure_overhead(manifest: Manifest) -> Overhead | None:
    """The overhead in pairs of neighboring launches with and without the library that both ended well; None
    if there is no such pair. Slow changes of the machine cancel within a pair. The interval is for the centre
    of the pairs' ratios."""
    ratios = []
    for one, other in zip(manifest.launches[::2], manifest.launches[1::2], strict=False):
        if one.profiled == other.profiled or one.exit_code != 0 or other.exit_code != 0:
            continue
        profiled, bare = (one, other) if one.profiled else (other, one)
        ratios.append(profiled.seconds / bare.seconds)
    return Overhead(over_values(ratios), len(ratios)) if ratios else None
