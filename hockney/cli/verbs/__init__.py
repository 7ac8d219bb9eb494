# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One module for each verb, named like it; its `command` is imported when the verb is used."""

from __future__ import annotations

import importlib

import click

VERBS = {
    "survey": "Measure this machine's message passing and show what it costs.",
    "run": "Run a study, or single cases.",
    "plan": "Show what would run: cases, launches, bytes, time.",
    "predict": "Predict speed-up and efficiency of a parallel algorithm, and what would help it.",
    "report": "Make report.html of a run again from its records.",
    "models": "Print the models fitted to a run: parameters, 95% intervals, verdicts.",
    "resume": "Measure what a run planned and does not have; cases that failed are tried once more.",
    "verify": "Check that a run's files are what was written, complete, and right.",
    "export": "Write a run's times as CSV or Parquet.",
    "machines": "Show this machine with every MPI on it, the simulated and the published machines.",
    "calibrate": "Describe a run's machine for the simulator, so that it can be grown beyond its size.",
    "reproduce": "Measure papers again on their machines, simulated by SimGrid.",
    "barrier": "Say which barrier to take on so many ranks, by how much, and what that rests on.",
    "build": "Compile the engine for an MPI, unless that was done before.",
    "doctor": "Check everything a survey needs, step by step, and say what to do where it fails.",
}
"""The first sentence of each verb's help, in the order that users meet the verbs."""


def load(verb: str) -> click.Command:
    """The command of one of `VERBS`."""
    command: click.Command = importlib.import_module(f"{__name__}.{verb}").command
    return command
