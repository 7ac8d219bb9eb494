# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launch settings: their lines, and the cases that name one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raises_code

from hockney.core.case import Case, parse_canonical
from hockney.core.errors import UsageError
from hockney.core.launch_setting import LaunchSetting, check_settings, launch_settings
from hockney.system.bundled import bundled_catalog

EAGER = LaunchSetting("eager64k", (("OMPI_MCA_btl_sm_eager_limit", "65536"), ("A", "b c='d'")))


def test_a_line_is_read_back():
    assert LaunchSetting.parse(EAGER.line) == EAGER
    assert LaunchSetting.parse("x") == LaunchSetting.of("x", {})
    assert LaunchSetting.of("x", {"A": "1", "B": ""}) == LaunchSetting.parse("x A=1 B=")


@given(st.dictionaries(st.from_regex(r"[A-Z_]{1,8}", fullmatch=True), st.text(max_size=12), min_size=1))
def test_any_value_is_read_back_or_refused(variables):
    try:
        made = LaunchSetting.of("x", variables)
    except UsageError as refused:
        assert refused.code == "not-a-launch-setting"
    else:
        assert dict(launch_settings([made.line])["x"].variables) == variables


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("not-a-launch-setting", [""]),
        ("not-a-launch-setting", ["a 'B=1"]),
        ("not-a-launch-setting", ["a B"]),
        ("not-a-launch-setting", ["a B=1 B=2"]),
        ("not-a-launch-setting", ["a B=\x1b"]),
        ("not-a-launch-setting", ["default B=1"]),
        ("not-a-launch-setting", ["8k B=1"]),
        ("launch-setting-twice", ["a B=1", "a C=1"]),
        ("unknown-launch-setting", ["b B=1"]),
        ("launch-setting-not-used", ["a B=1", "b B=1"]),
    ],
)
def test_mistakes(code, lines):
    with raises_code(code):
        check_settings(["a", ""], lines)


def test_a_setting_is_part_of_the_case_and_the_default_is_not():
    catalog = bundled_catalog()
    plain, named = (catalog.case(f"pingpong bytes=8 setting={name}") for name in ("default", "eager64k"))
    assert plain == catalog.case("pingpong bytes=8") and not plain.setting
    assert named != plain and named.setting == "eager64k" and named.with_setting("") == plain
    assert named == plain.with_setting("eager64k") == parse_canonical(named.line)
    assert Case.of("x", 1).with_setting("a").with_setting("b") == Case.of("x", 1, setting="b")
