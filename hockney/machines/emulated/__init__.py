# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Emulated machines: Ethernets of network namespaces on this host, described in TOML.

`emulated.ethernet("sun-ethernet")` is a description with every number in SI units; `machines/` contains those
that come with hockney, and docs/emulated.md explains how to write one. engine/emulated/ builds them.
"""

from hockney.machines.emulated.description import NUMBERS, ethernet, names, read, value_text, write
from hockney.machines.emulated.namespaces import ethernet_words, trial
