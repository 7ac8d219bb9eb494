# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# Several threads of each rank in MPI at the same time.
set(thread_level MPI_THREAD_MULTIPLE)
set(libraries -pthread)
