# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# A folder that contains a file of this name is a shelf of workloads with a separate executable,
# hockney-FOLDER, which is built when one of its workloads is first used. These are the compile options of its
# files. A group may also set `libraries` to link, and `thread_level`, the level of thread support that it
# requests from MPI (MPI_THREAD_SINGLE by default).
set(options -O3)
