# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fits stored in a run are used only if they are what would be computed now."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from resealed import reseal

import hockney
from hockney import measurement, models
from hockney.api.programs import ROLES
from hockney.core.fit import Estimate, ExactValue, Fits
from hockney.measurement import run_results as stored
from hockney.models.applications.message_costs import is_relevant
from hockney.store import RunFolder


@pytest.fixture
def fitted(monkeypatch) -> list[Fits]:
    """Everything that is computed, instead of taken from a file."""
    computed: list[Fits] = []
    fit_all = models.fit_all

    def counted(*arguments, **named) -> Fits:
        computed.append(fit_all(*arguments, **named))
        return computed[-1]

    monkeypatch.setattr(models, "fit_all", counted)
    return computed


@pytest.fixture(scope="module")
def kept(measured, tmp_path_factory) -> Path:
    """A run whose fits this user has stored, and the user's cache."""
    place = tmp_path_factory.mktemp("stored")
    shutil.copytree(measured, place / "copy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOCKNEY_CACHE", str(place / "cache"))
        copy = RunFolder.open(place / "copy")
        measurement.load_results(copy).save(copy)
    return place


@pytest.fixture
def folder(kept, tmp_path, monkeypatch) -> RunFolder:
    """A copy of that run."""
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    return RunFolder.open(tmp_path / "copy")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def text_of(value: float) -> str:
    return msgspec.json.encode(value).decode()


def test_stored_fits_are_those_that_would_be_computed(folder, fitted, tmp_path):
    again = measurement.load_results(folder).fits
    assert fitted == []
    folder.fits_path.unlink()
    fresh = measurement.load_results(folder).fits
    assert fitted == [fresh] and again == fresh and repr(again) == repr(fresh)
    assert again.summaries and any(fit.curve for fit in again.fits)


def test_a_page_stores_fits_once(folder, fitted):
    folder.fits_path.unlink()
    hockney.open(folder.path).report()
    written = folder.fits_path.stat().st_ino
    hockney.open(folder.path).report()
    assert len(fitted) == 1 and folder.fits_path.stat().st_ino == written


def test_other_records_are_fitted(folder, fitted):
    first = min(measurement.load_results(folder).run.records[0].times_s)
    edit(folder.records_path, text_of(first), text_of(first / 1000))
    reseal(folder.path)
    before = folder.fits_path.read_bytes()
    changed = measurement.load_results(folder)
    assert len(fitted) == 1 and changed.fits == fitted[0]
    changed.save(folder)
    assert folder.fits_path.read_bytes() != before
    assert measurement.load_results(folder).fits == changed.fits and len(fitted) == 1


@pytest.mark.parametrize("name", ["machine", "catalog"])
def test_records_of_another_machine_or_catalog_are_fitted(folder, fitted, name):
    old, new = {"machine": ('"cores": ', '"cores": 1'), "catalog": ('"help": "', '"help": "x')}[name]
    edit(folder.path / f"{name}.json", old, new)
    reseal(folder.path)
    measurement.load_results(RunFolder.open(folder.path))
    assert len(fitted) == 1


def test_edited_fits_are_not_used(folder, fitted):
    value = measurement.load_results(folder).fits.summaries[0].typical.value
    assert fitted == []
    edit(folder.fits_path, text_of(value), text_of(value * 2))
    assert measurement.load_results(folder).fits.summaries[0].typical.value == value and len(fitted) == 1
    measurement.load_results(folder).save(folder)
    sealed = folder.fits_path.read_bytes()
    for damaged in (b"", b"{}", sealed[:-200], sealed.replace(b'"seal": "', b'"seal": "0'), b"\xff" + sealed):
        folder.fits_path.write_bytes(damaged)
        fitted.clear()
        assert measurement.load_results(folder).fits.summaries[0].typical.value == value and len(fitted) == 1


def test_fits_of_another_user_are_not_used(folder, fitted, monkeypatch, tmp_path):
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "other"))
    measurement.load_results(folder)
    assert len(fitted) == 1, "there is no key"
    measurement.load_results(folder).save(folder)
    fitted.clear()
    measurement.load_results(folder)
    assert fitted == []
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    measurement.load_results(folder)
    assert len(fitted) == 1, "another key"


def test_fits_of_another_version_are_not_used(folder, fitted, monkeypatch):
    monkeypatch.setattr(stored, "program_digest", lambda: b"another")
    measurement.load_results(folder)
    assert len(fitted) == 1


def test_the_version_depends_on_the_sources_of_the_models(tmp_path, monkeypatch):
    now = stored.program_digest()
    shutil.copytree(stored.PACKAGE_FOLDER, tmp_path / "hockney", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(stored, "PACKAGE_FOLDER", tmp_path / "hockney")
    stored.program_digest.cache_clear()
    assert stored.program_digest() == now
    for changed in ("models/fits/hockney.py", "models/statistics/location.py", "core/record.py"):
        path = tmp_path / "hockney" / changed
        path.write_text(path.read_text() + "# changed\n")
        stored.program_digest.cache_clear()
        assert stored.program_digest() != now
        now = stored.program_digest()
    stored.program_digest.cache_clear()


def test_only_typical_costs_of_all_workloads_are_stored(folder, fitted):
    folder.fits_path.unlink()
    measurement.load_results(folder, cost="undisturbed").save(folder)
    measurement.load_results(folder, is_relevant=is_relevant).save(folder)
    assert len(fitted) == 2 and not folder.fits_path.exists()


def test_the_costs_of_messages_are_the_same_from_stored_fits(folder, fitted):
    chosen = measurement.load_results(folder, is_relevant=is_relevant).fits
    assert fitted == [] and 0 < len(chosen.summaries) < len(measurement.load_results(folder).fits.summaries)
    folder.fits_path.unlink()
    assert measurement.load_results(folder, is_relevant=is_relevant).fits == chosen


def test_fits_that_json_cannot_hold_have_no_seal(folder):
    basis, machine = measurement.load_results(folder).basis, folder.machine()
    fits = measurement.load_results(folder).fits
    first = msgspec.structs.replace(fits.summaries[0], within=float("nan"))
    stored.save_fits(folder, msgspec.structs.replace(fits, summaries=[first]), basis, machine)
    assert stored.stored_fits(folder, basis, machine) is None
    assert b'"seal"' not in folder.fits_path.read_bytes()


def test_exact_values_of_a_simulated_machine_are_exact_again(folder):
    machine = folder.machine()
    traits = msgspec.structs.replace(machine.traits, origin="simulated", noiseless=True)
    exact = msgspec.structs.replace(machine, traits=traits)
    assert exact.is_exact
    summary = measurement.load_results(folder).fits.summaries[0]
    fits = stored.restore_exact(
        exact, msgspec.structs.replace(measurement.load_results(folder).fits, summaries=[summary])
    )
    stored.save_fits(folder, fits, "basis", exact)
    again = stored.stored_fits(folder, "basis", exact)
    assert again == fits and type(again.summaries[0].typical) is ExactValue
    assert type(summary.typical) is Estimate


def test_a_run_is_fitted_once_for_its_page_and_its_file(fitted, tmp_path, monkeypatch):
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    made = hockney.run("pingpong bytes=0:1KiB", budget=5, launches=3, machine="fake", out=tmp_path / "run")
    made.report()
    assert len(fitted) == 1
    assert hockney.open(tmp_path / "run").fits == made.fits and len(fitted) == 1


def test_fits_of_lost_records_are_not_overwritten(folder):
    before = folder.fits_path.read_bytes()
    folder.records_path.write_bytes(b"")
    found = measurement.load_results(folder)
    found.save(folder)
    assert not found.run.records and folder.fits_path.read_bytes() == before


def test_a_program_needs_the_data_of_whole_models():
    """A model that gets only some of its roles is refused, so that predicted times would depend on whether
    the fits of all roles were stored."""
    needed = {
        role for model in models.all_models() if {*model.roles} & {*ROLES} for role in model.together_with
    }
    assert needed and needed <= {*ROLES}
