# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The launcher interface: runs cases on a number of ranks and yields the engine's lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from hockney.core.case import Case
from hockney.core.errors import ExitCode, HockneyError
from hockney.core.notice import Notice
from hockney.core.record import EngineLines, Origin

Reason = Literal["hung", "slow", "died", "refused", "time", "corrupted"]


@dataclass(frozen=True)
class LaunchOptions:
    """Options of one launch, in seconds and fractions.

    `launch` is the launch's name in the run, `index` its number. `budget_s` is the measuring time of all its
    cases together, `limit_s` the time after which no case begins (0 for no limit). `precision` is the target
    relative half width of the median's 95% interval. `visits` is the maximum per case, in random order over
    the launch. A case that exceeds its time by `hang_s` is reported as hung and ends the launch. `variables`
    are set for all ranks in addition to the launcher's; they belong to `setting`. `turn` numbers launches
    that differ only in their hosts: each uses the next hosts. `seed` is that of the run's random choices.
    `files` are the contents of files that the cases name, by file name in the folder of the plan.
    """

    launch: str
    index: int
    budget_s: float
    precision: float = 0.02
    max_repetitions: int = 20000
    visits: int = 1
    hang_s: float = 60.0
    origin: Origin = "measured"
    limit_s: float = 0.0
    setting: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    turn: int = 0
    seed: int = 0
    files: Mapping[str, str | bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class LaunchCommand:
    """How a launch is started: its command line, and the variables added to the environment.

    `binding` describes where the ranks run ("rank i on cpu i of 0,1"); `bound` tells whether each is bound to
    cores. With `placed_by_user`, the user's arguments decide the binding, so only the ranks can report it.
    `notes` list what hockney did on the user's behalf.
    """

    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    binding: str = ""
    bound: bool = True
    placed_by_user: bool = False
    oversubscribed: bool = False
    notes: tuple[Notice, ...] = ()


class Hello(msgspec.Struct, frozen=True):
    """One rank's report about itself. `library` is the first line of MPI_Get_library_version; `node`, `core`,
    `cache` and `socket` are as in `record.Rank`; `engine` is a digest of the executable on its host."""

    rank: int
    size: int
    host: str
    library: str
    node: str = ""
    core: int = -1
    cache: int = -1
    socket: int = -1
    engine: str = ""

    def __post_init__(self) -> None:
        if not self.node:
            msgspec.structs.force_setattr(self, "node", self.host)


@dataclass(frozen=True)
class CheckedRanks:
    """Reports of ranks that were started only to identify themselves. `transport` is empty if MPI does not
    report it."""

    hellos: tuple[Hello, ...] = ()
    transport: Mapping[str, str] = field(default_factory=dict)


class LaunchFailed(HockneyError):
    """A launch that ended before its plan. Lines that it yielded before are valid.

    Reasons: hung, a case exceeded its time and the job was killed; slow, the same, but the case made
    progress; died, a rank, mpiexec or the engine ended the job; refused, the launch never started, or the
    machine failed; time, its time was used up, which is not an error; corrupted, one of the engine's own
    messages arrived corrupted. `case` is the line of the running case, empty if none ran. `silent_ranks` did
    not report to the watchdog; `phase` is the phase of the other ranks. `job_exit` is the job's exit code,
    `tail` the last lines of its standard error.
    """

    def __init__(
        self,
        what: str,
        why: str = "",
        remedy: str = "",
        *,
        code: str,
        reason: Reason = "died",
        case: str = "",
        silent_ranks: tuple[int, ...] = (),
        phase: str = "",
        job_exit: int = 0,
        tail: tuple[str, ...] = (),
        **fields: object,
    ) -> None:
        super().__init__(what, why, remedy, code=code, **fields)
        self.reason = reason
        if reason == "corrupted":
            self.exit_code = ExitCode.ANSWER_IS_NO
        self.case = case
        self.silent_ranks = silent_ranks
        self.phase = phase
        self.job_exit = job_exit
        self.tail = tail


class Launcher(ABC):
    """Runs cases in the given order, all on the same number of ranks."""

    @abstractmethod
    def run(self, plan: Sequence[Case], ranks: int, options: LaunchOptions) -> EngineLines:
        """Yield the engine's lines as they arrive.

        The first line is a Launch (with `command`, `binding` and `bound` filled in). Every case that begins
        before the limit yields Start and then Record or Failure. The last line is End. Raises LaunchFailed if
        the job dies or hangs. Closing the generator, or an exception such as KeyboardInterrupt passing
        through it, ends every process of the launch.
        """

    def check(self, ranks: int) -> CheckedRanks:
        """Start `ranks` ranks that only identify themselves; does nothing if starting them cannot fail.
        Raises EnvironmentProblem."""
        return CheckedRanks()

    @abstractmethod
    def describe(self, ranks: int) -> LaunchCommand:
        """Describe how `run` would start its ranks; starts nothing."""
