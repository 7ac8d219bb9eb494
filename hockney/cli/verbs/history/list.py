# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history list: the runs of the archive."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.archive import archive, selected
from hockney.cli.arguments.click_extensions import Command, example


@click.command(
    "list",
    cls=Command,
    epilog=example("hockney history list", "hockney history list --machine 'fake*' --since 2023-01-01"),
)
@archive
@selected
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """List the runs of the archive, the oldest first.

    A series of times consists of the runs of one machine. The machine is the host; in batch jobs, whose
    nodes change, the host's name without its number.
    """
    from hockney.cli.actions.history.list import action

    return action(**given)
