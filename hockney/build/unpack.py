# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A build back end (PEP 517) whose wheel contains the unmodified sources, in a folder NAME-VERSION.

So pip and uv, which can only install, also fetch sources: through the user's mirrors, proxies and passwords,
with hashes checked, and without running the package's build. Copied to where the installer looks for the
package's back end; does not import hockney.
"""

import os
import re
import sys
import zipfile

__legacy__ = sys.modules[
    __name__
]  # setuptools.build_meta:__legacy__, used for packages without pyproject.toml
WHEEL = "Wheel-Version: 1.0\nGenerator: hockney\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: object = None) -> str:
    name, metadata = describe_package()
    folder = os.path.join(metadata_directory, f"{name}.dist-info")
    os.makedirs(folder)
    for file, text in (("METADATA", metadata), ("WHEEL", WHEEL)):
        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
            out.write(text)
    return os.path.basename(folder)


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    name, metadata = describe_package()
    wheel = f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", strict_timestamps=False) as archive:
        for folder, _, files in os.walk("."):
            for file in files:
                path = os.path.normpath(os.path.join(folder, file))
                archive.write(path, f"{name}/{path}")
        archive.writestr(f"{name}.dist-info/METADATA", metadata)
        archive.writestr(f"{name}.dist-info/WHEEL", WHEEL)
        record = "".join(f"{path},,\n" for path in [*archive.namelist(), f"{name}.dist-info/RECORD"])
        archive.writestr(f"{name}.dist-info/RECORD", record)
    return wheel


def describe_package() -> tuple[str, str]:
    """Return NAME-VERSION and minimal metadata, without dependencies, since nothing is built here."""
    with open("PKG-INFO", encoding="utf-8") as file:
        text = file.read()
    name, version = (re.findall(f"^{key}: (.+)$", text, re.MULTILINE)[0] for key in ("Name", "Version"))
    folder = f"{re.sub('[-_.]+', '_', name).lower()}-{version}"  # as in file names of wheels
    return folder, f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
