# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How long verbs that measure nothing take, most of which is importing.

    python benchmarks/startup.py [--before TREE] [--run RUN] [--rounds 15]
                                 [--out benchmarks/results/startup.md]

Every command is started once in each round, in this tree and in that of an older version; the table has
medians, and the ratio of their processor times. Processor time (user and system) stands next to the wall
clock, which other programs lengthen. `--run` is a run to read, of which each tree gets a copy; by default a
survey of the fake machine. "Fits computed": without a `fits.json` from which they could be read.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAIN = ("-c", "from hockney.cli import main; main()")
PEERS = {"python -c pass": ("-c", "pass"), "python -c 'import numpy'": ("-c", "import numpy")}
COMPUTED = " (fits computed)"
COMMANDS = (
    "--version",
    "--help",
    "surveyy",
    "plan --help",
    "plan survey",
    "machines --show t3e",
    "export run --csv table.csv",
    f"report run{COMPUTED}",
    "report run",
    "models run",
    "export run --what summaries --csv -",
)


def started(words: Sequence[str], tree: Path, folder: Path) -> tuple[float, float]:
    """(wall clock, processor time) of a Python process with `words`, in seconds."""
    environ = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ |= {"PYTHONPATH": str(tree), "HOCKNEY_MACHINE": "fake"}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


def medians(times: Sequence[tuple[float, float]]) -> str:
    wall, processor = (statistics.median(column) for column in zip(*times, strict=True))
    return f"{wall:.2f} s ({processor:.2f} s)"


def ratio(before: Sequence[tuple[float, float]], now: Sequence[tuple[float, float]]) -> str:
    """Of the medians of the processor times."""
    return f"{statistics.median(b for _, b in before) / statistics.median(n for _, n in now):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", type=Path, help="the tree of an older version")
    parser.add_argument("--run", type=Path, help="a run to read; a copy is used")
    parser.add_argument("--only", default="", metavar="TEXT", help="commands that contain this text")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    trees = {"before": arguments.before.resolve()} if arguments.before else {}
    trees["now"] = ROOT
    commands = {f"hockney {line}": (*MAIN, *line.removesuffix(COMPUTED).split()) for line in COMMANDS}
    commands = {name: words for name, words in commands.items() if arguments.only in name}
    times: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if arguments.run:
            shutil.copytree(arguments.run, folder / "run")
        else:
            started((*MAIN, "survey", "--out", "run", "-q"), ROOT, folder)
        for tree in trees:
            shutil.copytree(folder / "run", folder / tree / "run")
        for round_ in range(arguments.rounds + 1):  # the first one compiles modules and does not count
            for name, words in PEERS.items():
                times.setdefault((name, "now"), []).append(started(words, ROOT, folder))
            for name, words in commands.items():
                for tree, path in trees.items():
                    if name.endswith(COMPUTED):
                        (folder / tree / "run" / "fits.json").unlink(missing_ok=True)
                    times.setdefault((name, tree), []).append(started(words, path, folder / tree))
            if not round_:
                times.clear()
    titles = [*trees, *(["ratio"] if arguments.before else [])]
    lines = [f"| command | {' | '.join(titles)} |", f"|---|{'---|' * len(titles)}"]
    for name in (*PEERS, *commands):
        cells = [medians(times[name, tree]) if (name, tree) in times else "" for tree in trees]
        if arguments.before:
            both = (name, "before") in times
            cells.append(ratio(times[name, "before"], times[name, "now"]) if both else "")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    version = ".".join(map(str, sys.version_info[:3]))
    load = os.getloadavg()
    lines += [
        "",
        f"Python {version}, {os.cpu_count()} CPUs, {arguments.rounds} rounds; load average {load[1]:.1f}.",
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.out:
        head = "# Start-up time of the command line\n\n`python benchmarks/startup.py --before TREE`\n\n"
        note = "Medians of the wall clock, in parentheses of processor time.\n\n"
        arguments.out.write_text(head + note + text)


if __name__ == "__main__":
    main()
