# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history reindex: makes the index again."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.archive import archive
from hockney.cli.arguments.click_extensions import Command, example


@click.command("reindex", cls=Command, epilog=example("hockney history reindex"))
@archive
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Make the archive's index again, from its runs.

    That is not necessary: a missing or damaged index is made again when it is used, and runs that were added
    or removed by other programs are noticed.
    """
    from hockney.cli.actions.history.reindex import action

    return action(**given)
