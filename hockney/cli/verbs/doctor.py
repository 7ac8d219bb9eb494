# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney doctor: whether this machine can measure, and if not, why."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("doctor", "hockney doctor", "hockney doctor --noise 1m")
@options.machine_options
@options.launch_options
@options.host_options
@click.option(
    "--noise",
    type=options.BUDGET,
    default="10s",
    show_default=True,
    help="How long to observe the noise, such as 10s or 1m.",
)
@click.option("--no-noise", is_flag=True, help="Do not measure the noise.")
def command() -> None:
    """Check everything that a survey needs, step by step, and suggest remedies.

    The last step measures the noise: how much times vary, which modes occur and for how long, interference
    from other programs, and the precision that a survey can reach.
    """
