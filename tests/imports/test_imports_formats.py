# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The output of other benchmarks, of several versions each, as cases and times. Logs of IMB 2021.11 are real,
the others have its authors' format and made-up numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.core.case import parse_canonical
from hockney.core.errors import HockneyError
from hockney.imports import ImportedRun, assemble, read_log
from hockney.reference.peers import benchmark_named

LOGS = Path(__file__).parents[1] / "data" / "imports"
US = 1e-6


def imported(*names: str, **options) -> list[ImportedRun]:
    return assemble([read_log(name, (LOGS / name).read_text()) for name in names], **options)


def times(run: ImportedRun, workload: str, **parameters) -> dict[int, float]:
    """By size, in microseconds."""
    cases = [(parse_canonical(record.case), record) for record in run.run.records]
    return {
        case.bytes: round(record.times_s[0] / US, 6)
        for case, record in cases
        if case.workload == workload and all(case.get(k) == v for k, v in parameters.items())
    }


def codes(run: ImportedRun) -> list[str]:
    return sorted(notice.code for notice in run.notices)


def test_a_job_with_many_programs_of_osu():
    (run,) = imported("osu-5.6.3-job.log")
    assert run.machine.cpu == "OSU Micro-Benchmarks 5.6.3" and run.machine.traits.imported
    assert {record.origin for record in run.run.records} == {"imported"}
    assert times(run, "pingpong")[65536] == 12.5
    assert times(run, "stream", window=64) == {1: 0.25, 8: 0.25, 1024: 0.5, 65536: 8}
    assert times(run, "stream_both", window=32) == {1: 0.3125, 65536: 8}  # 2 * 64 KiB in 8 us
    assert times(run, "pairs_stream", ranks=8) == {1: 0.08, 1024: 0.1}  # the inverse of the message rate
    assert times(run, "allreduce", ranks=16) == {8: 5.2, 1024: 9.75, 65536: 80.4}  # from the launch command
    assert times(run, "barrier", ranks=16) == {0: 3.45}
    assert times(run, "overlap", operation="ialltoall", ranks=16) == {8: 25.5, 1024: 40.25}
    assert times(run, "put", epoch="flush", memory="allocate") == {1: 1.75, 8: 1.8}
    assert times(run, "get", epoch="lock", memory="create", operations=64) == {8: 0.5, 1024: 0.5}
    assert codes(run) == ["not-imported"] * 2  # 4 bytes are no double; MPI_Init is no case
    pure = [r.metric("pure") for r in run.run.records if r.case.startswith("overlap")]
    assert pure == pytest.approx([11.9e-6, 19.75e-6])


def test_one_sided_operations_of_old_versions():
    """They print no window and no synchronization, and had others than today by default."""
    (run,) = imported("osu-3-one-sided.log")
    assert times(run, "put", epoch="pscw", memory="create") == {0: 0.43, 1: 1.2, 1024: 1.96}
    assert len(times(run, "get", epoch="pscw", memory="create", operations=64)) == 2
    later = (LOGS / "osu-3-one-sided.log").read_text().replace(" v3.1.1", " v3.9")
    lines = "# Window creation: MPI_Win_allocate\n# Synchronization: MPI_Win_flush\n# Size"
    (run,) = assemble([read_log("later", later.replace("# Size", lines))])
    assert times(run, "put", epoch="flush", memory="allocate") == {0: 0.43, 1: 1.2, 1024: 1.96}


@pytest.mark.parametrize("prefix", ["[0] ", "0: ", "[1,0]<stdout>: "])
@pytest.mark.parametrize("name", ["imb-2021.11-mpi1.log", "osu-7.5.log"])
def test_prefixes_of_launchers_are_removed(name, prefix):
    """Those of -l of MPICH and Intel MPI, of srun --label and of Open MPI's --tag-output."""
    text = (LOGS / name).read_text()
    library = "[0] MPI startup(): Intel(R) MPI Library, Version 2021.11  Build 20231005\n"
    text = library + text if name.startswith("imb") else text
    (plain,) = assemble([read_log("log", text)], ranks=4)
    (tagged,) = assemble([read_log("log", "".join(prefix + line for line in text.splitlines(True)))], ranks=4)
    assert [r.times_s for r in tagged.run.records] == [r.times_s for r in plain.run.records]
    assert tagged.run.launches[0].library == plain.run.launches[0].library
    assert not name.startswith("imb") or "2021.11" in plain.run.launches[0].library


def test_both_columns_and_the_bytes_of_a_bidirectional_stream():
    (run,) = imported("osu-5.6.3-job.log")
    moved = {r.case.split()[0]: r.bytes_moved for r in run.run.records if "bytes=65536" in r.case}
    assert moved == {"pingpong": 65536, "stream": 65536, "stream_both": 131072, "allreduce": 65536}


def test_the_full_output_of_osu_keeps_what_else_it_prints():
    (run,) = imported("osu-6.2-full.log", ranks=8)
    first = run.run.records[0]
    assert times(run, "bcast", ranks=8) == {1: 2.15, 1024: 4.05, 1048576: 350.75}
    assert (first.metric("printed_min"), first.metric("printed_max")) == pytest.approx((1.5e-6, 2.8e-6))
    assert [record.batch for record in run.run.records] == [1000, 1000, 100]


def test_osu_7_validates_has_percentiles_and_prints_whole_vectors():
    (run,) = imported("osu-7.5.log", ranks=4)
    wrong = {r.parse_case().bytes: r.verified.errors for r in run.run.records if "allreduce" in r.case}
    assert wrong == {8: 0, 16: 0, 1024: 1}
    assert run.run.records[0].metric("printed_p99") == pytest.approx(11.5e-6)
    assert times(run, "reduce_scatter", ranks=4) == {8: 4.1, 16: 4.2}  # 32 and 64 bytes on 4 ranks
    assert len(run.run.corrupted_records) == 1


def test_prefixes_of_launchers_and_gpus_and_cut_rows():
    (run,) = imported("osu-7.5-cuda-tagged.log")
    assert times(run, "stream") == {1: 1.25, 1048576: pytest.approx(87.381333)}
    assert codes(run) == ["garbled-lines"] and any("GPU" in note for note in run.machine.notes)


@pytest.mark.parametrize(("name", "value"), [("multi0", 5.29), ("multi1", 6.61)])
def test_groups_of_imb_are_pairs_of_one_case(name, value):
    (run,) = imported(f"imb-2021.11-{name}.log")
    assert times(run, "pairs_pingpong", ranks=4)[0] == value  # the slowest group
    assert [notice.code for notice in run.notices] == ["not-imported"]  # Multi-Allreduce


def test_all_of_imb_mpi1():
    (run,) = imported("imb-2021.11-mpi1.log")
    named_there = {record.case.split()[0] for record in run.run.records}
    assert named_there == {
        "pingpong", "pingping", "round_robin", "halo", "allreduce", "reduce", "reduce_local",
        "reduce_scatter", "reduce_scatter_block", "allgather", "allgatherv", "gather", "gatherv",
        "scatter", "scatterv", "alltoall", "alltoallv", "bcast", "barrier",
    }  # fmt: skip
    assert {len(launch.ranks) for launch in run.run.launches} == {2, 4}
    assert run.run.launches[0].mpi_standard == "4.1" and run.run.launches[0].started_s > 1.7e9
    assert all(record.batch == 100 for record in run.run.records)


def test_nonblocking_and_one_sided_operations_of_imb():
    (run,) = imported("imb-2021.11-nbc.log")
    assert times(run, "overlap", operation="ibcast")[8] == 1.57
    assert times(run, "ibcast")[8] == 0.41 and len(times(run, "overlap_ibarrier")) == 1
    (run,) = imported("imb-2021.11-rma.log")
    assert times(run, "put", direction="one", operations=1, epoch="flush")[8] == 2.4
    assert times(run, "put", direction="one", operations=50)[8] == 0.12  # aggregate: 50 before one flush
    assert times(run, "compare_and_swap", operations=1) == {0: 0.3}
    assert times(run, "put_passive")[0] == 0.4


def test_an_older_imb_that_was_cut_off():
    (run,) = imported("imb-2018-cut.log")
    assert times(run, "pairs_stream", ranks=4, window=256) == {8: 0.2, 1024: 0.5}
    assert (
        times(run, "alltoall", ranks=4) == {8: 4.5, 1048576: 2100.5} and len(run.run.corrupted_records) == 1
    )
    assert times(run, "bcast") == {0: 0.03}
    assert codes(run) == ["garbled-lines", "log-cut-off", "log-not-finished"]  # a time-out, and the last line


def test_nccl_tests_count_whole_arrays():
    (run,) = imported("nccl-tests-2.17.log")
    assert times(run, "allreduce", ranks=4) == {8: 18.45, 1048576: 40, 134217728: 857.6}
    assert times(run, "allgather", ranks=4) == {262144: 30}  # a rank's block
    assert run.run.launches[0].library == "NCCL 2.28.7+cuda12.4"
    assert run.run.hosts == {"gpu1", "gpu2"} and run.notices == ()
    (run,) = imported("nccl-tests-2.17.log", same_buffers=True)
    assert times(run, "allreduce", ranks=4)[134217728] == 819.6


def test_old_nccl_tests_are_named_by_their_command():
    (run,) = imported("nccl-tests-2.0.log")
    assert times(run, "allreduce", ranks=2) == {8: 12.5, 1048576: 45} and run.run.records[0].batch == 20


def test_skampi_5_and_4():
    (run,) = imported("skampi-5.log")
    assert times(run, "pingpong") == {4: 7.25, 1024: 8}  # half of the round trip
    assert times(run, "bcast", ranks=2) == {4: 6.6} and times(run, "bcast", ranks=4) == {4: 9.2, 1024: 11}
    assert times(run, "barrier", ranks=4) == {0: 7.5} and times(run, "alltoall", ranks=4) == {8: 20.5}
    assert codes(run) == ["garbled-lines", "not-imported"]
    (run,) = imported("skampi-4.1.log")
    assert times(run, "bcast", ranks=8) == {4: 12.7, 1024: 56.1} and times(run, "pingpong")[0] == 37.15
    assert codes(run) == ["not-imported"]  # an alltoall of an unknown size


def test_several_logs_of_a_benchmark_are_several_launches(tmp_path):
    text = (LOGS / "osu-6.2-full.log").read_text()
    logs = [read_log(f"{k}", text.replace("2.15", f"2.{k}5"), 1e9 - k) for k in (1, 2, 3)]
    (run,) = assemble(logs, ranks=8, machine="cluster7")
    assert len(run.run.by_case()["bcast algorithm=mpi buffers=hot bytes=1 ranks=8 root=0 sync=barrier"]) == 3
    assert [launch.started_s for launch in run.run.launches] == [1e9 - 3, 1e9 - 2, 1e9 - 1]
    assert run.machine.host == "cluster7"


def test_the_error_of_rounding_is_kept():
    (run,) = imported("osu-5.6.3-job.log")
    errors = {r.case.split()[0]: r.metric("rounding") for r in run.run.records if "bytes=8 " in r.case}
    assert errors["pingpong"] == pytest.approx(5e-9)
    assert errors["stream"] == pytest.approx(0.25e-6 * 0.005 / 32)  # of a bandwidth of 32 MB/s
    (run,) = imported("skampi-5.log")
    assert run.run.records[0].metric("rounding") == pytest.approx(25e-9)  # half of a round trip


def test_each_suite_and_version_is_a_run():
    runs = imported("osu-6.2-full.log", "osu-7.5.log", "skampi-5.log", "osu-5.6.3-job.log", ranks=4)
    assert [run.name for run in runs] == ["osu-6.2", "osu-7.5", "skampi-5.0", "osu-5.6.3"]


@pytest.mark.parametrize(
    ("names", "code"),
    [(("osu-6.2-full.log",), "log-ranks-unknown"), (("../../golden_files.py",), "no-benchmark-output")],
)
def test_what_is_missing_is_named(names, code):
    with pytest.raises(HockneyError) as refused:
        imported(*names)
    assert refused.value.code == code
    assert list(refused.value.fields["files"]) == list(names)


def test_the_number_of_ranks_is_not_that_of_another_command():
    text = (LOGS / "osu-6.2-full.log").read_text()
    with pytest.raises(HockneyError):
        assemble([read_log("a", f"mpirun -np 4 osu_allreduce\n{text}")])
    (run,) = assemble([read_log("a", f"+ srun --mpi=pmix -n 4 ./osu_bcast -f\n{text}")])
    assert {len(launch.ranks) for launch in run.run.launches} == {4}


def test_imb_without_its_headline_is_named_by_its_benchmarks():
    text = (LOGS / "imb-2021.11-nbc.log").read_text()
    (run,) = assemble([read_log("a", text[text.index("# List of") :])])
    assert times(run, "ibcast")[8] == 0.41 and run.name == "imb"


def test_what_a_log_says_cannot_leave_its_folder_or_control_a_terminal():
    text = (
        "# OSU MPI Latency Test v../../x\n# Size   Latency (us)\n\x1b[1m8\t1.25\x1b[0m\n1\x1b]0;x\x07 1.1\n"
    )
    (run,) = assemble([read_log("a\x1b[2J", text)])
    assert "/" not in run.name and times(run, "pingpong") == {8: 1.25}
    assert all(each.text.isprintable() for each in run.notices) and all(
        map(str.isprintable, run.machine.notes)
    )
    assert run.machine.citation.isprintable()


def test_a_log_without_any_case_has_its_reason():
    text = "# OSU NCCL Allreduce Latency Test v7.5\n# Size   Avg Latency(us)\n8   1.00\n"
    with pytest.raises(HockneyError) as refused:
        assemble([read_log("a", text)], ranks=2)
    assert refused.value.code == "nothing-imported"
    assert refused.value.fields["reasons"] == (benchmark_named("osu_xccl_allreduce")[0].reason,)
