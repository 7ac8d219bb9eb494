# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a command starts: its launcher, its programs, their MPI libraries, and what prevents a profile."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from launchers import CALLING, compiled, environment, launcher, library, program

from hockney.core.errors import HockneyError, UsageError
from hockney.mpi import families, family_named
from hockney.profiles.elf import read_elf
from hockney.profiles.program import examine, find_programs, parse_command, ranks_of
from hockney.profiles.target import explain_empty_profile, find_target


@pytest.fixture
def app(tmp_path) -> Path:
    return program(tmp_path / "app")


def programs_of(line: str, environ: dict[str, str]) -> list[str]:
    return [each.word for each in find_programs(parse_command(line, environ), environ)]


@pytest.mark.parametrize(
    ("family", "version"),
    [("openmpi", "5.0.11"), ("mpich", "4.0.2"), ("intel", "2021.18"), ("unknown", "1.0")],
)
def test_the_launcher_and_its_family(tmp_path, app, family, version):
    path = launcher(tmp_path, family)
    environ = environment(path.parent)
    ethernet = program(tmp_path / "hockney-ethernet")  # makes this host several ones
    for line in (
        f"mpiexec -n 2 {app} x",
        f"{path} {app}",
        f"env A=B timeout -s KILL 60 {path} -n 2 {app}",
        f"{ethernet} --hosts 2 --medium switch -- {path} -n 2 {app}",
    ):
        found = parse_command(line, environ).launcher
        assert found is not None and found.path == path
        assert (found.family, found.version) == (family_named(family), version)
        assert programs_of(line, environ) == [str(app)]


def test_every_launcher_of_a_family_is_known(tmp_path, app):
    names = {name for family in families() for name in family.launchers}
    for name in (*names, "mpirun", "mpiexec.suffix", "mpirun-5"):
        path = launcher(tmp_path, "unknown", name=name)
        assert parse_command([str(path), str(app)], environment()).launcher is not None


def test_a_command_without_a_launcher(tmp_path, app):
    environ = environment(launcher(tmp_path, "openmpi").parent)
    for line in (str(app), f"{app} mpiexec -n 2", f"{sys.executable} x.py", "env A=1 nice -n 5 sh run.sh"):
        assert parse_command(line, environ).launcher is None, line
    assert programs_of(f"env A=1 nice {app} mpiexec", environ) == [str(app)]


OPTIONS = {
    "openmpi": (
        "-np 2 --map-by ppr:1:node -x A=B --mca btl self,sm --prtemca plm ssh --oversubscribe",
        "--host a:1,b:1 --bind-to none -x PATH --report-bindings -N 2",
        "--unheard-of value -n 2",
    ),
    "mpich": (
        "-n 2 -genv A B -env C D -bind-to core -l -ppn 2 -f hosts",
        "-hosts a,b -launcher ssh -prepend-rank -genvlist A,B -wdir /tmp",
        "-unheard-of value -n 2",
    ),
    "intel": ("-np 2 -genv I_MPI_DEBUG 5 -print-rank-map -perhost 1",),
    "unknown": ("-n 2 -host a -wdir /tmp",),
}


@pytest.mark.parametrize(
    ("family", "options"), [(family, each) for family, lines in OPTIONS.items() for each in lines]
)
def test_the_program_behind_the_options(tmp_path, app, family, options):
    path = launcher(tmp_path, family)
    line = f"{path} {options} {app} -n 3 {path}"
    assert programs_of(line, environment()) == [str(app)]
    wrapped = f"{path} {options} env A=B numactl --localalloc {app} -n 3"
    assert programs_of(wrapped, environment()) == [str(app)]


def test_the_programs_of_one_launch(tmp_path, app):
    path, other = launcher(tmp_path, "openmpi"), program(tmp_path / "other")
    line = f"{path} -n 1 {app} : -n 1 {other} -v : -n 2 {app}"
    assert programs_of(line, environment()) == [str(app), str(other)]


@pytest.mark.parametrize(
    ("family", "line", "changed"),
    [
        ("openmpi", "-x A=1 -n 2 -x B -x C=2 {app} D=3 -x E=4", {"A": "1", "C": "2"}),
        ("mpich", "-genv A 1 -n 2 -env C 2 -genvlist X,B {app} -env D 3", {"A": "1", "C": "2"}),
        ("mpich", "-n 2 env -u B A=1 nice -n 5 env C=2=3 {app} D=3", {"A": "1", "C": "2=3", "B": None}),
        ("mpich", "-n 2 env -i A=1 {app}", {"A": "1", "B": None, "HOME": None}),
        ("openmpi", "-n 2 --mca x A=1 {app}", {}),
    ],
)
def test_variables_of_ranks(tmp_path, app, family, line, changed):
    environ = environment() | {"B": "here"}
    words = f"env F=6 {launcher(tmp_path, family)} {line.format(app=app)}"
    (found,) = find_programs(parse_command(words, environ), environ)
    assert found.word == str(app)
    expected = {**environ, "F": "6", **changed}
    wanted = {name: value for name, value in expected.items() if value is not None}
    if "-i" in line:
        wanted = {"A": "1"}
    assert found.environ == wanted


def test_variables_of_all_programs_of_a_launch(tmp_path, app):
    line = f"{launcher(tmp_path, 'mpich')} -genv A 1 -env B 2 {app} : -env C 3 {app}"
    found = find_programs(parse_command(line, environment()), environment())
    assert [{name: each.environ.get(name) for name in "ABC"} for each in found] == [
        {"A": "1", "B": "2", "C": None},
        {"A": "1", "B": None, "C": "3"},
    ]


@pytest.mark.parametrize(
    ("line", "ranks"),
    [
        ("-n 4 {app} -n 9", 4),
        ("-np 2 -x n=5 {app} : -np 3 {app}", 5),
        ("--ntasks=6 {app}", 6),
        ("--host a:2,b:2 -N 2 {app} -n 9", None),
        ("-np 2 {app} : {app}", None),
    ],
)
def test_the_number_of_ranks(tmp_path, app, line, ranks):
    words = f"{launcher(tmp_path, 'openmpi')} {line.format(app=app)}"
    assert ranks_of(parse_command(words, environment()), environment()) == ranks
    assert ranks_of(parse_command(f"{app} -n 9", environment()), environment()) is None


def test_srun(tmp_path, app):
    path = program(tmp_path / "srun")
    line = f"{path} -n 2 -p part --mpi pmi2 --cpu-bind=cores -l -t 10 {app} 3"
    command = parse_command(line, environment())
    assert command.launcher is not None and command.launcher.is_srun
    assert programs_of(line, environment()) == [str(app)]


@pytest.mark.parametrize("words", ["", [], [""]])
def test_no_command(words):
    with pytest.raises(UsageError) as caught:
        parse_command(words, environment())
    assert caught.value.code == "profile-without-command"


def test_a_command_that_does_not_exist(tmp_path):
    for word in ("no-such-program", str(tmp_path / "missing"), str(tmp_path)):
        with pytest.raises(UsageError) as caught:
            parse_command([word, "x"], environment())
        assert caught.value.code == "profile-command-not-found"
    with pytest.raises(UsageError) as caught:
        parse_command("mpiexec 'x", environment())
    assert caught.value.code == "profile-command-not-words"


def test_scripts_and_what_interprets_them(tmp_path):
    script = program(tmp_path / "run", f"#!{sys.executable} -u\n")
    found = examine(str(script), environment())
    assert found.kind == "script" and found.interpreter == Path(sys.executable)
    nested = program(tmp_path / "nested", f"#!/usr/bin/env -S {script}\n")
    assert examine(str(nested), environment()).interpreter == Path(sys.executable)
    assert examine("no-such-program", environment()).kind == "missing"
    assert examine(str(program(tmp_path / "text", "echo hi\n")), environment()).kind == "unknown"


def test_damaged_files_are_no_programs(tmp_path):
    whole = Path("/bin/sh").resolve().read_bytes()
    assert read_elf(Path("/bin/sh")) is not None
    for length in (0, 3, 20, 63, 100, 1000):
        path = tmp_path / f"cut-{length}"
        path.write_bytes(whole[:length])
        assert read_elf(path) is None or length >= 64
    assert read_elf(tmp_path / "missing") is None


@pytest.mark.compiler
class TestLibraries:
    def linked(self, tmp_path: Path, *libraries: Path, name: str = "linked") -> Path:
        folders = [f"-Wl,-rpath,{path.parent}" for path in libraries]
        return compiled(tmp_path / name, CALLING, "-Wl,--no-as-needed", *libraries, *folders)

    def test_of_a_program(self, tmp_path):
        mpi = library(tmp_path / "mpi", "openmpi")
        path = self.linked(tmp_path, mpi)
        found = examine(str(path), environment())
        assert found.kind == "dynamic" and found.bound == ("MPI_Init",)
        assert [(each.path, each.family.name) for each in found.libraries] == [(mpi, "openmpi")]
        target = find_target(
            [str(launcher(tmp_path / "mpi", "openmpi")), "-n", "2", str(path)], environment()
        )
        assert (target.paths, target.family.name, target.version) == ([mpi], "openmpi", "5.0.11")
        assert not target.obstacles and not target.warnings and target.program == "linked"

    def test_found_by_the_environment_of_the_launch(self, tmp_path):
        mpi = library(tmp_path / "mpi", "mpich", "libmpi.so.12")
        path = compiled(tmp_path / "linked", CALLING, mpi)
        assert examine(str(path), environment()).unresolved == ("libmpi.so.12",)
        environ = environment() | {"LD_LIBRARY_PATH": str(mpi.parent)}
        assert [each.path for each in examine(str(path), environ).libraries] == [mpi]

    def test_below_another_library(self, tmp_path):
        mpi = library(tmp_path / "mpi", "mpich", "libmpi.so.12")
        middle = compiled(
            tmp_path / "libmiddle.so",
            "int MPI_Barrier(void); int middle(void) { return MPI_Barrier(); }",
            "-shared", "-fPIC", mpi, f"-Wl,-rpath,{mpi.parent}",
        )  # fmt: skip
        main = "int middle(void); int main(void) { return middle(); }"
        path = compiled(tmp_path / "outer", main, middle, f"-Wl,-rpath,{tmp_path}:{mpi.parent}")
        found = examine(str(path), environment())
        assert [each.path for each in found.libraries] == [mpi] and found.bound == ()

    def test_of_the_launcher_for_programs_without_any(self, tmp_path):
        mpi = library(tmp_path / "mpi", "mpich", "libmpi.so.12")
        library(tmp_path / "mpi", "mpich", "libmpi_abi.so.1")
        library(tmp_path / "mpi", "openmpi", "libmpi.so.40")
        (tmp_path / "mpi/lib/libmpi.so").write_text("INPUT(libmpi.so.12)\n")
        path = launcher(tmp_path / "mpi", "mpich")
        python = os.path.realpath(sys.executable)  # outside of an environment that has mpi4py
        for word in (python, "sh", str(program(tmp_path / "script"))):
            target = find_target([str(path), "-n", "2", word, "x"], environment())
            assert target.paths == [mpi] and not target.obstacles, word

    def mpi4py(self, tmp_path: Path, several: bool = True) -> tuple[dict[str, str], Path, Path]:
        """A version for one MPI, or one for `several`, of which it finds one by itself: variables in which it
        does so, and the libraries of both."""
        found = library(tmp_path / "found", "openmpi")
        other = library(tmp_path / "other", "mpich", "libmpi.so.12")
        folder = tmp_path / "site" / "mpi4py"
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        if several:
            (folder / "_mpiabi.py").write_text(
                "import ctypes, os\n"
                "def _get_mpiabi():\n"
                "    if 'MPI4PY_MPIABI' in os.environ: return os.environ['MPI4PY_MPIABI']\n"
                f"    ctypes.CDLL({str(found)!r})\n"
                "    return 'openmpi'\n"
            )
        of_modules = {".openmpi": found, ".mpich": other} if several else {"": found}
        for name, mpi in of_modules.items():
            linked = [mpi, *([] if several else [f"-Wl,-rpath,{mpi.parent}"])]
            source = "int MPI_Init(void); int f(void) { return MPI_Init(); }"
            compiled(folder / f"MPI{name}.cpython.so", source, "-shared", "-fPIC", *linked)
        return environment() | {"PYTHONPATH": str(tmp_path / "site")}, found, other

    @pytest.mark.parametrize("several", [True, False])
    def test_of_mpi4py(self, tmp_path, several):
        """It is linked to one MPI, or has modules for several and loads one of them itself."""
        environ, mpi, _ = self.mpi4py(tmp_path, several)
        launch = launcher(tmp_path / "nowhere", "openmpi")
        for word in (sys.executable, str(program(tmp_path / "x.py", f"#!{sys.executable}\n"))):
            target = find_target([str(launch), "-n", "2", word], environ)
            assert target.paths == [mpi] and not target.obstacles
            assert target.preloaded == ([mpi] if several else [])

    @pytest.mark.parametrize(
        "words",
        [
            "-n 2 env MPI4PY_MPIABI=mpich LD_LIBRARY_PATH={lib} PYTHONPATH={site}",
            "-n 2 -genv MPI4PY_MPIABI mpich -genv LD_LIBRARY_PATH {lib} -env PYTHONPATH {site}",
        ],
    )
    def test_of_mpi4py_with_the_variables_of_ranks(self, tmp_path, words):
        environ, _, mpi = self.mpi4py(tmp_path)
        site = environ.pop("PYTHONPATH")
        launch = launcher(tmp_path / "launcher", "mpich")
        line = f"{launch} {words.format(lib=mpi.parent, site=site)} {sys.executable} one.py"
        target = find_target(line, environ)
        assert target.paths == [mpi] and target.family.name == "mpich"
        assert not target.obstacles and not target.warnings and target.preloaded == []

    def test_of_the_launcher_if_mpi4py_finds_another(self, tmp_path):
        environ, found, mpi = self.mpi4py(tmp_path)
        for family, expected in (("mpich", mpi), ("openmpi", found), ("unknown", found)):
            folder = tmp_path / ("other" if family == "mpich" else "found")
            target = find_target([str(launcher(folder, family)), "-n", "2", sys.executable], environ)
            assert target.paths == target.preloaded == [expected], family
            assert not target.obstacles and not target.warnings

    def test_no_other_mpi_is_loaded_if_that_of_the_launcher_is_not_found(self, tmp_path):
        environ, _, _ = self.mpi4py(tmp_path)
        launch = launcher(tmp_path / "nowhere", "mpich")
        target = find_target([str(launch), "-n", "2", sys.executable, "one.py"], environ)
        assert target.paths == target.preloaded == []
        assert [each.code for each in target.obstacles] == ["profile-no-library"]

    def test_tools_are_none(self, tmp_path):
        mpi = library(tmp_path / "mpi", "openmpi")
        tool = compiled(
            tmp_path / "libmpi_tool.so",
            "int PMPI_Barrier(void); int MPI_Barrier(void) { return PMPI_Barrier(); }",
            "-shared", "-fPIC", mpi,
        )  # fmt: skip
        path = self.linked(tmp_path, tool, mpi)
        assert [each.path for each in examine(str(path), environment()).libraries] == [mpi]

    def test_two_mpis(self, tmp_path):
        one = library(tmp_path / "one", "openmpi")
        other = library(tmp_path / "other", "mpich", "libmpi.so.12")
        target = find_target([str(self.linked(tmp_path, one, other))], environment())
        assert target.paths == [] and [each.code for each in target.obstacles] == ["profile-two-mpis"]
        assert set(target.obstacles[0].fields["families"]) == {"openmpi", "mpich"}

    def test_the_launcher_of_another_mpi(self, tmp_path):
        path = self.linked(tmp_path, library(tmp_path / "mpi", "mpich", "libmpi.so.12"))
        target = find_target([str(launcher(tmp_path, "openmpi")), str(path)], environment())
        assert [each.code for each in target.warnings] == ["profile-launcher-mismatch"]
        assert target.family.name == "mpich" and target.version == ""
        target = find_target([str(launcher(tmp_path, "intel")), str(path)], environment())
        assert not target.warnings, "both have Hydra"

    def test_static_programs(self, tmp_path):
        source = "int MPI_Init(void) { return 0; }\n" + CALLING
        for option in ("-static", "-static-pie"):
            path = compiled(tmp_path / f"program{option}", source, option)
            target = find_target([str(launcher(tmp_path, "openmpi")), str(path)], environment())
            assert examine(str(path), environment()).kind == "static"
            assert [each.code for each in target.obstacles] == ["profile-static"]
            assert target.obstacles[0].fields["functions"] == ["MPI_Init"] and target.paths == []

    def test_why_nothing_was_recorded(self, tmp_path):
        mpi = library(tmp_path / "mpi", "openmpi")

        def error(path: Path, code: int = 0) -> HockneyError:
            found = explain_empty_profile(
                find_target([str(path)], environment(mpi.parent.parent / "bin")), code
            )
            assert found.exit_code == 3
            return found

        linked = error(self.linked(tmp_path, mpi), 7)
        assert linked.code == "profile-nothing-recorded" and linked.fields["exit_code"] == 7
        assert linked.fields["functions"] == {str(tmp_path / "linked"): ["MPI_Init"]}
        launcher(tmp_path / "mpi", "openmpi")
        loading = compiled(
            tmp_path / "loading", "#include <dlfcn.h>\nint main(void) { return !dlopen(0, 1); }", "-ldl"
        )
        assert error(loading).fields["loads_at_run_time"] is True
        plain = error(compiled(tmp_path / "plain", "int main(void) { return 0; }"))
        assert plain.fields["loads_at_run_time"] is False and plain.fields["functions"] == {
            str(tmp_path / "plain"): []
        }

    @pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
    def test_a_program_with_the_rights_of_others(self, tmp_path):
        path = self.linked(tmp_path, library(tmp_path / "mpi", "openmpi"))
        os.chown(path, 65534, 65534)
        path.chmod(0o4755)
        target = find_target([str(path)], environment())
        assert [each.code for each in target.obstacles] == ["profile-setuid"] and target.paths == []
        path.chmod(0o755)
        assert not find_target([str(path)], environment()).obstacles
