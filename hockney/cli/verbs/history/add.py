# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history add: copies runs into the archive."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.archive import archive
from hockney.cli.arguments.click_extensions import Command, example


@click.command(
    "add",
    cls=Command,
    epilog=example("hockney history add runs/mine", "hockney history add runs/mine --archive archive"),
)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=options.PATH)
@archive
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Copy runs into the archive. RUN is a run folder, or a folder of them.

    The copy appears complete or not at all, and is checked first. A run that the archive has already is not
    copied again; if a run has grown, its later state replaces the earlier one. report.html is left out:
    'hockney report' writes it again.
    """
    from hockney.cli.actions.history.add import action

    return action(**given)
