# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which settings of an MPI are recorded, and that secrets are not."""

from __future__ import annotations

from hockney.core.launcher_options import parse_launcher_options
from hockney.core.machine import Mpi
from hockney.discovery.describe import describe
from hockney.discovery.mpi_settings import LONGEST, mpi_settings

TUNED = {
    "CXI_FORK_SAFE": "1",
    "FI_PROVIDER": "tcp",
    "HYDRA_HOST_FILE": "hosts",
    "I_MPI_FABRICS": "shm:ofi",
    "I_MPI_PIN_DOMAIN": "core",
    "LD_PRELOAD": "/opt/lib/libhugepages.so",
    "MPICH_ASYNC_PROGRESS": "1",
    "MPIR_CVAR_CH4_SHM_POSIX_EAGER": "iqueue",
    "MV2_SMP_EAGERSIZE": "64K",
    "OMPI_MCA_btl": "self,tcp",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_orte_default_hostfile": "hosts",
    "OMP_NUM_THREADS": "4",
    "OMP_PROC_BIND": "close",
    "PMI_MAX_KVS_ENTRIES": "1000",
    "PMIX_MCA_gds": "hash",
    "PRTE_MCA_rmaps_default_mapping_policy": "core",
    "PSM2_DEVICES": "self,shm",
    "PSM3_MULTI_EP": "1",
    "SLURM_CPU_BIND": "cores",
    "SLURM_MPI_TYPE": "pmix",
    "UCX_IB_PKEY": "0x8001",
    "UCX_TLS": "rc,sm",
}
OTHERS = {
    "AWS_SECRET_ACCESS_KEY": "x",
    "FI_OFI_AUTH_KEY": "x",
    "HOME": "/nowhere",
    "HYDRA_PROXY_PORT": "x",
    "I_MPI_HYDRA_PASSWORD": "x",
    "I_MPI_ROOT": "/opt/intel",
    "MPICH_API_TOKEN": "x",
    "MPIR_CVAR_NAME": "tcp://10.0.0.1:4000",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_MCA_ess_base_vpid": "3",
    "OMPI_MCA_orte_hnp_uri": "1;tcp",
    "OMPI_MCA_orte_jobfam_session_dir": "/tmp/x",
    "OMPI_MCA_orte_precondition_transports": "x",
    "PATH": "/bin",
    "PMIX_ID": "job.0",
    "PMIX_NAMESPACE": "job",
    "PMIX_RANK": "3",
    "PMIX_SECURITY_MODE": "munge",
    "PMIX_SERVER_URI41": "x;tcp4",
    "PMI_FD": "7",
    "PMI_RANK": "3",
    "PMI_SHARED_SECRET": "x",
    "PRTE_MCA_prte_hnp_uri": "x",
    "SLURM_JOB_ID": "7",
    "SLURM_JWT": "x",
    "SLURM_STEP_KEY": "x",
}


def test_what_steers_an_mpi_is_recorded_and_nothing_else():
    assert mpi_settings(OTHERS | TUNED) == TUNED
    assert list(mpi_settings(dict(reversed(TUNED.items())))) == sorted(TUNED)


def test_a_value_is_limited_and_printable():
    found = mpi_settings({"OMPI_MCA_a": "x" * 5000, "OMPI_MCA_b": "red\x1b[31m"})
    assert len(found["OMPI_MCA_a"]) == LONGEST and found["OMPI_MCA_b"].isprintable()


def test_parameter_files_count_for_open_mpi_and_variables_win(tmp_path):
    def mpi(family: str) -> Mpi:
        return Mpi(family=family, version="5", prefix=str(tmp_path), mpicxx="c", mpiexec="m", source="option")

    home = tmp_path / "home" / ".openmpi"
    home.mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "openmpi-mca-params.conf").write_text("# btl = x\nbtl = tcp\npml=ob1\nmtl = ^ofi\n")
    (home / "mca-params.conf").write_text("\n pml = ucx\nserver_uri = tcp\n")
    environ = {"HOME": str(tmp_path / "home"), "OMPI_MCA_mtl": "ofi"}
    wanted = {"OMPI_MCA_btl": "tcp", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_pml": "ucx"}
    assert mpi_settings(environ, mpi("openmpi")) == wanted
    assert describe(mpi("openmpi"), environ=environ).settings == wanted
    assert mpi_settings(environ, mpi("mpich")) == mpi_settings(environ) == {"OMPI_MCA_mtl": "ofi"}


def test_what_the_user_adds_is_recorded_whatever_its_name():
    user = parse_launcher_options("--mca pml 'ob 1'", ("MY_LIBRARY=fast", "UCX_TLS=tcp", "MY_TOKEN=x"))
    wanted = {"--mpiexec-args": "--mca pml 'ob 1'", "MY_LIBRARY": "fast", "UCX_TLS": "tcp"}
    assert mpi_settings({"UCX_TLS": "sm"}, user=user) == wanted


def test_a_strange_file_does_no_harm(tmp_path):
    (tmp_path / "mine.conf").write_bytes(b"no equals sign\n=\n = b\na = b = c\n\xff\n")
    mpi = Mpi(family="openmpi", version="5", prefix="/p", mpicxx="c", mpiexec="m", source="option")
    found = mpi_settings({"OMPI_MCA_mca_base_param_files": f"{tmp_path}/mine.conf"}, mpi)
    assert found.pop("OMPI_MCA_mca_base_param_files").endswith("mine.conf")
    assert found == {"OMPI_MCA_a": "b = c"}
