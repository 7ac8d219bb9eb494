# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The text of `fits.json`, and the seal at its end by which hockney recognises fits that it may use again.

The seal is not part of the fits. `measurement/stored_fits.py` decides who computes it, and from what."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from hockney.core.fit import Fits

_SEAL = re.compile(rb',\n "seal": "([0-9a-f]{64})"\n}\n\Z')
_END = b"\n}\n"

Seal = Callable[[bytes], str]
"""The seal of a text without one; "" if it gets none."""


def no_seal(text: bytes) -> str:
    return ""


def fits_text(fits: Fits, seal: Seal = no_seal) -> bytes:
    text = msgspec.json.format(msgspec.json.encode(fits), indent=1) + b"\n"
    found = seal(text)
    return text.removesuffix(_END) + f',\n "seal": "{found}"\n}}\n'.encode() if found else text


def sealed_fits(data: bytes, matches: Callable[[bytes, str], bool]) -> Fits | None:
    """The fits in a text with a seal that `matches` the text without it; None otherwise."""
    found = _SEAL.search(data)
    if found is None or not matches(data[: found.start()] + _END, found[1].decode()):
        return None
    try:
        return msgspec.json.decode(data, type=Fits)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
