# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How well the predictions for described programs match the programs: those of examples/programs in C on two
ranks, and their skeletons and the NAS benchmarks on simulated and emulated machines.

    python benchmarks/programs.py [ranks|lan|simulated|nas ...] [--rounds 7]

`ranks`: every program runs in turns on one rank, with as many points as a rank of two has, and on two. Its
time per point on one rank and a survey give the prediction. `lan`: skeletons on an emulated Ethernet."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import hockney
from hockney import api
from hockney.core.machine import Mpi
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.command import command
from hockney.studies.program.results import ProgramResults
from hockney.suites.npb.studies.npb.results import NpbResults, predictions

EXAMPLES = Path(__file__).parent.parent / "examples" / "programs"
PROGRAMS = {
    "jacobi": (("362", "4000"), ("512", "4000")),
    "conjugate_gradients": (("50", "400"), ("63", "400")),
    "halo26": (("32", "1500"), ("32", "1500")),
    "pipeline": (("104", "8", "60"), ("128", "8", "60")),
    "transpose": (("256", "300"), ("512", "100")),
    "master_worker": (("100", "20000"), ("100", "20000")),
}
"""Arguments on one rank and on two."""
SMALL = {
    "jacobi": ("n=256",),
    "conjugate_gradients": ("n=24",),
    "halo26": ("n=8",),
    "pipeline": ("n=32", "chunks=4"),
    "transpose": ("n=64",),
}
"""Sizes for an Ethernet of 10 Mbit/s."""
SIMULATED = (("switched-ethernet", "4,8,16"), ("t3e", "16,64"), ("paragon", "16"))
EMULATED = "lan:switched-ethernet"
LINE = re.compile(r"\w+ (.*) on .* ranks: (\S+) us an iteration, (.*)")
Row = tuple[str, ...]


def measured(mpi: Mpi, program: Path, ranks: int, arguments: Sequence[str]) -> tuple[float, dict[str, str]]:
    """Microseconds of an iteration, and the sizes as `hockney predict` takes them."""
    asked = command(
        mpi, (str(program), *arguments), ranks, processors().cores, bind=True, root=os.geteuid() == 0
    )
    env = os.environ | dict(asked.environment)
    done = subprocess.run(asked.words, env=env, capture_output=True, text=True, check=True, timeout=600)
    found = LINE.fullmatch(done.stdout.strip())
    assert found is not None, done.stdout
    return float(found[2]), dict(word.split("=") for word in f"{found[1]} {found[3]}".split())


def on_two_ranks(folder: Path, rounds: int) -> Iterator[Row]:
    mpi = find_mpi(notify=lambda text: print(text, file=sys.stderr))
    mpicc = str(Path(mpi.mpicxx).with_name("mpicc"))
    for name in PROGRAMS:
        words = [mpicc, "-O2", "-std=c11", str(EXAMPLES / f"{name}.c"), "-o", str(folder / name), "-lm"]
        subprocess.run(words, check=True)
    run = folder / "survey"
    survey(run)
    times: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, list[dict[str, str]]] = defaultdict(list)
    single: dict[str, list[dict[str, str]]] = defaultdict(list)
    for _ in range(rounds):
        for name, (one, two) in PROGRAMS.items():
            single[name].append(measured(mpi, folder / name, 1, one)[1])
            us, printed = measured(mpi, folder / name, 2, two)
            times[name].append(us)
            sizes[name].append(printed)
    for name in PROGRAMS:
        given = dict(sizes[name][0])
        for key in given:
            if key == "t" or key.startswith("t_"):
                given[key] = middle(single[name], key)
        program = hockney.Program.read(EXAMPLES / f"{name}.toml")
        program = program.with_typed_sizes([f"{key}={value}" for key, value in given.items()])
        (row,) = program.predict([2], run=run).rows
        predicted = 1e6 * row.time.value / program.description.count(2)
        low, middle_us, high = min(times[name]), median(times[name]), max(times[name])
        yield (
            name,
            f"{middle_us:.4g} ({low:.4g} to {high:.4g})",
            f"{predicted:.4g}",
            error(predicted, middle_us),
        )


def middle(given: Sequence[dict[str, str]], key: str) -> str:
    """The time per point in the middle."""
    return sorted((each[key] for each in given), key=lambda text: float(text.rstrip("nus")))[len(given) // 2]


def error(predicted: float, true: float) -> str:
    return f"{predicted / true - 1:+.1%}"


def survey(run: Path) -> None:
    hockney_command("survey", "--ranks", "2", "--budget", "60s", "--out", str(run))


def hockney_command(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "hockney", *words, "-q"], check=True, stdout=subprocess.DEVNULL)


def skeletons(machine: str, ranks: str, folder: Path, sizes: Mapping[str, tuple[str, ...]]) -> Iterator[Row]:
    budget = "60s" if machine == EMULATED else "10m"
    for name in sizes:
        run = folder / f"{name}-{machine}"
        words = (str(EXAMPLES / f"{name}.toml"), *sizes[name], "--ranks", ranks, "--budget", budget)
        hockney_command("run", *words, "--machine", machine, "--out", str(run))
        for point in ProgramResults.of(api.load(run).evidence).points:
            if point.ranks > 1 and point.predicted_s is not None:
                bound = "" if point.predicted is None or point.predicted.contention else ", a bound"
                yield (
                    machine, name, str(point.ranks), f"{1e6 * point.time.value:.4g}",
                    f"{1e6 * point.predicted_s:.4g}", error(point.predicted_s, point.time.value) + bound,
                )  # fmt: skip


def nas(machine: str, ranks: str, folder: Path) -> Iterator[Row]:
    """IS is left out: alone, its simulated rank takes time for sorting that it does not do."""
    run = folder / f"npb-{machine}"
    words = (
        "npb",
        "class=S",
        "kernels=ep,cg,mg,ft,lu,bt,sp",
        "arithmetic=none",
        "barrier_at=none",
        "--budget",
        "10m",
    )
    hockney_command("run", *words, "--ranks", ranks, "--machine", f"sim:{machine}", "--out", str(run))
    for each in predictions(NpbResults.of(api.load(run).evidence)).predictions:
        measured_s, predicted_s = each.point.time.value, each.predicted_time.seconds
        bound = "" if each.predicted_time.contention else ", a bound"
        yield (
            f"sim:{machine}", each.point.kernel, str(each.point.ranks), f"{1e3 * measured_s:.4g}",
            f"{1e3 * predicted_s:.4g}", error(predicted_s, measured_s) + bound,
        )  # fmt: skip


def table(head: Row, rows: Sequence[Row]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    errors = [abs(float(row[-1].split("%")[0])) for row in rows]
    followed = [e for e, row in zip(errors, rows, strict=True) if "bound" not in row[-1]]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    summary = f"Median error {median(errors):.1f}%, largest {max(errors):.1f}%"
    if len(followed) < len(errors):
        summary += f"; without bounds, median {median(followed):.1f}%, largest {max(followed):.1f}%"
    return f"{text}\n\n{summary}.\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="default: all")
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    for name in asked.parts or PARTS:
        title, head, rows = PARTS[name]
        with tempfile.TemporaryDirectory() as folder:
            printed = table(head, list(rows(Path(folder), asked.rounds)))
        print(f"## {title}\n\n`python benchmarks/programs.py {name}`\n\n{printed}", flush=True)


PARTS: dict[str, tuple[str, Row, Callable[[Path, int], Iterator[Row]]]] = {
    "ranks": (
        "Programs in C on two ranks of this machine",
        ("program", "measured (us)", "predicted (us)", "error"),
        on_two_ranks,
    ),
    "lan": (
        "Skeletons on an emulated Ethernet",
        ("machine", "program", "ranks", "measured (us)", "predicted (us)", "error"),
        lambda folder, _: skeletons(EMULATED, "2,3,4", folder, SMALL),
    ),
    "simulated": (
        "Skeletons on simulated machines",
        ("machine", "program", "ranks", "simulated (us)", "predicted (us)", "error"),
        lambda folder, _: (
            row
            for machine, ranks in SIMULATED
            for row in skeletons(f"sim:{machine}", ranks, folder, {name: () for name in PROGRAMS})
        ),
    ),
    "nas": (
        "NAS benchmarks, class S, on simulated machines",
        ("machine", "benchmark", "ranks", "simulated (ms)", "predicted (ms)", "error"),
        lambda folder, _: (row for machine, ranks in SIMULATED for row in nas(machine, ranks, folder)),
    ),
}


if __name__ == "__main__":
    main()
