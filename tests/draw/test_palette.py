# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Colours that all readers can distinguish, on both backgrounds."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from hockney.draw.figure import Axis, Figure, Series, Tone
from hockney.draw.palette import DARK, DASHES, LIGHT, SYMBOLS, Theme, looks

# Machado, Oliveira and Fernandes (IEEE TVCG 15:1291, 2009), table 1, severity 1.0, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def linear(colour: str) -> np.ndarray:
    value = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, contrast ratio."""
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def lab(colour: str, sight: np.ndarray) -> np.ndarray:
    """CIELAB, D65."""
    rgb = np.clip(sight @ linear(colour), 0, 1)
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = matrix @ rgb / np.array([0.9505, 1.0, 1.089])
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@THEMES
def test_series_stand_out_from_their_ground_and_text_can_be_read(theme: Theme):
    for ground in (theme.card, theme.paper):
        assert min(contrast(colour, ground) for colour in theme.series) >= 3.0
        assert (
            min(contrast(colour, ground) for colour in (theme.ink, theme.muted, theme.accent, theme.caveat))
            >= 4.5
        )


@THEMES
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_are_told_apart_by_colour_blind_eyes(theme: Theme, sight: str):
    colours = [lab(colour, SIGHT[sight]) for colour in theme.series]
    distances = {
        (theme.series[i], theme.series[j]): float(np.linalg.norm(colours[i] - colours[j]))
        for i, j in itertools.combinations(range(len(colours)), 2)
    }
    assert min(distances.values()) > 10, min(distances, key=distances.get)


def test_one_slot_means_one_colour_in_every_theme_and_no_colour_has_two_names():
    assert LIGHT.variables.keys() == DARK.variables.keys()
    assert len(set(LIGHT.variables.values())) == len(LIGHT.variables)


def figure(*series: Series) -> Figure:
    return Figure("f", "F", Axis("x", "B"), Axis("y", "s"), series)


def series(name: str, kind: str = "points", group: str = "") -> Series:
    return Series(name, (1.0,), (1.0,), kind=kind, group=group)


def test_a_group_shares_a_colour_and_its_members_differ_in_form():
    one, model, two, other = looks(
        figure(series("a", group="hot"), series("b", "line", "hot"), series("c", group="hot"), series("d"))
    )
    assert one.slot == model.slot == two.slot != other.slot
    assert one.hollow != two.hollow
    assert other.symbol != one.symbol


@pytest.mark.parametrize("order", [(True, False), (False, True), (False, False, True), (True, True, False)])
def test_a_series_that_is_hollow_leaves_the_filled_symbol_to_another(order):
    seen = looks(figure(*(replace(series(f"{k}", group="hot"), hollow=h) for k, h in enumerate(order))))
    assert len({(look.symbol, look.hollow) for look in seen}) == len(order)
    assert all(look.hollow for look, hollow in zip(seen, order, strict=True) if hollow)
    assert not all(look.hollow for look in seen)


def test_a_tone_has_its_colour_in_any_place():
    def toned(name: str, tone: Tone) -> Series:
        return replace(series(name), tone=tone)

    plain, good, bad = looks(figure(series("a"), toned("b", "neutral"), toned("c", "warning")))
    assert [look.slot for look in looks(figure(toned("c", "warning"), toned("b", "neutral")))] == [
        bad.slot,
        good.slot,
    ]
    assert len({plain.slot, good.slot, bad.slot}) == 3


def test_more_series_than_colours_still_differ():
    many = looks(figure(*(series(f"s{k}") for k in range(3 * len(LIGHT.series)))))
    assert len(set(many)) == len(many)
    assert all(look.slot < len(LIGHT.series) and look.symbol < len(SYMBOLS) for look in many)
    lines = looks(figure(*(series(f"s{k}", "line") for k in range(2 * len(LIGHT.series)))))
    assert len({(look.slot, look.dash) for look in lines}) == len(lines)
    assert all(look.dash < len(DASHES) for look in lines)


def test_a_slot_is_a_colour_in_any_place():
    one, other = looks(figure(series("a"), replace(series("b"), slot=5)))
    (alone,) = looks(figure(replace(series("b"), slot=5)))
    assert alone.slot == other.slot == 5 != one.slot
