# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command group, with its verbs in the order in which users meet them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from hockney import __version__
from hockney.cli import verbs
from hockney.cli.arguments.commands import VerbGroup

HERE = Path(__file__).parents[1]
PYTHON = ".".join(map(str, sys.version_info[:2]))


@click.group(
    cls=VerbGroup,
    verbs=verbs.VERBS,
    load=verbs.load,
    measurable=verbs.measurable,
    epilog="Example:\n\n  hockney survey --budget 30s",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message=f"%(prog)s %(version)s from {HERE} (Python {PYTHON})")
def app() -> None:
    """Measure and predict what message passing costs on your machine.

    Exit codes: 0 success, 1 negative answer (such as a corrupted payload), 2 usage error, 3 not possible in
    this environment, 4 inconclusive (such as an incomplete plan), 130 interrupted.
    """
