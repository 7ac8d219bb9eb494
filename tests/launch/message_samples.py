# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sample arguments of the messages of launches."""

from __future__ import annotations

from pathlib import Path

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
    "launcher": ["mpiexec"],
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
    "host": ["n2"],
    "hosts": [("n1", "n2")],
    "slots": [(4, 2)],
    "login_refused.host": ["n2", ""],
    "host_unreachable.host": ["n2", ""],
    "host_not_available.host": ["n2", ""],
    "engine_not_reachable.host": ["n2", ""],
    "hosts_not_reachable.host": ["n2", ""],
    "engines_differ.hosts": [("n2",), ("n2", "n3", "n4", "n5")],
    "too_few_hosts.hosts": [("n1",), tuple(f"n{i}" for i in range(1, 12))],
    "agent": ["ssh 'a b'"],
    "offered": [("none", "pmi2"), ()],
    "tried": [("pmi2", ""), ()],
    "interface": ["pmi2"],
    "count": ["200000000"],
    "file": ["/cache/.launch-1/plan.txt"],
    "folder": [Path("/cache/engine")],
    "report": ["wire: its process ended with code 137"],
}
