# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from real_mpi import mpi, mpi_name  # noqa: F401
