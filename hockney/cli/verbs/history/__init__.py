# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history: an archive of runs, and how times changed in it."""

from __future__ import annotations

import importlib

import click

from hockney.cli.arguments.click_extensions import VerbGroup, example

VERBS = {
    "add": "Copy runs into the archive.",
    "list": "List the runs of the archive, the oldest first.",
    "show": "Show how times changed over the runs, when, and what changed in the environment.",
    "check": "Check whether the newest run is as usual, by the spread of the earlier ones.",
    "prune": "Remove the runs that no rule keeps.",
    "reindex": "Make the archive's index again, from its runs.",
}
"""As in `hockney.cli.verbs`."""


def load(verb: str) -> click.Command:
    command: click.Command = importlib.import_module(f"{__name__}.{verb}").command
    return command


def measurable() -> set[str]:
    """Nothing is measured here."""
    return set()


@click.group(
    "history",
    cls=VerbGroup,
    verbs=VERBS,
    load=load,
    measurable=measurable,
    epilog=example("hockney history add runs/mine", "hockney history list", "hockney history show barrier"),
)
def command() -> None:
    """Keep runs in an archive, show how times changed, and check the newest run.

    The archive is a folder of run folders, $HOCKNEY_ARCHIVE or 'history' by default. Its index,
    index.sqlite, follows by itself. Several hosts may use the archive at the same time.
    """
