# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages about emulated machines."""

from __future__ import annotations

SAMPLES = {
    "machine": ["sun-ethernet"],
    "step": ["user namespace", "veth", "mount of /proc", "wire", "host h1", ""],
    "reason": ["Operation not permitted", ""],
    "option": ["agent"],
    "nodes": [9],
    "hosts": [8],
}
