# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The golden catalogs have one format and one file for each executable; tests/engine compares their contents
with those of the executables."""

import json

import pytest
from golden_catalogs import FOLDER, REMEDY, catalog_text, golden_catalog

from hockney import build
from hockney.build.identity import MAIN

GROUPS = (MAIN, *build.groups(build.source_folder()))


def test_every_executable_has_one_catalog():
    paths = {FOLDER / "catalog.json", *(FOLDER / "groups").glob("*.json")}
    assert paths == set(map(golden_catalog, GROUPS)), REMEDY


@pytest.mark.parametrize("group", GROUPS)
def test_a_catalog_is_as_printed(group):
    text = golden_catalog(group).read_text("utf-8")
    assert catalog_text(text) == text, REMEDY
    first = json.loads(golden_catalog(MAIN).read_text("utf-8"))["workloads"][0]
    for workload in json.loads(text)["workloads"]:
        assert list(workload) == list(first), REMEDY
