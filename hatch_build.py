# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fetches the part of Plotly's script that reports use when the package is built: it is on npm only.

The complete script, from Plotly's Python package, makes each report 1.4 MB larger. Without a network, the
package is built without the part, and reports contain the complete script. Decision 17 in docs/decisions
gives the reasons.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import sys
import tarfile
import urllib.request
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "plotly.js-basic-dist-min"
VERSION = "4.1.1"
# As npm publishes it. A new version needs a new one.
SHA512 = "1oNF8PeQx2hv/y7tqEVWKD3JGwn/MGEMQ8mL9HUwsaqG9FGy/OU5FHUHvzqbqxN4mnwZGI9abTiE775C4kkjMQ=="
MEMBER = "package/plotly-basic.min.js"
# Where hockney/report/assets.py looks for it.
TARGET = f"hockney/report/plotly-basic-{VERSION}.min.js"
# npm's own variable for mirrors, and its default.
REGISTRY = os.environ.get("NPM_CONFIG_REGISTRY", "https://registry.npmjs.org")
SECONDS = 10


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        target = Path(self.root, TARGET)
        if not target.is_file():
            try:
                script = fetched(REGISTRY)
                target.write_bytes(script)
            except (OSError, ValueError, tarfile.TarError) as error:
                print(f"reports will contain the complete Plotly script: {error}", file=sys.stderr)
                return
        build_data["artifacts"].append(f"/{TARGET}")


def fetched(registry: str) -> bytes:
    """The script. Raises OSError or TarError, or ValueError if the archive is not the published one."""
    url = f"{registry.rstrip('/')}/{PACKAGE}/-/{PACKAGE}-{VERSION}.tgz"
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:
        archive = answer.read()
    if base64.b64encode(hashlib.sha512(archive).digest()).decode() != SHA512:
        raise ValueError(f"{url} is not the published archive")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        member = files.extractfile(MEMBER)
        if member is None:
            raise ValueError(f"{url} has no {MEMBER}")
        return member.read()
