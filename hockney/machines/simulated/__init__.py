# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of simulated machines: reading, writing, and search by name.

`simulated.platform("paragon-8x8")` returns a description with all numbers in SI units. `machines/` contains
the bundled machines, and docs/machine-files.md explains the format.
"""

from hockney.machines.simulated.names import names, platform, variants
from hockney.machines.simulated.queries import (
    between_nodes_guessed,
    check_ranks,
    enlarged,
    layout,
    origin_of,
    places,
)
from hockney.machines.simulated.read import read
from hockney.machines.simulated.variants import Variant
from hockney.machines.simulated.write import value_text, write
