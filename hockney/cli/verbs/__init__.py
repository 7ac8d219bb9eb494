# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command group. Each verb has a module of the same name, whose `command` is imported when the verb is
used."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click

from hockney import __version__
from hockney.cli.arguments.commands import VerbGroup

HERE = Path(__file__).parents[2]
PYTHON = ".".join(map(str, sys.version_info[:2]))

VERBS = {
    "survey": "Measure this machine's message passing and report what it costs.",
    "run": "Run a study, or individual cases.",
    "profile": "Profile your own MPI program: where its communication time goes, and why.",
    "plan": "Show what would run: cases, launches, bytes and time.",
    "predict": "Predict the speed-up and efficiency of a parallel algorithm, and what would improve them.",
    "replay": "Run a traced program again: by the model, a simulator, an emulated machine, or here.",
    "report": "Rewrite a run's report.html from its records.",
    "compare": "Compare two runs, or several per side: what is slower in B than in A, and by how much.",
    "history": "Keep runs in an archive, show how times changed, and check the newest run.",
    "models": "Print the models fitted to a run: parameters, 95% intervals, verdicts.",
    "resume": "Measure the rest of an unfinished run; failed cases are tried once more.",
    "verify": "Check that a run's measurements are unchanged, complete and correct.",
    "import": "Convert the output of OSU, IMB, nccl-tests or SKaMPI into runs.",
    "export": "Write a run's times as CSV or Parquet, or its noise of cores.",
    "machines": "List this machine and its MPIs, simulated, emulated and published machines.",
    "calibrate": "Write a machine file from a run, to simulate its machine at any size.",
    "reproduce": "Repeat papers' studies on their machines, simulated by SimGrid or emulated.",
    "barrier": "Name the fastest barrier for a number of ranks, and its margin.",
    "guidelines": "List collectives that are slower than another way to the same result.",
    "tune": "Write tables of the fastest collective algorithms, for use by other programs.",
    "build": "Compile the engine for an MPI, unless it is compiled already.",
    "doctor": "Check everything that a survey needs, step by step, and suggest remedies.",
}
"""The first sentence of each verb's help, in the order in which users meet the verbs."""


def load(verb: str) -> click.Command:
    """Load the command of one of `VERBS`."""
    command: click.Command = importlib.import_module(f"{__name__}.{verb}").command
    return command


def measurable() -> set[str]:
    """Names of all studies and workloads, which only 'hockney run' accepts."""
    from hockney.studies import all_studies  # needs numpy
    from hockney.system.bundled import bundled_workloads

    return {*all_studies(), *bundled_workloads()}


@click.group(
    cls=VerbGroup,
    verbs=VERBS,
    load=load,
    measurable=measurable,
    epilog="Example:\n\n  hockney survey --budget 30s",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message=f"%(prog)s %(version)s from {HERE} (Python {PYTHON})")
def app() -> None:
    """Measure and predict what message passing costs on your machine.

    Exit codes: 0 success, 1 negative answer (such as a corrupted payload), 2 usage error, 3 not possible in
    this environment, 4 inconclusive (such as an incomplete plan), 130 interrupted.
    """
