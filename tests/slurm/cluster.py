# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster on this host: a front end, and nodes n1, n2 ... that are namespaces with an Ethernet.

    cluster.py up NODES CPUS [SWITCHES]
                                 process 1 of a new pid namespace: builds everything, prints "up" and waits
                                 until its standard input ends; with it every process of the cluster ends
    cluster.py node NAME         in the cluster: start (again) the node and its slurmd
    cluster.py down NAME         end everything on the node at once, as when its power fails

All files are in a file system of the cluster's mount namespace (`WORK`), so that nothing is left on the host.
`ON` runs a command on a node, with the words of a remote shell: on NODE COMMAND... Several slurmd on one host
need a port, a spool folder and a TmpFS each (PMIx keeps its sockets there), and an address that is not a
loopback's."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

WORK = Path("/run")
CONF = WORK / "slurm.conf"
ON = WORK / "on"
NETWORK = "10.99.0"
FRONT = "front"
DEADLINE_S = 30.0

# cred_expire: a requeued job waits this long before it starts again. MessageTimeout: on a busy machine,
# a step may take longer to start than Slurm's usual 10 s
SETTINGS = """\
ClusterName=rig
SlurmctldHost=front({network}.254)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge/socket,cred_expire=20
CryptoType=crypto/munge
StateSaveLocation={work}/state
SlurmctldPidFile={work}/slurmctld.pid
SlurmctldLogFile={work}/slurmctld.log
SlurmdSpoolDir={work}/spool.%n
SlurmdPidFile={work}/slurmd.%n.pid
SlurmdLogFile={work}/slurmd.%n.log
TmpFS={work}/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=30
TCPTimeout=1
MessageTimeout=25
KillWait=5
MinJobAge=600
JobRequeue=1
MailProg=/bin/true
"""


def run(*words: str) -> None:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")


def until(what: str, holds) -> None:
    end = time.monotonic() + DEADLINE_S
    while not holds():
        if time.monotonic() > end:
            raise SystemExit(f"not within {DEADLINE_S:g} s: {what}")
        time.sleep(0.02)


def namespaces(*words: str) -> subprocess.Popen[bytes]:
    """Start `words` as process 1 of new namespaces, which end with this process."""
    new = ("unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    # to a file: whoever waits for the end of our output must not wait for theirs
    with (WORK / "nodes.log").open("a") as log:
        return subprocess.Popen((*new, *words), stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def describe_switches(nodes: list[str], count: int) -> str:
    """A tree of `count` leaves with as many nodes each, as far as there are nodes."""
    size = -(-len(nodes) // count)
    leaves = [f"SwitchName=leaf{k} Nodes={','.join(nodes[k * size : (k + 1) * size])}" for k in range(count)]
    (WORK / "topology.conf").write_text(
        "\n".join([*leaves, f"SwitchName=top Switches=leaf[0-{count - 1}]\n"])
    )
    return "TopologyPlugin=topology/tree\n"


def configure(nodes: list[str], cpus: int, switches: int) -> None:
    for name in ("state", "munge"):
        (WORK / name).mkdir()
    lines = [SETTINGS.format(network=NETWORK, work=WORK)]
    if switches:
        lines.append(describe_switches(nodes, switches))
    for i, name in enumerate(nodes, 1):
        address = f"NodeHostname={name} NodeAddr={NETWORK}.{i} Port={7000 + i}"
        lines.append(f"NodeName={name} {address} CPUs={cpus} RealMemory=1000 State=UNKNOWN\n")
    names = ",".join(nodes)
    lines.append(f"PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO\n")
    CONF.write_text("".join(lines))
    hosts = [f"{NETWORK}.{i} {name}\n" for i, name in enumerate(nodes, 1)]
    (WORK / "hosts").write_text("".join(["127.0.0.1 localhost\n", f"{NETWORK}.254 {FRONT}\n", *hosts]))
    run("mount", "--bind", str(WORK / "hosts"), "/etc/hosts")
    ON.write_text(REMOTE_SHELL)
    ON.chmod(0o755)


REMOTE_SHELL = f"""\
#!/bin/sh
# [options] NODE COMMAND...: as ssh, the words are joined by blanks and run by a shell
while :; do case $1 in -[lpoi]) shift 2;; -*) shift;; *) break;; esac; done
node=$1; shift
[ -e {WORK}/$node.init ] || {{ echo "on: no route to $node" >&2; exit 255; }}
within='cd "$1" 2>/dev/null; shift; eval "$*"'
exec nsenter -t "$(cat {WORK}/$node.init)" -n -u -i -m -p -- sh -c "$within" on "$PWD" "$@"
"""


def offer_pmix() -> None:
    """Slurm's plugin opens libpmix.so, which Debian has in a package for developers only."""
    for folder in Path("/usr/lib").glob("*/pmix2/lib"):
        if not (folder / "libpmix.so").exists():
            copied = WORK / "pmix" / folder.parts[3]
            shutil.copytree(folder, copied, symlinks=True)
            (copied / "libpmix.so").symlink_to(next(copied.glob("libpmix.so.*.*")).name)
            run("mount", "--bind", str(copied), str(folder))


def front(nodes: list[str], cpus: int, switches: int) -> None:
    run("mount", "-t", "tmpfs", "tmpfs", str(WORK))
    run("mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
    offer_pmix()
    configure(nodes, cpus, switches)
    run("hostname", FRONT)
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "bridge", "type", "bridge")
    run("ip", "addr", "add", f"{NETWORK}.254/24", "dev", "bridge")
    run("ip", "link", "set", "bridge", "up")
    key = WORK / "munge" / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    kept = [f"--{name}={WORK}/munge/{name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
    # as root it asks for the right owner of a few folders; they are of no use to anybody else here
    run("munged", "--force", f"--key-file={key}", *kept)
    for name in nodes:
        node(name)
    run("slurmctld", "-i", "-f", str(CONF))


def node(name: str) -> None:
    down(name)
    number = re.sub(r"\D", "", name)
    for folder in (WORK / f"spool.{name}", WORK / f"tmp.{name}"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    outer = namespaces("sh", "-c", f"hostname {name}; mount -t tmpfs tmpfs /dev/shm; exec sleep infinity")
    children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
    until(f"{name} starts", lambda: children.read_text().strip())
    init = children.read_text().strip()
    comm = Path(f"/proc/{init}/comm")
    until(f"{name} is ready", lambda: comm.read_text() == "sleep\n")
    port = f"port{number}"
    run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", init)
    run("ip", "link", "set", port, "master", "bridge", "up")
    within = ("nsenter", "-t", init, "-n", "ip")
    run(*within, "link", "set", "lo", "up")
    run(*within, "addr", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
    run(*within, "link", "set", "eth0", "up")
    (WORK / f"{name}.init").write_text(init)
    run(str(ON), name, "slurmd", "-N", name, "-f", str(CONF))


def down(name: str) -> None:
    file = WORK / f"{name}.init"
    if file.exists():
        init = int(file.read_text())
        file.unlink()
        os.kill(init, signal.SIGKILL)
        until(f"{name} ends", lambda: not Path(f"/proc/{init}/ns").exists() or ended(init))
        subprocess.run(("ip", "link", "del", "port" + re.sub(r"\D", "", name)), capture_output=True)


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def idle(nodes: list[str]) -> bool:
    shown = subprocess.run(("sinfo", "-h", "-N", "-o", "%T", "-p", "main"), capture_output=True, text=True)
    return shown.stdout.split() == ["idle"] * len(nodes)


def up(count: int, cpus: int, switches: int = 0) -> None:
    nodes = [f"n{i}" for i in range(1, count + 1)]
    front(nodes, cpus, switches)
    until("all nodes are idle", lambda: idle(nodes))
    signal.signal(signal.SIGCHLD, reap)
    print("up", flush=True)
    while os.read(0, 4096):
        pass


def reap(*_: object) -> None:
    """Process 1 inherits what others leave."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def main() -> None:
    os.environ["SLURM_CONF"] = str(CONF)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    action, *words = sys.argv[1:]
    if action == "up":
        up(*map(int, words))
    else:
        {"node": node, "down": down}[action](words[0])


if __name__ == "__main__":
    main()
