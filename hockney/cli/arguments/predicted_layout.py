# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Over how many nodes the ranks of a prediction are spread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from hockney.cli.arguments import options


def predicted_layout(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--nodes and --ranks-per-node; without them, `default` describes what is predicted."""
    nodes = click.option(
        "--nodes",
        type=options.NODES,
        metavar="N",
        default=0,
        help=f"Spread the ranks evenly over N nodes of this kind.  [default: {default}]",
    )
    each = click.option(
        "--ranks-per-node",
        type=options.NODES,
        metavar="R",
        default=0,
        help=f"Put R ranks on each node.  [default: {default}]",
    )
    return lambda command: nodes(each(command))
