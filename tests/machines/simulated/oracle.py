# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Single operations on simulated machines, timed by probe.cpp, to be compared with formulas."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hockney.core.machine import Mpi
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.launch.smpi import algorithm_words, platform_lines, rank_hosts

PROBE = Path(__file__).with_name("probe.cpp")
ENGINE = PROBE.parents[3] / "engine"
COMPILE = ("-std=c++17", "-O1", "-fno-gnu-unique", "-Wl,-Bsymbolic")

SMALL = Segment(
    send_s=1.3e-6, send_s_per_byte=1e-10, isend_s=1.7e-6, latency_s=10e-6, per_byte_s=3e-9, receive_s=0.9e-6
)
LARGE = Segment(first=2000, send_s=2e-6, latency_s=30e-6, per_byte_s=2e-9, receive_s=1e-6)
EAGER = 4096


def machine(*nodes: NodeGroup, segments: Sequence[Segment] = (SMALL, LARGE), **more) -> Platform:
    """A machine with LogGP costs only, or with the network and other properties in `more`."""
    own = {key: more.pop(key) for key in list(more) if key in Platform.__struct_fields__}
    network = Network(nodes=nodes, **more)
    return Platform(
        **{"name": "m", "title": "M", "eager": EAGER, **own}, network=network, segments=tuple(segments)
    )


@dataclass
class Simulator:
    """SimGrid with the plug-in and the compiled probe."""

    mpi: Mpi
    plugin: Path
    probe: Path
    folder: Path
    ran: list[subprocess.CompletedProcess[str]] = field(default_factory=list)

    def times(self, platform: Platform, ranks: int, *words: str) -> dict[str, float]:
        """Seconds of each operation of `words`, from all ranks' beginning to the last one's end."""
        done = self.run(
            platform_lines(platform), rank_hosts(platform, ranks), words, algorithm_words(platform)
        )
        assert done.returncode == 0, done.stderr
        found = (line.split() for line in done.stdout.splitlines())
        return {words[0]: float(words[1]) for words in found if len(words) == 2 and ":" in words[0]}

    def run(self, text: str, where: Sequence[str], words: Sequence[str], options: Sequence[str] = ()):
        places = list(where)
        (self.folder / "platform.txt").write_text(text)
        (self.folder / "hosts.txt").write_text("".join(f"{host}\n" for host in places))
        command = [
            self.mpi.mpiexec, "-quiet", "-no-privatize", "-np", str(len(places)), "-hostfile", "hosts.txt",
            "-platform", str(self.plugin), "--log=root.thres:error", "--cfg=contexts/guard-size:0",
            "--cfg=contexts/stack-size:256", *options, str(self.probe), *words,
        ]  # fmt: skip
        environment = {**os.environ, "HOCKNEY_PLATFORM": "platform.txt"}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300
        )


def compiled(mpi: Mpi, folder: Path) -> Path:
    """The probe for `mpi`."""
    probe = folder / "probe"
    sources = [str(PROBE), str(ENGINE / "smpi" / "processor.cpp"), f"-I{ENGINE}"]
    subprocess.run([mpi.mpicxx, *COMPILE, *sources, "-o", str(probe)], check=True, capture_output=True)
    return probe
