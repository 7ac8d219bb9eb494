# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The process between hockney and a program it starts, which ensures that nothing outlives hockney.

Run by path (`python -I -S keeper.py FD GRACE FOLDER INSIDE WORDS...`) and without imports from hockney, so
that it starts in milliseconds. It starts WORDS with its own standard input, output and error, then waits for
one of two events:

* the program ends: its remaining processes are killed, and the keeper exits with its exit code (128+n for
signal n); * the socket FD closes, because hockney closed it or is dead (SIGKILL included): the program gets
SIGTERM, and after GRACE seconds everything below the keeper gets SIGKILL.

If FOLDER is not empty, files are first sent through the socket: for each a line with its name and its length
in bytes, then its content; finally an empty line. The keeper creates the folder with the files, and removes
it when it exits, even if hockney was killed. With INSIDE 1 the program is started in that folder.

MPI launchers start their ranks in separate sessions, so killing a process group does not reach them. The
keeper is a subreaper (Linux, prctl(2)): orphans below it become its children, so that walking the process
tree from the keeper finds every rank on this host. Because it waits for all of them, the CPU time of the
whole launch is in hockney's RUSAGE_CHILDREN afterwards.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

PR_SET_PDEATHSIG = 1  # linux/prctl.h
PR_SET_CHILD_SUBREAPER = 36
CANNOT_START = "hockney-keeper cannot start: "
CANNOT_WRITE = "hockney-keeper cannot write: "
CANNOT_WRITE_CODE = 126


def prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def receive_files(lifeline: int) -> dict[str, bytes] | None:
    """Return the files sent through the socket; None if hockney died before the last one."""
    files: dict[str, bytes] = {}
    with os.fdopen(os.dup(lifeline), "rb") as stream:
        while True:
            header = stream.readline()
            if not header.endswith(b"\n"):
                return None
            if header == b"\n":
                return files
            name, length = header.split()
            content = stream.read(int(length))
            if len(content) < int(length):
                return None
            files[name.decode()] = content


def create_folder(folder: str, files: dict[str, bytes]) -> None:
    os.mkdir(folder, 0o700)
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def remove_folder(folder: str) -> None:
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in files:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(parent, name))
        for name in folders:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(parent, name))
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def spawn(words: list[str], folder: str | None) -> int:
    keeper = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # in case the keeper itself is killed
    if os.getppid() != keeper:  # it was, before this
        os._exit(127)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGPIPE, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    try:
        if folder is not None:
            os.chdir(folder)
        os.execvp(words[0], words)
    except OSError as error:
        os.write(2, (CANNOT_START + (error.strerror or "") + "\n").encode())
    os._exit(127)


def descendants_of(root: int) -> list[int]:
    """Return all processes below `root`, from /proc; empty without /proc."""
    children: dict[int, list[int]] = {}
    try:
        names = [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []
    for name in names:
        try:
            with open("/proc/" + name + "/stat", "rb") as file:
                # the command may contain blanks and brackets; the text after its last bracket does not
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if fields[0] != b"Z":
            children.setdefault(int(fields[1]), []).append(int(name))
    descendants: list[int] = []
    pending = [root]
    while pending:
        new = children.get(pending.pop(), [])
        descendants += new
        pending += new
    return descendants


def reap(main: int, code: int | None) -> int | None:
    """Wait for all processes that have ended. Returns the exit code of `main` if known, otherwise `code`."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code if code is not None else 0
        if pid == 0:
            return code
        if pid == main:
            code = os.waitstatus_to_exitcode(status)


def kill_all(main: int, code: int | None) -> int | None:
    """Send SIGKILL to all processes below until none is left. Each pass finds children created since the last
    one."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        remaining = descendants_of(os.getpid()) or ([] if code is not None else [main])
        for pid in remaining:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        code = reap(main, code)
        if not remaining:
            break
        time.sleep(0.01)
    return code


def main() -> None:
    lifeline, grace, folder, inside, words = (
        int(sys.argv[1]),
        float(sys.argv[2]),
        *sys.argv[3:5],
        sys.argv[5:],
    )
    os.set_inheritable(lifeline, False)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    os.set_blocking(wake_read, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    stop_requests: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: stop_requests.append(1))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    if folder:
        files = receive_files(lifeline)
        if files is None:
            os._exit(137)
        try:
            create_folder(folder, files)
        except OSError as error:
            os.write(2, (CANNOT_WRITE + (error.strerror or "") + "\n").encode())
            remove_folder(folder)
            os._exit(CANNOT_WRITE_CODE)
    child = spawn(words, folder if inside == "1" else None)
    for stream in (0, 1):  # the reader must see the end of the program's output, not of the keeper's
        os.close(stream)

    code: int | None = None
    deadline: float | None = None
    poll = select.poll()
    for descriptor in (lifeline, wake_read):
        poll.register(descriptor, select.POLLIN | select.POLLHUP)
    while code is None and (deadline is None or time.monotonic() < deadline):
        timeout_ms = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        for descriptor, _ in poll.poll(timeout_ms):
            if descriptor == wake_read:
                os.read(wake_read, 4096)
            else:
                poll.unregister(lifeline)
                stop_requests.append(1)
        code = reap(child, code)
        if stop_requests and deadline is None and code is None:
            deadline = time.monotonic() + grace
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGTERM)
    code = kill_all(child, code)
    if folder:
        remove_folder(folder)
    os._exit(137 if code is None else 128 - code if code < 0 else code)


if __name__ == "__main__":
    main()
