# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Emulated machines: Ethernets of network namespaces on this host, described in TOML.

`emulated.ethernet("sun-ethernet")` returns a description with all numbers in SI units. `machines/` contains
the bundled machines, and docs/emulated.md explains the format. engine/emulated/ builds the networks.
"""

from hockney.machines.emulated.description import NUMBERS, ethernet, names, read, value_text, write
from hockney.machines.emulated.namespaces import ethernet_words, trial
