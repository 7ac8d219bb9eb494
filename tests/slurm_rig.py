# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster for tests: `with rig_of(2, 4) as rig: rig.run("sinfo")`. It is built in namespaces
(`slurm/cluster.py`) and ends with this process, however that ends: the cluster's first process reads from a
pipe of ours."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from needs import missing

CLUSTER = Path(__file__).with_name("slurm") / "cluster.py"
NAMESPACES = (
    "unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
)  # fmt: skip
PATIENCE_S = 300.0
"""A guard against hanging, even if other tests use all processors."""
SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin"
WORK = Path("/run")
"""The cluster's own file system, seen only inside."""
AGENT = str(WORK / "on")
"""A remote shell to the nodes: AGENT NODE COMMAND..."""
NEEDED = ("unshare", "nsenter", "ip", "slurmctld", "slurmd", "munged", "sbatch")


@dataclass(frozen=True)
class Done:
    words: tuple[str, ...]
    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"{' '.join(self.words)}: {self.code}\n{self.out}\n{self.err}"


@dataclass
class Rig:
    """`nodes` nodes with `cpus` processors each, as Slurm sees it; in truth they share those of this host."""

    nodes: int
    cpus: int
    init: int
    """Process 1 of the cluster, by its number outside."""
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"n{i}" for i in range(1, self.nodes + 1))

    def words(self, *words: str, cwd: Path | None = None) -> list[str]:
        """The command that runs `words` on the front end."""
        enter = ["nsenter", "-t", str(self.init), "-n", "-u", "-i", "-m", "-p", "--"]
        # nsenter --wd would enter the folder in the file systems outside
        there = ["sh", "-c", 'cd "$0" && exec "$@"', str(cwd)] if cwd else []
        return [*enter, *there, *words]

    def environment(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        return {**os.environ, **self.environ, **(env or {})}

    def run(
        self,
        *words: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = PATIENCE_S,
        check: bool = True,
    ) -> Done:
        """Run `words` on the front end to their end."""
        ended = subprocess.run(
            self.words(*words, cwd=cwd),
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        done = Done(words, ended.returncode, ended.stdout, ended.stderr)
        assert not check or not done.code, done
        return done

    def begin(
        self, *words: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start `words` on the front end."""
        return subprocess.Popen(
            self.words(*words, cwd=cwd),
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def on(self, node: str, command: str, check: bool = True) -> Done:
        """Run a shell's `command` on a node, outside of any job."""
        return self.run(AGENT, node, command, check=check)

    def down(self, node: str, noticed: bool = True) -> None:
        """The node's power fails. Unless that is `noticed` by an administrator, Slurm finds out by itself,
        after half a minute."""
        self.run(sys.executable, str(CLUSTER), "down", node)
        if noticed:
            self.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=power")

    def up(self, node: str) -> None:
        """Start the node again, and wait until jobs can use it: some time after Slurm calls it idle."""
        self.run(sys.executable, str(CLUSTER), "node", node)

        def runs() -> bool:
            self.run("scontrol", "update", f"NodeName={node}", "State=RESUME", check=False)
            return not self.run("srun", "--immediate=10", f"--nodelist={node}", "true", check=False).code

        self.wait_for(runs, f"{node} runs a job")
        self.wait_for(lambda: self.state_of_node(node) == "idle", f"{node} is idle")

    def states(self) -> dict[str, str]:
        """Of each node: idle, allocated, down ..."""
        shown = self.run("sinfo", "-h", "-N", "-p", "main", "-o", "%N %T").out.split()
        return dict(zip(shown[::2], shown[1::2], strict=True))

    def state_of_node(self, node: str) -> str:
        return self.states()[node]

    def shown(self, job: str, field: str) -> list[str]:
        """A field of scontrol's description of a job, or of each job of an array."""
        words = self.run("scontrol", "show", "job", job).out.split()
        return [word.partition("=")[2] for word in words if word.startswith(f"{field}=")]

    def state(self, job: str) -> str:
        """PENDING, RUNNING, COMPLETED ..."""
        return self.shown(job, "JobState")[0]

    def wait_for(self, holds: Callable[[], object], what: str, timeout: float = PATIENCE_S) -> None:
        end = time.monotonic() + timeout
        while not holds():
            assert time.monotonic() < end, f"not within {timeout:g} s: {what}"
            time.sleep(0.1)

    def clear(self) -> None:
        """As at the start: no job, all nodes idle."""
        self.run("scancel", "-u", "root", check=False)
        self.wait_for(lambda: not self.run("squeue", "-h").out.strip(), "no job is left")
        for name, state in self.states().items():
            if state.startswith("down"):
                self.up(name)
        self.wait_for(lambda: set(self.states().values()) == {"idle"}, "all are idle")


@contextlib.contextmanager
def rig_of(nodes: int, cpus: int, switches: int = 0) -> Iterator[Rig]:
    """Start a cluster, whose nodes are below so many switches if Slurm has a topology; skip the test with the
    reason if this host cannot have one."""
    refuse_without_needs()
    cluster = subprocess.Popen(
        (*NAMESPACES, sys.executable, str(CLUSTER), "up", str(nodes), str(cpus), str(switches)),
        env=os.environ | PATHS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert cluster.stdout is not None and cluster.stderr is not None and cluster.stdin is not None
    try:
        if cluster.stdout.readline() != "up\n":
            reason = cluster.stderr.read().strip() or "ended without a reason"
            raise RuntimeError(f"the Slurm cluster does not start: {reason}")
        init = int(Path(f"/proc/{cluster.pid}/task/{cluster.pid}/children").read_text())
        yield Rig(nodes, cpus, init, {**PATHS, "SLURM_CONF": str(WORK / "slurm.conf")})
    finally:
        cluster.stdin.close()  # its first process reads the end of its input, and with it every process ends
        cluster.wait(PATIENCE_S)
        cluster.stdout.close()
        cluster.stderr.close()


PATHS = {"PATH": f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}"}


def refuse_without_needs() -> None:
    for name in NEEDED:
        if not shutil.which(name, path=PATHS["PATH"]):
            missing("Slurm", name)
    if not any(Path("/usr/lib").glob("*/pmix2/lib/libpmix.so*")):
        missing("Slurm", "libpmix.so")
    if os.geteuid() != 0:
        missing("root's rights", "to start slurmd")
    tried = subprocess.run((*NAMESPACES, "true"), capture_output=True, text=True)
    if tried.returncode:
        missing("namespaces", tried.stderr.strip())
