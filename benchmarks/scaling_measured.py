# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions of traced programs on more ranks or busier nodes, compared with launches of these programs."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import hockney
from hockney import measurement
from hockney.api.checking import check_prediction
from hockney.api.profile import load_profile
from hockney.core.ethernet import Ethernet
from hockney.launch.mpi import MpiLauncher
from hockney.machines import emulated
from hockney.measurement import notifier
from hockney.profiles.trace import read_traces

HOCKNEY = (sys.executable, "-m", "hockney")
COUNTED = {"HOCKNEY_PROFILE_COUNTER": "cpu-time"}


def ran(words: Sequence[str], environ: Mapping[str, str]) -> None:
    subprocess.run(
        words, check=True, env=os.environ | environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def profiled(out: Path, words: Sequence[str], environ: Mapping[str, str], before: Sequence[str] = ()) -> Path:
    options = ("profile", "-q", "--trace", "--survey", "none", "--out", str(out))
    ran([*before, *HOCKNEY, *options, "--", *words], environ)
    return out


# Memory: one busy core, and two

MEMORY_PROGRAMS = ("triad", "mix", "cache")
MEMORY_RANKS = (2, 4, 8)
MEMORY_STEPS = 10
BUSY = ("nice", "-n", "-20", "taskset", "-c", "1", "sh", "-c", "while :; do :; done")
"""A loop without memory traffic keeps other programs from the second core."""
FIRST = ("chrt", "-r", "1")
"""Measured programs run before all others."""
CORES = {1: "0", 2: "0,1"}
NODES = """
name = "nodes"
title = "Nodes with {cores} cores"
[network]
nodes = [{{count = 2, cores = {cores}}}]
[[segments]]
latency_s = "1us"
"""


@dataclass(frozen=True)
class MemoryLine:
    """Computation on two ranks with `busy` cores of a node, predicted from runs on the other number, relative
    to these; `evidence` tells where the share of memory comes from."""

    program: str
    busy: int
    evidence: str
    share: tuple[float, float]
    predicted: tuple[float, float]
    measured: float

    @property
    def row(self) -> str:
        low, high = self.predicted
        middle = (low * high) ** 0.5
        inside = low <= self.measured * 1.02 and self.measured <= high * 1.02
        share = f"{self.share[0]:.0%} to {self.share[1]:.0%}"
        return (
            f"| {self.program} | {self.busy} | {self.evidence} | {share} | "
            f"{low:.3f} to {high:.3f} | {self.measured:.3f} | {middle / self.measured - 1:+.1%} | "
            f"{'yes' if inside else 'no'} |"
        )


def memory(program: Path, mpi: str, folder: Path, repeat: int) -> list[str]:
    """Processor time of programs whose ranks keep one or two cores busy."""
    rates = folder / "rates"
    ran(
        [
            *HOCKNEY,
            "run",
            "node_memory",
            "ranks=1,2",
            "--budget",
            "60s",
            "--mpi",
            mpi,
            "-q",
            "--out",
            str(rates),
        ],
        {},
    )
    for cores in CORES:
        (folder / f"nodes-{cores}.toml").write_text(NODES.format(cores=cores))
    lines = []
    for name in MEMORY_PROGRAMS:
        words = [f"{mpi}/bin/mpiexec", "--oversubscribe", "--bind-to", "none", "-n"]

        def run(busy: int, ranks: int, turn: int, name: str = name, words: list[str] = words) -> Path:
            out = folder / f"{name}-{busy}-{ranks}-{turn}"
            command = [*words, str(ranks), str(program), name, str(MEMORY_STEPS)]
            with quiet_core():
                return profiled(out, command, COUNTED, (*FIRST, "taskset", "-c", CORES[busy]))

        ratios = []
        for turn in range(repeat):  # in pairs, which other programs disturb alike
            order = (1, 2) if turn % 2 else (2, 1)
            seconds = {busy: processor_s(run(busy, 2, turn)) for busy in order}
            ratios.append(seconds[2] / seconds[1])
        ratio = statistics.median(ratios)
        traced = {
            (busy, ranks): folder / f"{name}-{busy}-{ranks}-0" if ranks == 2 else run(busy, ranks, 0)
            for busy in CORES
            for ranks in MEMORY_RANKS
        }
        for busy in CORES:
            other = 3 - busy
            profiles = [traced[other, ranks] for ranks in MEMORY_RANKS]
            for again in ([], [traced[busy, 4]]):
                found = hockney.predict_scaling(
                    [*profiles, *again], [2], machine=str(folder / f"nodes-{busy}.toml"), memory=rates,
                    details=False, listen=lambda event: None,
                )  # fmt: skip
                model, slowdown = found.answer.memory, found.points[0].slowdown
                assert model is not None and slowdown is not None
                share = (model.share.low, model.share.high)
                measured = ratio if busy == 2 else 1 / ratio
                lines.append(MemoryLine(name, busy, model.share.evidence, share, slowdown, measured).row)
                slower = model.traced.rates[1] / model.traced.rates[2]
        print("\n".join(lines[-4:]), flush=True)
    return [
        f"A core's rate in memory alone, relative to that with both busy: {slower:.3f} (relative error "
        f"{model.traced.error:.1%}).",
        "",
        "| program | busy cores | evidence | share of memory | predicted, relative to the traced runs "
        "| measured | error of the middle | inside, within 2% |",
        "|" + "---|" * 8,
        *lines,
    ]


@contextlib.contextmanager
def quiet_core() -> Iterator[None]:
    with subprocess.Popen(BUSY) as loop:
        try:
            yield
        finally:
            loop.kill()


def processor_s(profile: Path) -> float:
    """The mean processor time of a rank between its calls."""
    traces = read_traces(load_profile(profile).recorded.typical)
    return statistics.fmean(float(each.counts.sum()) for each in traces)


# Hosts of an emulated Ethernet

ETHERNET_PROGRAMS = ("exchange", "cg", "alltoall")
HOSTS = (1, 2, 3)
ETHERNET_STEPS, COMPUTE_S = 20, 0.1
SIZES = "0,8,64,512,1KiB,4KiB,8KiB,16KiB,32KiB,64KiB"
ETHERNETS = {
    "10 Mbit/s, 1 ms": Ethernet(
        name="slow", title="10 Mbit/s", hosts=4, rate=10e6 / 8, medium="switch", delay_s=1e-3
    ),
    "100 Mbit/s, 0.5 ms": Ethernet(
        name="fast", title="100 Mbit/s", hosts=4, rate=100e6 / 8, medium="switch", delay_s=0.5e-3
    ),
}


def ethernet(program: Path, mpi: str, folder: Path, repeat: int) -> list[str]:
    """Run times on four hosts, predicted from traces on one, two and three."""
    rows, errors, covered = [], [], 0
    for title, described in ETHERNETS.items():
        path = folder / f"{described.name}.toml"
        path.write_text(emulated.write(described))
        machine = f"lan:{path}"
        survey = folder / f"survey-{described.name}"
        options = ("--ranks", "2,3,4", "--sizes", SIZES, "--budget", "4m", "--mpi", mpi)
        ran([*HOCKNEY, "survey", "--machine", machine, *options, "-q", "--out", str(survey)], {})
        launcher = measurement.prepare(machine, mpi, True, notifier(lambda event: None), []).launcher
        assert isinstance(launcher, MpiLauncher)
        for name in ETHERNET_PROGRAMS:
            commands = {
                ranks: launched(launcher, ranks, [str(program), name, str(ETHERNET_STEPS), str(COMPUTE_S)])
                for ranks in (*HOSTS, 4)
            }
            profiles = [
                profiled(folder / f"{described.name}-{name}-{ranks}", *commands[ranks]) for ranks in HOSTS
            ]
            found = hockney.predict_scaling(
                profiles, [4], machine=str(survey), details=False, listen=lambda event: None
            )
            frozen = found.freeze(folder / f"{described.name}-{name}.json")
            words, environ = commands[4]
            with open(os.devnull, "w") as nothing:
                checked = check_prediction(
                    frozen, words, repeat=repeat, out=folder / f"check-{described.name}-{name}",
                    archive=folder / "archive", environ=os.environ | environ, stdout=nothing.fileno(),
                    listen=lambda event: None,
                )  # fmt: skip
            row = checked.check.rows[0]
            errors.append(abs(row.error))
            covered += row.verdict == "covered"
            bounds = f"{1e3 * (row.predicted.low or 0):.0f} to {1e3 * (row.predicted.high or 0):.0f}"
            rows.append(
                f"| {title} | {name} | {1e3 * row.predicted.value:.0f} | {bounds} | "
                f"{1e3 * row.measured.value:.0f} | {row.error:+.1%} | {row.verdict} |"
            )
            print(rows[-1], flush=True)
    return [
        "| network | program | predicted (ms) | 95% interval | measured (ms) | error | verdict |",
        "|" + "---|" * 7,
        *rows,
        "",
        f"{len(errors)} predictions: median error {statistics.median(errors):.1%}, largest "
        f"{max(errors):.1%}, {covered} in their intervals.",
    ]


def launched(launcher: MpiLauncher, ranks: int, program: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The command line and the variables that start a program on as many emulated hosts."""
    command = launcher.describe(ranks)
    engine = command.words.index(str(launcher.engine))
    return [*command.words[:engine], *program], dict(command.environment)
