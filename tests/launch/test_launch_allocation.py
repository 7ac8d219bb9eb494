# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The schedulers' variables as in their manuals."""

import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hockney.launch.allocation import Allocation, count_hosts, find_allocation, host_list, repeat_each


@pytest.mark.parametrize(
    ("environ", "count"),
    [
        ({}, 1),
        ({"SLURM_JOB_NUM_NODES": "4"}, 4),
        ({"SLURM_NNODES": "2"}, 2),
        ({"SLURM_JOB_NUM_NODES": "2(x3)"}, 1),
        ({"SLURM_JOB_NODELIST": "n[1-3]"}, 3),
        ({"PBS_NUM_NODES": "3"}, 3),
        ({"LSB_MCPU_HOSTS": "n1 8 n2 8 n3 4"}, 3),
        ({"LSB_MCPU_HOSTS": "n1 8 n2"}, 1),
        ({"PBS_NODEFILE": "/no/such/file"}, 1),
    ],
)
def test_hosts_of_a_job(environ, count):
    assert count_hosts(environ) == count


def test_a_job_of_slurm():
    environ = {
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NUM_NODES": "3",
        "SLURM_JOB_NODELIST": "n[1-2],gpu",
        "SLURM_TASKS_PER_NODE": "4(x2),3",
        "SLURM_JOB_CPUS_PER_NODE": "8(x3)",
    }
    assert find_allocation(environ) == Allocation("slurm", 3, ("n1", "n2", "gpu"), (4, 4, 3), (8, 8, 8))
    assert find_allocation(environ | {"SLURM_TASKS_PER_NODE": "1"}).slots == (8, 8, 8), "those of a step"
    bare = find_allocation({"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NODELIST": "n[1-"})
    assert bare == Allocation("slurm", 2), "a list that is not understood is left to the launcher"


def test_pbs_and_lsf_list_hosts_with_their_slots(tmp_path):
    (tmp_path / "nodes").write_text("n1\nn1\nn2\nn2\nn2\n")
    job = find_allocation({"PBS_NODEFILE": str(tmp_path / "nodes")})
    assert job == Allocation("pbs", 2, ("n1", "n2"), (2, 3), (2, 3))
    job = find_allocation({"LSB_MCPU_HOSTS": "n1 8 n2 4 n1 2"})
    assert job == Allocation("lsf", 2, ("n1", "n2"), (10, 4), (10, 4))
    assert find_allocation({"PATH": "/bin"}) is None


LISTS = [
    ("n1", "n1"),
    ("n[1-3,7],gpu", "n1 n2 n3 n7 gpu"),
    ("rack[1-2]n[08-10]", "rack1n08 rack1n09 rack1n10 rack2n08 rack2n09 rack2n10"),
    ("a-b.c[0-1]-x,z", "a-b.c0-x a-b.c1-x z"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "names"), LISTS)
def test_slurms_lists_of_hosts(text, names):
    assert list(host_list(text)) == names.split()


@pytest.mark.parametrize(
    "text", ["n[1-", "n[a-b]", "n[3-1]", "n[1-999999999]", "n]", "n[[1]]", "n m", "n[]", "n[0-999][0-999]"]
)
def test_no_list_of_hosts(text):
    with pytest.raises(ValueError, match=r"\S"):
        host_list(text)


NAMES = st.from_regex(r"[a-z][a-z0-9]{0,3}", fullmatch=True)


def compressed(prefix: str, numbers: list[tuple[int, int]], width: int) -> tuple[str, list[str]]:
    """A list with brackets, and the names that it has."""
    parts, names = [], []
    for first, more in numbers:
        low, high = str(first).zfill(width), str(first + more).zfill(width)
        parts.append(f"{low}-{high}" if more else low)
        names += [f"{prefix}-{str(k).zfill(len(low))}" for k in range(first, first + more + 1)]
    return f"{prefix}-[{','.join(parts)}]", names


RANGES = st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 12)), min_size=1, max_size=4)


@given(st.lists(st.tuples(NAMES, RANGES, st.integers(1, 4)), max_size=3))
def test_what_is_compressed_comes_back(groups):
    texts = [compressed(*group) for group in groups]
    assert list(host_list(",".join(text for text, _ in texts))) == [name for _, all in texts for name in all]


@given(st.text(alphabet="n1-[],x2 ", max_size=12))
@example("n[1-2]]")
def test_any_text_is_a_list_or_refused(text):
    try:
        names = host_list(text)
    except ValueError:
        names = ()
    assert all(not set(name) & set("[], ") for name in names)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 9)), min_size=1, max_size=5))
def test_repeated_numbers(groups):
    text = ",".join(f"{number}(x{times})" if times > 1 else str(number) for number, times in groups)
    assert list(repeat_each(text)) == [number for number, times in groups for _ in range(times)]


def test_what_is_no_list_of_numbers():
    assert repeat_each("") == repeat_each("2(x)") == repeat_each("x2") == repeat_each("1,,2") == ()


@pytest.mark.skipif(not shutil.which("scontrol"), reason="Slurm is not installed")
@pytest.mark.parametrize("text", [text for text, _ in LISTS if text and not text.startswith("a-b")])
def test_slurm_has_the_same_hosts(text, tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=c\nSlurmctldHost=localhost\n")
    done = subprocess.run(
        ["scontrol", "show", "hostnames", text], env={"SLURM_CONF": str(conf)}, capture_output=True, text=True
    )
    assert tuple(done.stdout.split()) == host_list(text)
