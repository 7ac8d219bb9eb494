# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What launchers print when ranks do not start on other hosts, as seen with Slurm 22.05, PRRTE 3.0 (Open MPI
5.0.11) and Hydra (MPICH 5.0.2), shortened by lines: code, the host in the explanation, and the output."""

DAEMON_LOST = """A daemon failed to report back after being spawned. This could
be due to several factors, including inability to find the
daemon executable, or the executable was unable to find its
required supporting libraries. In some cases, the daemon was
able to execute, but was unable to complete a TCP connection
back to prterun:

  Local host:    front
  Remote host:   {host}
  Daemon exit status: {status}
"""

OUTPUT = [
    (
        "engine-not-reachable", "n2",
        """prterun was unable to launch the specified application as it could not
access an executable:

   Executable: /cache/hockney-engine
   Node: n2

while attempting to start process rank 2.""",
    ),
    (
        "engine-not-reachable", "n2",
        "[proxy:1@n2] HYDU_create_process (/mpich-5.0.2/src/pm/hydra/lib/utils/launch.c:73): execvp error on "
        "file /cache/hockney-engine (No such file or directory)",
    ),
    (
        "engine-not-reachable", "n2",
        """slurmstepd-n2: error: execve(): /cache/hockney-engine: No such file or directory
srun: error: n2: tasks 2-3: Exited with exit code 2
srun: launch/slurm: _step_signal: Terminating StepId=3.0
slurmstepd-n1: error: *** STEP 3.0 ON n1 CANCELLED AT 2026-11-23T15:52:33 ***
srun: error: n1: tasks 0-1: Terminated""",
    ),
    (
        "engine-not-reachable", "n2",
        """slurmstepd-n2: error: execve(): /cache/hockney-engine: Permission denied
srun: error: n2: tasks 2-3: Exited with exit code 13""",
    ),
    (
        "hosts-not-reachable", "n3",
        DAEMON_LOST.format(host="n3", status=127) + "\nsh: 1: eval: /opt/mpi/bin/prted: not found",
    ),
    ("hosts-not-reachable", "", "sh: 1: eval: /opt/mpi/bin/hydra_pmi_proxy: not found\nLaunch proxy failed."),
    (
        "hosts-not-reachable", "n3",
        """srun: error: n3: task 1: Exited with exit code 2
slurmstepd-n3: error: execve(): /opt/mpi/bin/hydra_pmi_proxy: No such file or directory""",
    ),
    (
        "hosts-not-reachable", "",
        """srun returned non-zero exit status (36608) from launching
the per-node daemon. You may debug this problem further
by augmenting the cmd line with:""",
    ),
    (
        "library-not-found", "libmpi.so.40",
        """/cache/e: error while loading shared libraries: libmpi.so.40: cannot open shared object file
srun: error: n3: tasks 2-3: Exited with exit code 127""",
    ),
    (
        "host-unreachable", "n1",
        DAEMON_LOST.format(host="n1", status=255) + "\nssh: connect to host n1 port 22: Connection refused",
    ),
    (
        "host-unreachable", "n1",
        """ssh: connect to host n1 port 22: Connection refused
ssh: connect to host n2 port 22: Connection refused
[mpiexec@front] ui_cmd_cb (/mpich-5.0.2/src/pm/hydra/mpiexec/pmiserv_pmci.c:51): Launch proxy failed.""",
    ),
    (
        "host-unreachable", "n9",
        DAEMON_LOST.format(host="n9", status=255)
        + "\nssh: Could not resolve hostname n9: Temporary failure in name resolution",
    ),
    ("host-unreachable", "n9", DAEMON_LOST.format(host="n9", status=255)),
    (
        "host-unreachable", "n2",
        """srun: error: Task launch for StepId=11.0 failed on node n2: Communication connection failure
srun: error: Application launch failed: Communication connection failure
srun: Job step aborted: Waiting up to 7 seconds for job step to finish.
srun: error: n1: task 0: Killed""",
    ),
    (
        "host-unreachable", "",
        """[mpiexec@front] control_cb (hydra/mpiexec/pmiserv_cb.c:280): assert (!closed) failed
[mpiexec@front] HYD_pmci_wait_for_completion (hydra/mpiexec/pmiserv_pmci.c:180): error""",
    ),
    (
        "host-unreachable", "n1",
        """PRTE has lost communication with a remote daemon.

  HNP daemon   : [prterun-front-1374@0,0] on node front
  Remote daemon: [prterun-front-1374@0,1] on node n1""",
    ),
    (
        "ssh-login-refused", "n1",
        "root@n1: Permission denied (publickey,password).\n" + DAEMON_LOST.format(host="n1", status=255),
    ),
    (
        "ssh-login-refused", "n1",
        "Host key verification failed.\n" + DAEMON_LOST.format(host="n1", status=255),
    ),
    (
        "not-enough-slots", "",
        """Your job has requested more processes than the ppr for
this topology can support:

  Number of procs:  6
  Procs mapped:  4
  PPR: 3:node""",
    ),
    (
        "not-enough-slots", "",
        "srun: error: Unable to create step for job 5: More processors requested than permitted",
    ),
    (
        "host-not-in-allocation", "n3",
        """At least one of the requested hosts is not included in the current
allocation.

   Missing requested host: n3

Please check your allocation or your request.""",
    ),
    (
        "host-not-in-allocation", "",
        "srun: error: Unable to create step for job 7: Requested node configuration is not available",
    ),
    ("host-not-in-allocation", "", "srun: error: Only allocated 2 nodes asked for 3"),
    (
        "host-not-in-allocation", "",
        """srun: Job 10 step creation temporarily disabled, retrying (Requested nodes are busy)
srun: error: Unable to create step for job 10: Job/step already completing or completed""",
    ),
    (
        "srun-lacks-interface", "pmi1",
        """srun: error: Couldn't find the specified plugin name for mpi/pmi1 looking at all files
srun: error: cannot find mpi plugin for mpi/pmi1
srun: error: Invalid MPI type 'pmi1', --mpi=list for acceptable types""",
    ),
    (
        "ranks-cannot-reach-launcher", "",
        """Abort(874136592): Fatal error in internal_Init: Internal MPI error!, error stack:
internal_Init(70)...............: MPI_Init(argc=0x7fff7063c08c, argv=0x7fff7063c080) failed
check_MPIR_CVAR_PMI_VERSION(167):  Runtime environment uses unsupported PMI version PMIx. Aborting.
srun: error: n1: tasks 0-1: Exited with exit code 16""",
    ),
    (
        "ranks-cannot-reach-launcher", "",
        """No PMIx server was reachable, but a PMI1/2 was detected.
If srun is being used to launch application,  4 singletons will be started.""",
    ),
]  # fmt: skip

MPI_LIST = """MPI plugin types are...
	pmix
	none
	cray_shasta
	pmi2
specific pmix plugin versions available: pmix_v4
"""
"""srun --mpi=list, version 22.05."""

OLD_MPI_LIST = """srun: MPI types are...
srun: openmpi
srun: none
srun: pmi2
srun: pmix_v3
srun: pmix
"""
"""The same until version 21.08, on standard error."""
