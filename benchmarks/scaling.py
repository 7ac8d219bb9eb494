# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions of traced programs on more ranks, compared with simulations of the same programs.

The programs of scaling_programs.c are traced with a real MPI on few ranks, most of which share cores, and
predicted on a described machine. Afterwards the same source, compiled for SimGrid, runs there on as many
ranks, with the described times of sums and barriers. Predictions are written before the simulations start.
With --replay, SimGrid also makes the predicted calls on the smallest number of ranks, which shows the error
of the evaluation alone."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import scaling_measured

import hockney
from hockney import measurement
from hockney.core.errors import HockneyError
from hockney.extrapolation.scaling import ScalingPoint
from hockney.launch.smpi import HOSTS, PLATFORM, SmpiLauncher, platform_lines, rank_hosts
from hockney.measurement import notifier
from hockney.replay.replayer import replay_on

SOURCE = Path(__file__).with_name("scaling_programs.c")
PATTERNS = (
    "line", "ring", "halo2d", "torus2d", "halo3d", "torus3d", "sweep", "dissemination", "butterfly",
    "pairwise", "transpose", "master", "random",
)  # fmt: skip
TRACED = (2, 4, 8, 16)
CUBES = (2, 8, 16, 27)
"""Programs on grids of three dimensions need ranks with neighbors on all sides."""
STEPS, TOTAL_S = 10, 0.064


@dataclass(frozen=True)
class Line:
    """One prediction: run times in seconds; None where the prediction is refused."""

    program: str
    machine: str
    ranks: int
    predicted_s: float | None
    low_s: float | None
    high_s: float | None
    reason: str = ""
    simulated_s: float | None = None
    replayed_s: float | None = None

    @property
    def error(self) -> float | None:
        if self.predicted_s is None or self.simulated_s is None:
            return None
        return self.predicted_s / self.simulated_s - 1

    @property
    def covered(self) -> bool | None:
        if self.low_s is None or self.high_s is None or self.simulated_s is None:
            return None
        return self.low_s <= self.simulated_s <= self.high_s


def compiled(compiler: str, folder: Path) -> Path:
    """With an MPI's compiler."""
    program = folder / SOURCE.stem
    subprocess.run([compiler, "-O2", "-g", "-o", program, SOURCE, "-lm"], check=True)
    return program


def traced(program: Path, mpiexec: str, pattern: str, ranks: int, folder: Path) -> Path:
    """Ranks are busy while they compute: their processor time shows the computation, even if other programs
    share their cores."""
    out = folder / f"{pattern}-{ranks}"
    command = [
        sys.executable, "-m", "hockney", "profile", "-q", "--trace", "--survey", "none", "--out", str(out),
        "--", mpiexec, "-n", str(ranks), str(program), pattern, str(STEPS), str(TOTAL_S), "busy",
    ]  # fmt: skip
    environ = os.environ | {"HOCKNEY_PROFILE_COUNTER": "cpu-time"}
    subprocess.run(command, check=True, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return out


def predicted(
    pattern: str, machine: str, ranks: tuple[int, ...], profiles: list[Path]
) -> tuple[list[Line], Sequence[ScalingPoint]]:
    try:
        found = hockney.predict_scaling(
            profiles, ranks, machine=machine, details=False, listen=lambda event: None
        )
    except HockneyError as error:
        return [Line(pattern, machine, each, None, None, None, error.code) for each in ranks], ()
    if found.refused:
        reason = found.unknown_sites[0].reason
        return [Line(pattern, machine, each, None, None, None, reason) for each in ranks], ()
    return [
        Line(pattern, machine, point.ranks, point.run_s.value, point.run_s.low, point.run_s.high)
        for point in found.points
    ], found.points


def replayed(point: ScalingPoint, machine: str) -> float:
    """The time of the predicted calls and computation, executed by SimGrid, relative to the evaluation."""
    graph = point.program.trace_graph.graph
    graph = replace(graph, operations=tuple(each.capitalize() for each in graph.operations))
    found = replay_on(graph, machine, free_matching=True, listen=lambda event: None)
    return found.time_s / point.program.costs_only_program.value_s * point.run_s.value


def compiled_simulation(source: Path, folder: Path) -> Path:
    """The program for SimGrid."""
    smpicc = shutil.which("smpicc")
    assert smpicc is not None, "SimGrid's smpicc"
    program = folder / f"{source.stem}-simulation"
    subprocess.run([smpicc, "-O2", "-g", "-o", program, source, "-lm"], check=True)
    return program


def compiled_calls(folder: Path) -> Path:
    """The library of MPI functions that take the times of the description, as in the engine: sums, hardware
    barriers, broadcasts on a medium and other times of calls. SimGrid's functions only take those of
    messages."""
    engine = Path(__file__).parent.parent / "engine"
    sources = [engine / "smpi" / f"{name}.cpp" for name in ("barrier", "broadcast", "calls", "sum")]
    library = folder / "libcalls.so"
    subprocess.run(["smpicxx", "-O2", "-std=c++20", f"-I{engine}", "-o", library, *sources], check=True)
    return library


def simulated_s(
    run: SmpiLauncher, calls: Path, ranks: int, arguments: list[str], *, private: bool = True
) -> float:
    """The time that the program prints on the launcher's machine. Its global variables are `private` to
    ranks."""
    command = run.describe(ranks)
    smpirun, *words = (word for word in command.words if not private or word != "-no-privatize")
    with tempfile.TemporaryDirectory() as folder:
        hosts = rank_hosts(run.platform, ranks, run.ranks_per_node)
        (Path(folder) / HOSTS).write_text("".join(f"{host}\n" for host in hosts))
        (Path(folder) / PLATFORM).write_text(platform_lines(run.platform, max_events=run.max_events))
        done = subprocess.run(
            [smpirun, "-wrapper", f"env LD_PRELOAD={calls}", *words, *arguments],
            cwd=folder,
            env=os.environ | dict(command.environment),
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout.split()[-1])


def summary(lines: list[Line]) -> list[str]:
    head = [
        "| program | ranks | predicted (ms) | 95% interval | simulated (ms) | error | of the evaluation |",
        "|" + "---|" * 7,
    ]
    rows = []
    for line in lines:
        if line.predicted_s is None or line.low_s is None or line.high_s is None or line.error is None:
            rows.append(f"| {line.program} | {line.ranks} | refused: {line.reason} | | | | |")
            continue
        bounds = f"{1e3 * line.low_s:.2f} to {1e3 * line.high_s:.2f}"
        rows.append(
            f"| {line.program} | {line.ranks} | {1e3 * line.predicted_s:.2f} | {bounds} | "
            f"{1e3 * (line.simulated_s or 0):.2f} | {line.error:+.1%} | "
            f"{'' if line.replayed_s is None else f'{line.predicted_s / line.replayed_s - 1:+.2%}'} |"
        )
    errors = [abs(line.error) for line in lines if line.error is not None]
    covered = [line.covered for line in lines if line.covered is not None]
    if errors:
        rows.append("")
        rows.append(
            f"{len(errors)} predictions: median error {np.median(errors):.1%}, 90th percentile "
            f"{np.quantile(errors, 0.9):.1%}, {sum(covered)} in their intervals; "
            f"{len(lines) - len(errors)} refused."
        )
    return [*head, *rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpi", required=True, help="the folder of an MPI, with bin/mpicc and bin/mpiexec")
    parser.add_argument("--mode", choices=("simulated", "memory", "ethernet"), default="simulated")
    parser.add_argument("--repeat", type=int, default=5, help="launches that are compared with predictions")
    parser.add_argument("--machine", default="sim:t3e")
    parser.add_argument("--ranks", default="64,256")
    parser.add_argument("--replay", action="store_true", help="execute the predicted calls as well")
    parser.add_argument("--only", default=",".join(PATTERNS))
    parser.add_argument("--out", type=Path, help="the table; predictions are kept next to it (.jsonl)")
    given = parser.parse_args()
    if given.mode != "simulated":
        with tempfile.TemporaryDirectory(prefix="hockney-scaling-") as name:
            program = compiled(f"{given.mpi}/bin/mpicc", Path(name))
            mode = {"memory": scaling_measured.memory, "ethernet": scaling_measured.ethernet}[given.mode]
            print("\n".join(mode(program, given.mpi, Path(name), given.repeat)))
        return
    ranks = tuple(int(each) for each in given.ranks.split(","))
    launcher = measurement.prepare(given.machine, "", True, notifier(lambda event: None), []).launcher
    assert isinstance(launcher, SmpiLauncher)
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="hockney-scaling-") as name:
        folder = Path(name)
        real = compiled(f"{given.mpi}/bin/mpicc", folder)
        run = replace(launcher, engine=compiled_simulation(SOURCE, folder))
        calls = compiled_calls(folder)
        for pattern in given.only.split(","):
            counts = CUBES if pattern.endswith("3d") else TRACED
            profiles = [traced(real, f"{given.mpi}/bin/mpiexec", pattern, each, folder) for each in counts]
            found, points = predicted(pattern, given.machine, ranks, profiles)
            if given.out is not None:
                with open(given.out.with_suffix(".jsonl"), "a") as kept:
                    kept.writelines(json.dumps(asdict(line)) + "\n" for line in found)
            for line in found:
                if line.predicted_s is not None:
                    words = [pattern, str(STEPS), str(TOTAL_S)]
                    line = replace(line, simulated_s=simulated_s(run, calls, line.ranks, words))
                if given.replay and points and line.ranks == points[0].ranks:
                    line = replace(line, replayed_s=replayed(points[0], given.machine))
                lines.append(line)
            print("\n".join(summary(lines[-len(found) :])), flush=True)
    text = "\n".join(summary(lines)) + "\n"
    print(text)
    if given.out is not None:
        given.out.write_text(text)


if __name__ == "__main__":
    main()
