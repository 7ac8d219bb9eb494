# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of machines: their references and traits; no other code depends on a kind's name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import msgspec
import pytest
from layers import modules
from raising import raises_code

from hockney import measurement, reference
from hockney.core.errors import UsageError
from hockney.core.machine import Machine, MachineReference, Traits, without_scheme
from hockney.core.plugins import plugin_names
from hockney.core.record import Clock, Launch, Rank, RunRecords
from hockney.measurement import kinds as package
from hockney.measurement.kinds import all_kinds

PACKAGE = Path(measurement.__file__).resolve().parents[1]
NAMES = "real|emulated|simulated|published|fake"
ASKING = (
    rf"\bkind\b *(==|!=|in|not in) *[(\[{{]?[\"']({NAMES})\b",
    rf"[\"']({NAMES})[\"'] *(==|!=|in|not in) *\S*\bkind\b",
    r"machine\.kind *(==|!=|in|not in)\b *[\"'(A-Z]",
    rf"\borigin *(==|!=|in|not in) *[(\[{{]?[\"'](measured|{NAMES})\b",
    r"(startswith|removeprefix)\([\"'](sim|lan|published|fake)",
    r"= *[\"'](sim|lan|published|fake):[\"']",
)
"""Ways to test for a kind, a scheme or an origin by its name."""
ALLOWED = {"core/machine.py": 5, "core/record.py": 2}
"""Where the names of origins are given a meaning, once each."""


@pytest.mark.parametrize(
    ("text", "scheme", "name"),
    [
        ("", "", ""),
        ("sim:t3e+full-duplex", "sim", "t3e+full-duplex"),
        ("sim:/a:b.toml", "sim", "/a:b.toml"),
        ("fake", "fake", ""),
        ("t3e", "t3e", ""),
    ],
)
def test_a_reference_is_parsed_and_written(text, scheme, name):
    parsed = MachineReference.parse(text)
    assert parsed == MachineReference(scheme, name) and str(parsed) == text


def test_a_plain_name_is_kept_whole():
    assert without_scheme("sim:t3e", ("sim",)) == without_scheme("t3e", ("sim",)) == "t3e"
    assert without_scheme("a:b.toml", ("sim",)) == "a:b.toml" and without_scheme("sim", ("sim",)) == "sim"
    assert measurement.description_name("published:t3e") == "t3e"


def test_schemes_and_names_of_kinds_are_unique():
    kinds = all_kinds()
    assert len({kind.KIND for kind in kinds.values()}) == len(kinds) == len(plugin_names(package.__name__))
    public = [kind.SCHEME for kind in measurement.public_kinds()]
    assert public == sorted(public) and "" in public and "fake" not in public
    assert all(kind.HELP for kind in kinds.values())
    assert [measurement.kind_of(f"{scheme}:x" if scheme else "") for scheme in kinds] == list(kinds.values())


@pytest.mark.parametrize(
    ("machine", "suggestion"),
    [
        ("t3e", "sim:t3e"),
        ("real:t3e", ""),
        ("smi:t3e", "sim:t3e"),
        ("sim:t3f", "t3e"),
        (":x", ""),
        ("sim:", ""),
    ],
)
def test_an_unknown_machine_has_a_suggestion(machine, suggestion):
    with pytest.raises(UsageError) as caught:
        measurement.prepare(machine)
    assert caught.value.suggestion == suggestion and caught.value.remedy


MESH = """
from hockney.measurement.kinds.fake import TRAITS, prepare

SCHEME = KIND = "mesh"
HELP = "a kind without a list of names"
"""


def test_the_scheme_of_a_kind_is_suggested_where_no_machine_is_close(tmp_path, monkeypatch):
    (tmp_path / "mesh.py").write_text(MESH)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    for machine, suggestion in (("mseh:4x4", "mesh:4x4"), ("smi:t3e", "sim:t3e"), ("mseh", ""), ("q:4", "")):
        with pytest.raises(UsageError) as caught:
            measurement.prepare(machine)
        assert caught.value.suggestion == suggestion
    sys.modules.pop("hockney.measurement.kinds.mesh", None)


def test_printed_numbers_cannot_be_measured():
    with raises_code("machine-only-published"):
        measurement.prepare("published:t3e")


def test_what_is_prepared_has_its_kinds_name_and_traits():
    bench = measurement.prepare("fake:seed=3", cores=64)
    fake = all_kinds()["fake"]
    assert (bench.machine.kind, bench.machine.traits) == (fake.KIND, fake.TRAITS)
    assert bench.machine.cores == 64 and bench.launcher.world.seed == 3
    machine, _ = reference.run_of(reference.paper_of("t3e"), measurement.bundled_catalog())
    published = all_kinds()["published"]
    assert (machine.kind, machine.traits) == (published.KIND, published.TRAITS)


def test_rounds_of_a_simulation_repeat_themselves_without_noise(tmp_path):
    assert (
        measurement.repeats_itself("sim:t3e")
        and not measurement.repeats_itself("fake")
        and not measurement.repeats_itself("")
    )


def fields(kind: str) -> dict:
    named = {"schema": 1, "kind": kind, "host": "h", "system": "s", "cpu": "c", "hockney": "0"}
    return named | {"cores": 4, "threads": 4}


def test_a_machine_of_a_kind_that_is_not_installed_keeps_its_traits():
    raw = fields("martian") | {"traits": {"shared_memory": False}}
    assert msgspec.convert(raw, Machine).traits == Traits(shared_memory=False)


def launched(name: str, *places: str | tuple[str, str]) -> Launch:
    """A launch with a rank in each place, a host or (host, node)."""
    pairs = [place if isinstance(place, tuple) else (place, "") for place in places]
    return Launch(
        schema=1, launch=name, index=0, origin="measured", started_s=0.0,
        ranks=[Rank(host=host, pid=1, cpus="", node=node) for host, node in pairs],
        mpi_standard="", library="", engine="", compiler="", clock=Clock(overhead_s=0, resolution_s=0),
    )  # fmt: skip


def machine(traits: Traits, cores: int) -> Machine:
    return msgspec.structs.replace(msgspec.convert(fields("x"), Machine), traits=traits, cores=cores)


HOSTS = {
    "those of all hosts of a launch": ([("a", "a"), ("a", "a", "b", "b")], Traits(), 8, 16),
    "a run without launches": ([], Traits(), 0, 1),
    "a description has those of all its nodes": ([tuple("abcdefgh")], all_kinds()["sim"].TRAITS, 16, 16),
    "so has a paper": ([tuple("abcdefgh")], all_kinds()["published"].TRAITS, 16, 16),
    "a run resumed elsewhere: no case had those of both": ([("a", "a"), ("b", "b")], Traits(), 8, 8),
    "nodes that are emulated by one host share them": (
        [(("a", "n0"), ("a", "n1"))],
        Traits(shared_memory=False),
        4,
        4,
    ),
}


@pytest.mark.parametrize("name", HOSTS)
def test_cores_of_a_run(name):
    launches, traits, cores, available = HOSTS[name]
    run = RunRecords(tuple(launched(str(k), *places) for k, places in enumerate(launches)))
    assert run.cores(machine(traits, cores)) == available


def test_hosts_and_nodes_of_a_run():
    run = RunRecords((launched("0", "a", "a"), launched("1", "a", "a", "b", "b")))
    assert run.hosts == run.nodes == {"a", "b"}
    assert (run.max_hosts(), run.max_hosts(2), run.max_hosts(3)) == (2, 1, 1)
    run = RunRecords((launched("0", ("a", "n0"), ("a", "n1")),))
    assert run.hosts == {"a"} and run.nodes == {"n0", "n1"}


def asked_by_name(text: str) -> list[str]:
    return [line for line in text.splitlines() for pattern in ASKING if re.search(pattern, line)]


def test_nobody_asks_for_a_kind_by_its_name():
    asking = {}
    for path in modules(PACKAGE):
        lines = asked_by_name(path.read_text("utf-8"))
        name = path.relative_to(PACKAGE).as_posix()
        if len(lines) > ALLOWED.get(name, 0):
            asking[name] = lines
    assert asking == {}


@pytest.mark.parametrize(
    "line",
    [
        'if machine.kind == "simulated":',
        'if evidence.machine.kind in ("simulated", "published"):',
        "if machine.kind not in ELSEWHERE:",
        'if record.origin != "fake":',
        'name.removeprefix("sim:")',
        'PUBLISHED = "published:"',
    ],
)
def test_the_search_would_find(line):
    assert asked_by_name(line)
