# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Start programs, send them input, read their output line by line, and end them with all their children.

This is the only package that starts processes. Every program runs below a keeper (`keeper.py`), so that
nothing it started outlives it or hockney, even if hockney is killed by SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, cast

from hockney.core.errors import EnvironmentProblem, printable
from hockney.process.keeper import CANNOT_START, CANNOT_WRITE, CANNOT_WRITE_CODE


class CannotStart(EnvironmentProblem):
    """The program is missing, not executable, or not for this machine."""


class CannotWrite(EnvironmentProblem):
    """The files of the program cannot be written."""


class ProgramTimeout(EnvironmentProblem):
    """The program exceeded its time limit and was ended. `out` and `err` are its output."""

    def __init__(self, what: str, *, code: str, out: str = "", err: str = "") -> None:
        super().__init__(what, code=code)
        self.out = out
        self.err = err


FATAL_GRACE_S = 3.0
KEEPER = Path(__file__).with_name("keeper.py")
Environment = Mapping[str, "str | None"]


@dataclass(frozen=True)
class CompletedProgram:
    """A completed program. `code` is its exit code, 128+n after signal n."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def ok(self) -> bool:
        return self.code == 0


@dataclass(frozen=True)
class OutputLine:
    """One line of standard output or standard error, without its line end."""

    source: Literal["out", "err"]
    text: str


@dataclass(frozen=True)
class Scratch:
    """A folder with these files (text or bytes by name) that exists only while a program runs, unless the
    keeper is killed as well. Its parent must exist, the folder must not. With `inside`, the program is
    started there."""

    folder: Path
    files: Mapping[str, str | bytes]
    inside: bool = False

    def encode(self) -> bytes:
        """Return the files in the keeper's format."""
        parts = []
        for name, content in self.files.items():
            data = content.encode() if isinstance(content, str) else content
            parts += [f"{name} {len(data)}\n".encode(), data]
        return b"".join([*parts, b"\n"])


class OutputTimeout(Exception):
    """No line arrived within the timeout."""


class Job:
    """A program whose output is read line by line. It starts on entering a `with` block; leaving the block
    ends the program and its descendants. `env` is merged into this process's environment; None removes a
    variable."""

    def __init__(
        self,
        words: Sequence[str],
        env: Environment | None = None,
        input: str | None = None,
        cwd: str | os.PathLike[str] | None = None,
        grace_s: float = 3.0,
        tail: int = 40,
        scratch: Scratch | None = None,
    ) -> None:
        self.words = tuple(str(word) for word in words)
        self.tail: deque[str] = deque(maxlen=tail)
        """The last lines of standard error, and lines added by the reader."""
        self._env, self._cwd, self._grace_s = env, cwd, grace_s
        self._input = memoryview(input.encode()) if input is not None else None
        self._scratch = scratch
        self._ready: deque[OutputLine] = deque()
        self._part = {"out": bytearray(), "err": bytearray()}
        self._selector = selectors.DefaultSelector()
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline: socket.socket | None = None
        self._drained = False

    def __enter__(self) -> Job:
        environ = merge_environment(self._env)
        program = shutil.which(self.words[0], path=environ.get("PATH", os.defpath))
        if program is None:
            raise CannotStart(
                f"'{printable(self.words[0])}' cannot be started",
                "the program is missing or not executable",
                code="program-not-found",
                program=self.words[0],
            )
        files = b"" if self._scratch is None else self._scratch.encode()
        self._lifeline, keeper_end = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    str(KEEPER),
                    str(keeper_end.fileno()),
                    str(self._grace_s),
                    *self._scratch_words(),
                    *self.words,
                ],
                stdin=subprocess.DEVNULL if self._input is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environ,
                cwd=self._cwd,
                pass_fds=[keeper_end.fileno()],
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            self._lifeline.close()
            raise _cannot_start(self.words[0], error.strerror or str(error)) from error
        finally:
            keeper_end.close()
        try:
            with contextlib.suppress(OSError):  # the keeper has died, and its end will be noticed
                self._lifeline.sendall(files)
        except BaseException:
            self.end()
            raise
        self._selector.register(self._lifeline, selectors.EVENT_READ, "end")
        for stream, name in self._outputs():
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, name)
        if self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)
            self._selector.register(self._process.stdin, selectors.EVENT_WRITE, "in")
        return self

    @property
    def _keeper(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "it starts when the `with` is entered"
        return self._process

    def _outputs(self) -> Iterator[tuple[IO[bytes], Literal["out", "err"]]]:
        assert self._keeper.stdout is not None and self._keeper.stderr is not None, "both are pipes"
        yield self._keeper.stdout, "out"
        yield self._keeper.stderr, "err"

    def _scratch_words(self) -> tuple[str, str]:
        if self._scratch is None:
            return "", "0"
        return str(self._scratch.folder), "1" if self._scratch.inside else "0"

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def pid(self) -> int:
        """The keeper's process; the program is below it."""
        return self._keeper.pid

    def line(self, timeout: float | None = None) -> OutputLine | None:
        """Return the next line; None if the program has ended and its output is read.

        Raises OutputTimeout if nothing arrives for `timeout` seconds, CannotWrite if the scratch folder could
        not be created. Writes standard input while waiting.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._ready:
            if self._drained:
                return None
            remaining_s = None if deadline is None else max(0.0, deadline - time.monotonic())
            events = self._selector.select(remaining_s)
            if not events and deadline is not None and time.monotonic() >= deadline:
                raise OutputTimeout  # only now: data that is already there counts, however late it is read
            for key, _ in events:
                if key.data == "in":
                    self._feed(cast("IO[bytes]", key.fileobj))
                elif key.data == "end":
                    self._drain()
                    break
                else:
                    self._read(cast("IO[bytes]", key.fileobj), key.data)
        line = self._ready.popleft()
        if line.source == "err":
            self._raise_if_unwritten(line.text)
            self.tail.append(line.text)
        return line

    def _raise_if_unwritten(self, text: str) -> None:
        """Raise CannotWrite if `text` is the keeper's report that it could not create the scratch folder."""
        if self._scratch is None or not text.startswith(CANNOT_WRITE):
            return
        if self.wait(self._grace_s) == CANNOT_WRITE_CODE:
            reason = text[len(CANNOT_WRITE) :].strip().lower()
            raise CannotWrite(
                f"cannot write to {printable(str(self._scratch.folder.parent))}",
                reason,
                "free some space there",
                code="launch-folder-not-writable",
                folder=str(self._scratch.folder.parent),
            )

    def wait(self, timeout: float | None = None) -> int | None:
        """Return the exit code, or None if the program is still running after `timeout` seconds."""
        try:
            code = self._keeper.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        return code if code >= 0 else 128 - code

    def end(self) -> int:
        """End the program and its descendants: SIGTERM, and SIGKILL after the grace period. Returns the exit
        code."""
        keeper = self._keeper
        if self._lifeline is not None:
            self._lifeline.close()
        for stream in (keeper.stdin, keeper.stdout, keeper.stderr):
            if stream:
                stream.close()
        self._selector.close()
        code = self.wait(self._grace_s + 8)
        if code is None:  # the keeper itself is stuck or stopped
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                keeper.kill()
            code = self.wait()
        assert code is not None, "without a timeout, it has ended"
        return code

    def _drain(self) -> None:
        """Read what remains in the pipes without waiting, after the keeper has exited.

        The pipes may stay open if the keeper was killed while a process below it is still running.
        """
        for stream, name in self._outputs():
            while stream in self._selector.get_map() and self._read(stream, name):
                pass
        self._drained = True

    def _feed(self, stream: IO[bytes]) -> None:
        assert self._input is not None, "there is a pipe only for input"
        try:
            sent = os.write(stream.fileno(), self._input[: 1 << 16])
        except BlockingIOError:
            return
        except OSError:  # the reader is gone; its exit code will show why
            sent = len(self._input)
        self._input = self._input[sent:]
        if not self._input:
            self._selector.unregister(stream)
            stream.close()

    def _read(self, stream: IO[bytes], name: Literal["out", "err"]) -> bool:
        """Read from the pipe. Returns False if it is empty or closed."""
        try:
            data = os.read(stream.fileno(), 1 << 16)
        except BlockingIOError:
            return False
        part = self._part[name]
        if not data:
            self._selector.unregister(stream)
            if part:
                self._ready.append(OutputLine(name, part.decode(errors="replace")))
                part.clear()
            return False
        start = len(part)
        part += data
        if part.find(b"\n", start) >= 0:
            *complete_lines, remainder = part.split(b"\n")
            self._ready.extend(
                OutputLine(name, text.decode(errors="replace").rstrip("\r")) for text in complete_lines
            )
            self._part[name] = remainder
        return True


stream = Job
"""Starts a program that is read line by line."""


def capture(
    words: Sequence[str],
    env: Environment | None = None,
    timeout: float = 60.0,
    input: str | None = None,
    cwd: str | os.PathLike[str] | None = None,
    is_fatal: Callable[[str], bool] = lambda line: False,
) -> CompletedProgram:
    """Run a program to its end. Any exit code is a result. After an output line for which `is_fatal` holds,
    the program has only a few seconds left. Raises CannotStart and ProgramTimeout."""
    out: list[str] = []
    err: list[str] = []
    deadline = time.monotonic() + timeout
    with stream(words, env, input, cwd) as job:
        try:
            while True:
                line = job.line(max(0.0, deadline - time.monotonic()))
                if line is None:
                    break
                (out if line.source == "out" else err).append(line.text + "\n")
                if is_fatal(line.text):
                    deadline = min(deadline, time.monotonic() + FATAL_GRACE_S)
        except OutputTimeout:
            name = Path(job.words[0]).name
            raise ProgramTimeout(
                f"'{printable(name)}' did not finish within {timeout:g} s and was stopped",
                code="program-took-too-long",
                out="".join(out),
                err="".join(err),
            ) from None
        code = job.wait(max(5.0, deadline - time.monotonic()))
        if code is None:
            code = job.end()
    if code == 127 and err and err[-1].startswith(CANNOT_START):
        raise _cannot_start(job.words[0], err[-1][len(CANNOT_START) :].strip().lower())
    return CompletedProgram(job.words, code, "".join(out), "".join(err))


def merge_environment(env: Environment | None) -> dict[str, str]:
    """Return this process's environment with `env` merged into it."""
    environ = dict(os.environ)
    for name, value in (env or {}).items():
        if value is None:
            environ.pop(name, None)
        else:
            environ[name] = value
    return environ


def _cannot_start(program: str, reason: str) -> CannotStart:
    return CannotStart(
        f"'{printable(program)}' cannot be started",
        reason,
        code="program-not-starting",
        program=program,
        reason=reason,
    )
