# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney's command line, called thousands of times: a process that has already imported it forks for each
call.

As a program it reads one request per line (JSON: words, cwd, env, seconds) and writes one answer per line.
`Calls` is the other end."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HUNG = -1000


@dataclass(frozen=True, repr=False)
class Ended:
    """How a call ended: its exit code, negative after a signal, HUNG if it exceeded its time; `logs` are
    files that it left among the temporary ones, such as a bug report, with the end of each."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str
    logs: tuple[str, ...]

    @property
    def problem(self) -> str:
        """Behaviour that no call may show, whatever its input; "" if there was none."""
        if self.code == HUNG:
            return "hung"
        if self.code not in (0, 1, 2, 3, 4):
            return f"ended with {self.code}"
        if "Traceback" in self.err:
            return "a traceback"
        if self.logs:
            return f"left {self.logs}"
        if any(not (c.isprintable() or c == "\n") for c in self.out + self.err):
            return "unprintable output"
        return ""

    def __str__(self) -> str:
        return f"hockney {self.words}: {self.problem or self.code}\n{self.out[-500:]}\n{self.err[-2000:]}"

    __repr__ = __str__


class Calls:
    """Calls in `cwd`, with temporary files in a separate folder."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(
        self, *words: str, cwd: Path, env: Mapping[str, str] | None = None, seconds: float = 300.0
    ) -> Ended:
        assert self._process.stdin and self._process.stdout
        with tempfile.TemporaryDirectory() as scratch:
            request = {"words": words, "cwd": str(cwd), "env": {**(env or {}), "TMPDIR": scratch}}
            print(json.dumps({**request, "seconds": seconds}), file=self._process.stdin, flush=True)
            answer = json.loads(self._process.stdout.readline())
            logs = tuple(f"{path.name}: {_end_of(path)}" for path in sorted(Path(scratch).iterdir()))
        return Ended(tuple(words), answer["code"], answer["out"], answer["err"], logs)


def _end_of(path: Path) -> str:
    return path.read_text(errors="replace")[-3000:] if path.is_file() else "a folder"


@contextlib.contextmanager
def calls() -> Iterator[Calls]:
    words = [sys.executable, __file__]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Calls(process)
        finally:
            process.kill()


def main() -> None:
    # what most verbs use, once
    from hockney.cli import verbs

    for verb in verbs.VERBS:
        verbs.load(verb)
        importlib.import_module(f"hockney.cli.actions.{verb}")
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)


def answer(words: Sequence[str], cwd: str, env: Mapping[str, str], seconds: float) -> dict[str, object]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            _child(words, cwd, env, out.fileno(), err.fileno())
        code = _wait(pid, seconds)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    return {"code": code, "out": texts[0], "err": texts[1]}


def _wait(pid: int, seconds: float) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return HUNG


def _child(words: Sequence[str], cwd: str, env: Mapping[str, str], out: int, err: int) -> None:
    code = 99
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.chdir(cwd)
        os.environ.update(env)
        tempfile.tempdir = None
        from hockney.cli.start import guarded

        code = guarded(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
