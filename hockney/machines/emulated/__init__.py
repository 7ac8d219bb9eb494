# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Emulated machines: Ethernets of network namespaces on this host, described in TOML.

`emulated.ethernet("sun-ethernet")` is a description with every number in SI units; `machines/` contains those
that come with hockney, and docs/emulated.md explains how to write one. engine/emulated/ builds them.
"""

from hockney.machines.emulated.names import ethernet, names
from hockney.machines.emulated.read import NUMBERS, read
from hockney.machines.emulated.room import inside, trial
from hockney.machines.emulated.write import value_text, write

__all__ = ["NUMBERS", "ethernet", "inside", "names", "read", "trial", "value_text", "write"]
