# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The golden fixture detects differences, rewrites on demand, and leaves out what differs between runs."""

from __future__ import annotations

import pytest
from golden_files import FOLDER, Golden, blanks, folder, numbers


def test_a_file_that_is_missing_or_differs_fails_and_is_rewritten_on_demand(tmp_path):
    compare, rewrite = Golden(tmp_path, regen=False), Golden(tmp_path, regen=True)
    with pytest.raises(AssertionError, match="make golden"):
        compare("a.txt", "one\n")
    rewrite("a.txt", "one\n")
    compare("a.txt", "one")
    with pytest.raises(pytest.fail.Exception, match=r"-one\n\+two"):
        compare("a.txt", "two")


def test_values_are_kept_as_json_in_one_order(tmp_path):
    Golden(tmp_path, regen=True)("a/b.json", {"b": 1, "a": [1.5, "\u00b5"]})
    Golden(tmp_path, regen=False)("a/b.json", {"a": [1.5, "\u00b5"], "b": 1})
    assert (tmp_path / "a/b.json").read_text("utf-8").startswith('{\n "a"')


def test_what_differs_between_runs_is_left_out(tmp_path):
    Golden(tmp_path, regen=True)("a.txt", f"{tmp_path}/x took 1.5 us at r_inf2\n", folder(tmp_path), numbers)
    assert (tmp_path / "a.txt").read_text() == "FOLDER/x took N us at r_inf2\n"
    Golden(tmp_path, regen=False)("a.txt", "FOLDER/x   took 2e-06 us at r_inf2", blanks, numbers)


def test_the_fixture_has_the_folder_of_its_test(golden):
    assert golden.folder == FOLDER / "tests"
