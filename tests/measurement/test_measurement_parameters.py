# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A survey's parameters for another run: only from the same machine and MPI, unless forced."""

import msgspec
import pytest
from measured_runs import begin
from raising import raises_code

from hockney import measurement
from hockney.core.errors import UsageError
from hockney.core.machine import Mpi
from hockney.launch.fake_world import World
from hockney.machines import simulated
from hockney.measurement.kinds import sim
from hockney.measurement.machine_diff import (
    UNSET_TEXT,
    MachineDifference,
    difference_text,
    resume_differences,
    survey_differences,
)

HERE = measurement.fake_bench("fake").machine
MPI = Mpi(
    family="openmpi", version="5.0.9", prefix="/a", mpicxx="/a/mpicxx", mpiexec="/a/mpiexec", source="path"
)


def changed(**words):
    return msgspec.structs.replace(HERE, **words)


def survey(path, *lines: str, measure: bool = True):
    folder, bench = begin(path, lines)
    if measure:
        measurement.measure(folder, bench, lambda event: None)
    return folder.path


@pytest.mark.parametrize(
    ("fields", "difference"),
    [
        ({"host": "other"}, MachineDifference("host", "fakehost", "other")),
        ({"cpu": "new"}, MachineDifference("cpu", "none", "new")),
        ({"cores": 8}, MachineDifference("cores", "4", "8")),
        ({"mpi": MPI}, MachineDifference("mpi", "none", "Open MPI 5.0.9")),
        ({"kind": "real", "cores": 8}, MachineDifference("kind", "fake", "real")),
    ],
)
def test_what_makes_another_machine(fields, difference):
    there = changed(**fields)
    assert survey_differences(HERE, there) == (difference,)
    text = difference_text(difference, HERE, there)
    assert difference.left in text and difference.right in text


def test_what_does_not():
    assert (
        survey_differences(
            HERE, changed(load_before=1.0, compiler="other", hockney="9", engine="x", threads=8)
        )
        == ()
    )
    moved = msgspec.structs.replace(MPI, prefix="/b", source="option")
    assert survey_differences(changed(mpi=MPI), changed(mpi=moved)) == (), (
        "the same MPI elsewhere is the same MPI"
    )
    older = msgspec.structs.replace(MPI, version="4.1.4")
    assert survey_differences(changed(mpi=MPI), changed(mpi=older)) == (
        MachineDifference("mpi", "Open MPI 5.0.9", "Open MPI 4.1.4"),
    )


def test_settings_are_compared_where_both_sides_have_recorded_them():
    before = changed(settings={"OMPI_MCA_btl": "", "UCX_TLS": "sm"})
    now = changed(settings={"UCX_TLS": "tcp"})
    assert survey_differences(before, now) == resume_differences(before, now)
    assert survey_differences(before, now) == (
        MachineDifference("OMPI_MCA_btl", "''", UNSET_TEXT),
        MachineDifference("UCX_TLS", "sm", "tcp"),
    )
    assert (
        survey_differences(HERE, now) == resume_differences(now, HERE) == survey_differences(now, now) == ()
    )


def test_simulated_machines_are_their_descriptions():
    def stands_for(name):
        platform = simulated.platform(name)
        traits = sim.TRAITS
        return changed(kind=sim.KIND, traits=traits, host=platform.name, platform=platform)

    sun, sp = stands_for("sun-ethernet"), stands_for("ibm-sp")
    assert survey_differences(sun, msgspec.structs.replace(sun, cpu="x", cores=99)) == ()
    assert survey_differences(sun, sp) == (MachineDifference("platform", sun.host, sp.host),)
    edited = msgspec.structs.replace(sun.platform, notes=("faster",))
    changed_since = survey_differences(sun, msgspec.structs.replace(sun, platform=edited))
    assert changed_since == (MachineDifference("platform", sun.host, sun.host),)
    assert [difference.field for difference in survey_differences(sun, HERE)] == ["kind"]


def test_a_survey_is_taken_with_its_fits(tmp_path):
    path = survey(tmp_path / "s", *(f"pingpong bytes={size}" for size in (0, 64, 1024, 2048, 65536, 1 << 20)))
    found, notices = measurement.read_survey(path)
    assert (found.machine, found.where, notices) == (HERE, str(path), ())
    (fit,) = [f for f in found.fits.select("hockney", "pingpong") if f.segments]
    assert fit.segments[0].latency.value == pytest.approx(World().message(0), rel=0.05)
    assert measurement.accept_survey(found, HERE, force=False) == found


def test_another_machines_survey_needs_force_and_the_run_keeps_what_differs(tmp_path):
    found, _ = measurement.read_survey(
        survey(tmp_path / "s", *(f"pingpong bytes={1 << k}" for k in range(12)))
    )
    there = changed(host="other", mpi=MPI)
    with pytest.raises(UsageError) as caught:
        measurement.accept_survey(found, there, force=False)
    assert caught.value.code == "survey-of-other-machine" and len(caught.value.fields["differences"]) == 2
    taken = measurement.accept_survey(found, there, force=True)
    assert taken.differences == tuple(
        difference_text(d, HERE, there) for d in survey_differences(HERE, there)
    )
    assert len(taken.differences) == 2 and taken.fits == found.fits


def test_runs_that_are_no_survey(tmp_path):
    barriers = survey(tmp_path / "b", "barrier ranks=2")
    empty = survey(tmp_path / "n", "pingpong bytes=8", measure=False)
    for path, code in (
        (barriers, "survey-without-message-costs"),
        (empty, "survey-without-records"),
        (tmp_path / "none", "no-run-folder"),
    ):
        with raises_code(code):
            measurement.read_survey(path)
