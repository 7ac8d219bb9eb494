# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The schedulers' variables as in their manuals."""

import pytest

from hockney.launch.allocation import hosts


@pytest.mark.parametrize(
    ("environ", "count"),
    [
        ({}, 1),
        ({"SLURM_JOB_NUM_NODES": "4"}, 4),
        ({"SLURM_NNODES": "2"}, 2),
        ({"SLURM_JOB_NUM_NODES": "2(x3)"}, 1),
        ({"PBS_NUM_NODES": "3"}, 3),
        ({"LSB_MCPU_HOSTS": "n1 8 n2 8 n3 4"}, 3),
        ({"PBS_NODEFILE": "/no/such/file"}, 1),
    ],
)
def test_hosts_of_a_job(environ, count):
    assert hosts(environ) == count


def test_pbs_lists_a_host_for_each_of_its_slots(tmp_path):
    (tmp_path / "nodes").write_text("n1\nn1\nn2\nn2\n")
    assert hosts({"PBS_NODEFILE": str(tmp_path / "nodes")}) == 2
