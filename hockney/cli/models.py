# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney models: the fitted parameters of a run."""

from __future__ import annotations

from pathlib import Path

import click

from hockney import lab
from hockney.cli import options
from hockney.cli.story import tell_notices
from hockney.cli.tables import print_json, text_table
from hockney.cli.words import Command, example
from hockney.core.errors import Inconclusive
from hockney.store import RunFolder
from hockney.studies.quality import chosen, parameter_table


@click.command("models", cls=Command, epilog=example("hockney models runs/mine"))
@options.folder
@options.as_json
def command(run: Path, as_json: bool) -> int:
    """Print the models fitted to a run: parameters, 95% intervals, verdicts. Nothing is written."""
    found = lab.results(RunFolder.open(run), save=False)
    tell_notices(found.notices)
    fits = found.fits
    if as_json:
        print_json(fits)
    elif not fits.fits:
        raise Inconclusive(
            "no model fits this run", "it measured nothing that a model describes", "'hockney survey' does"
        )
    else:
        click.echo(text_table(parameter_table(chosen(fits.fits))))
    return 0
