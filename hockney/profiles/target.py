# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The MPI whose calls are to be recorded, and what prevents recording: static and privileged programs, two
MPIs.

These problems do not stop the program, which runs as without hockney. They are reported before it starts, and
explain afterwards why nothing was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, HockneyError, printable
from hockney.core.wording import join_words, list_names, plural
from hockney.discovery.find import find_mpi
from hockney.mpi import UNKNOWN, MpiFamily, family_named
from hockney.profiles.program import (
    Command,
    Library,
    Program,
    find_program,
    find_programs,
    known_families,
    libraries_near,
    parse_command,
)

LISTED_FUNCTIONS = 4


@dataclass(frozen=True)
class Target:
    """The command, and the `libraries` whose functions are recorded (empty if none can be). `family` is that
    of the libraries or of the launcher. `obstacles` prevent a profile of one or all programs; `warnings` do
    not."""

    command: Command
    programs: tuple[Program, ...]
    libraries: tuple[Library, ...]
    family: MpiFamily
    version: str
    obstacles: tuple[HockneyError, ...]
    warnings: tuple[HockneyError, ...] = ()

    @property
    def program(self) -> str:
        """The name in titles: the first program, or the command."""
        word = self.programs[0].word if self.programs else self.command.words[0]
        return Path(word).name

    @property
    def paths(self) -> list[Path]:
        return [library.path for library in self.libraries]

    @property
    def preloaded(self) -> list[Path]:
        """The MPI libraries to preload together with the recording library."""
        return self.paths if any(program.searches for program in self.programs) else []


def find_target(words: Sequence[str] | str, environ: Mapping[str, str]) -> Target:
    """Determine what a command starts, and which MPI libraries to record. Raises UsageError if it is not a
    command."""
    command = parse_command(words, environ)
    programs = tuple(
        _without_foreign_libraries(program, command) for program in find_programs(command, environ)
    )
    libraries = _libraries(command, programs, environ)
    found = known_families(libraries)
    launcher = command.launcher
    obstacles = list(_obstacles(programs))
    if len(found) > 1:
        files = list_names([printable(str(library.path)) for library in libraries if library.family.known])
        obstacles.append(
            EnvironmentProblem(
                f"the program loads {join_words([family.title for family in found])}",
                f"calls of two MPIs in one process cannot be told apart ({files})",
                "link it, and the libraries that it uses, with one MPI: ldd shows which of them need which",
                code="profile-two-mpis",
                families=[family.name for family in found],
                libraries=[str(library.path) for library in libraries],
            )
        )
        libraries = ()
    elif programs and all(map(_certainly_unrecorded, programs)):
        libraries = ()
    elif not libraries and not obstacles:
        obstacles.append(
            EnvironmentProblem(
                "no MPI library was found for this command",
                "neither its program nor its launcher shows one",
                "add the folder of the library to LD_LIBRARY_PATH, or mpiexec's folder to PATH",
                code="profile-no-library",
                command=list(command.words),
            )
        )
    family = found[0] if found else launcher.family if launcher else family_named(UNKNOWN)
    warnings = []
    if launcher is not None and len(found) == 1 and _differ(family, launcher.family):
        names = list_names([printable(program.word) for program in programs if program.families])
        warnings.append(
            EnvironmentProblem(
                f"{names or 'the program'} uses {family.title}, but {printable(command.words[launcher.at])} "
                f"belongs to {launcher.family.title}",
                "every rank probably runs as a separate job with one rank",
                f"start it with the mpiexec of {family.title}",
                code="profile-launcher-mismatch",
                linked=family.name,
                launcher=launcher.family.name,
            )
        )
    of_launcher = launcher is not None and launcher.family is family
    version = launcher.version if launcher is not None and of_launcher else ""
    return Target(command, programs, libraries, family, version, tuple(obstacles), tuple(warnings))


def _without_foreign_libraries(program: Program, command: Command) -> Program:
    """`program` without the libraries that it would find on its own, if the launcher belongs to another MPI.
    It uses the launcher's MPI if that is loaded first; a second MPI would abort it."""
    launcher = command.launcher
    if launcher is None or not program.searches:
        return program
    others = [family for family in program.families if _differ(family, launcher.family)]
    return replace(program, libraries=()) if others else program


def _libraries(
    command: Command, programs: Sequence[Program], environ: Mapping[str, str]
) -> tuple[Library, ...]:
    """The MPI libraries that the programs' loaders find. If a program has none, such as an interpreter that
    loads MPI later or a script that starts other programs, the libraries of the launcher's MPI are added."""
    libraries = [library for program in programs for library in program.libraries]
    recordable = [each for each in programs if each.kind != "static" and not each.privileged]
    if not libraries or any(not program.libraries for program in recordable):
        names = {library.path.name for library in libraries}
        others = _other_libraries(command, programs, environ)
        libraries += [each for each in others if each.path.name not in names]
    return tuple({library.path.resolve(): library for library in libraries}.values())


def _other_libraries(
    command: Command, programs: Sequence[Program], environ: Mapping[str, str]
) -> tuple[Library, ...]:
    unknown = family_named(UNKNOWN)
    environ = next((program.environ for program in programs if program.environ), environ)
    if command.launcher is not None and not command.launcher.is_srun:
        return libraries_near(command.launcher.path, command.launcher.family, environ)
    files = [program.interpreter or program.path for program in programs]
    mpiexec = find_program("mpiexec", environ)
    for path in (*files, mpiexec):
        libraries = libraries_near(path, unknown, environ) if path is not None else ()
        if len(known_families(libraries)) == 1:
            return libraries
    try:
        mpi = find_mpi(environ=environ)
    except HockneyError:
        return ()
    return libraries_near(Path(mpi.mpiexec), family_named(mpi.family), environ)


def _obstacles(programs: Sequence[Program]) -> Iterator[HockneyError]:
    for program in programs:
        if program.kind == "static":
            functions = program.elf.static_symbols if program.elf is not None else ()
            contains = f" with {_functions(functions)}" if functions else ""
            yield EnvironmentProblem(
                f"{printable(program.word)} is linked statically{contains}",
                "a preloaded library cannot record its calls",
                "link it with the shared library of MPI (without -static)",
                code="profile-static",
                program=program.word,
                functions=list(functions),
            )
        elif program.privileged:
            yield EnvironmentProblem(
                f"{printable(program.word)} runs with the rights of another user or group",
                "the system's loader then ignores LD_PRELOAD",
                "profile a copy without the setuid and setgid bits and without capabilities",
                code="profile-setuid",
                program=program.word,
            )


def _certainly_unrecorded(program: Program) -> bool:
    """Whether nothing can be recorded. A static program without MPI functions may still start other programs,
    like a shell."""
    statically_linked = program.elf is not None and bool(program.elf.static_symbols)
    return program.privileged or (program.kind == "static" and statically_linked)


def _differ(one: MpiFamily, other: MpiFamily) -> bool:
    """Whether the launcher of one family does not start ranks of the other. Families with the same launcher
    do not differ."""
    return one.known and other.known and one is not other and not set(one.launchers) & set(other.launchers)


def explain_empty_profile(target: Target, exit_code: int | None) -> HockneyError:
    """The reason, if known, why no rank left a file: an obstacle, or how the program reaches MPI."""
    if target.obstacles:
        return target.obstacles[0]
    mismatch = next((each for each in target.warnings if each.code == "profile-launcher-mismatch"), None)
    if mismatch is not None:
        return mismatch
    why, remedy = _reason(target.programs)
    if exit_code:
        why = f"it ended with exit code {exit_code} before the end of MPI_Init; {why}"
        remedy = "check that the command works without hockney"
    return EnvironmentProblem(
        f"{printable(target.program)} made no call of MPI that could be recorded",
        why,
        remedy,
        code="profile-nothing-recorded",
        exit_code=exit_code,
        functions={program.word: list(program.bound) for program in target.programs},
        libraries=[str(path) for path in target.paths],
        loads_at_run_time=any(each.elf and each.elf.loads_at_run_time for each in target.programs),
    )


def _reason(programs: Sequence[Program]) -> tuple[str, str]:
    missing = [program.word for program in programs if program.path is None]
    if missing:
        return f"there is no program {printable(missing[0])}", "give its path"
    linked = [program for program in programs if program.calls_mpi]
    if linked and linked[0].bound:
        program = linked[0]
        return (
            f"it uses {_functions(program.bound)} of {_names_of_libraries(program)}, but no process with the "
            "recording library called MPI_Init",
            "check that the program calls MPI_Init, and that nothing on the way to it resets LD_PRELOAD",
        )
    if linked:
        return (
            f"it is linked to {_names_of_libraries(linked[0])}, but binds no function of MPI itself",
            "check that the program calls MPI_Init, and that nothing on the way to it resets LD_PRELOAD",
        )
    dynamic = [program for program in programs if program.elf is not None]
    if any(program.elf.loads_at_run_time for program in dynamic if program.elf is not None):
        return (
            "it is not linked to an MPI, but may load one at run time (dlopen), whose functions "
            "it then looks up where no preloaded library is seen",
            "load the MPI library with RTLD_GLOBAL and bind its functions by name, as mpi4py does",
        )
    if dynamic:
        return "it is not linked to an MPI", "give the command that starts the program that calls MPI"
    return "its program is not known", "give the command that starts the program that calls MPI"


def _names_of_libraries(program: Program) -> str:
    return list_names([library.path.name for library in program.libraries] or list(program.unresolved))


def _functions(names: Sequence[str]) -> str:
    """ "MPI_Init, MPI_Send, MPI_Recv and 7 more"; functions that start MPI come first."""
    first = sorted(names, key=lambda name: ("nit" not in name, name))
    return f"{plural(len(names), 'MPI function')} ({list_names(first, LISTED_FUNCTIONS)})"
