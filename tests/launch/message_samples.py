# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages of launches."""

from __future__ import annotations

from message_samples import SAMPLE_CODE

from hockney.launch.ending import Ending
from hockney.launch.messages.explanations import Explanation

SAMPLES = {
    Ending: [
        Ending(137, signal=9, rank=1),
        Ending(9, signal=9),
        Ending(139, signal=11, of_launcher=True),
        Ending(7, output=("no luck", "today")),
    ],
    Explanation: [Explanation(SAMPLE_CODE, "WHAT", "WHY", "REMEDY")],
    "mpi": ["Open MPI 5.0.6"],
    "other": ["MPICH"],
    "mpiexec": ["mpiexec"],
    "command": ["mpiexec -n 3"],
    "case": ["barrier ranks=3"],
    "simulation_failed.case": ["barrier ranks=3", ""],
    "simulation_out_of_time.case": ["barrier ranks=3", ""],
    "launch_died.case": ["barrier ranks=3", ""],
    "case_hung.answered": [True, False],
    "case_hung.silent": [(1, 2), (1,), ()],
    "case_hung.phase": ["timing, repetition 7"],
    "cpus": [(0, 1)],
    "bound_as_reported.cpus": [("0", "1")],
    "bound": [False, True],
    "oversubscribed.ranks": [4],
    "oversubscribed.cores": [2, 1],
    "binding": ["rank i on core i"],
    "call": ["MPI_Mprobe"],
    "count": ["200000000"],
}
