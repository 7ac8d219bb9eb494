# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What goes into the page packed, since the browser can unpack it: Plotly's script, and the figures' data.

Of Plotly's bundles the one with curves and surfaces is in `vendor/`, packed: it is a third of the whole,
which would make each page 1.2 MB larger, and packing that takes longer than writing the rest of the page
(`docs/decisions/0017-page-weight.md`). To renew it: `npm pack plotly.js-gl3d-dist-min`, then `gzip -9n` of
its `plotly-gl3d.min.js`, and the two constants below."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
from dataclasses import dataclass
from importlib.resources import files

BUNDLE = "plotly-gl3d.min.js.gz"
VERSION = "4.1.1"
SHA256 = "aab04dcd9c103a92b18723f8c837712fe820f325d0bcd2421e415e8124a75b9f"
"""Of the script, as npm has it."""


@dataclass(frozen=True)
class Script:
    """`packed` is base64 of gzip; `policy` the hash by which the page's policy knows what it unpacks."""

    packed: str
    policy: str


@functools.cache
def plotly() -> Script:
    """The same for every page."""
    content = (files("hockney.report") / "vendor" / BUNDLE).read_bytes()
    return Script(base64.b64encode(content).decode("ascii"), _named(bytes.fromhex(SHA256)))


def packed(content: bytes) -> str:
    # No time in the header: the same page gives the same bytes. Level 9 would save 0.2%, slowly.
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode("ascii")


def policy(script: bytes) -> str:
    return _named(hashlib.sha256(script).digest())


def _named(digest: bytes) -> str:
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
