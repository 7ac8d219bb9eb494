# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# A folder that contains a file of this name is a plug-in folder of workloads with a separate executable,
# hockney-FOLDER, which is built when one of its workloads is first used. These are the compile options of its
# files. A group may also set `libraries` to link, and `thread_level`, the level of thread support that it
# requests from MPI (MPI_THREAD_SINGLE by default).
#
# Parallel algorithms on BSPlib, on the BPRAM library and on MPI, and what predicts their times.
set(options -O3)
include(local/local.cmake)
file(GLOB bpram_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/bpram/*.cpp)
add_library(hockney-bpram STATIC EXCLUDE_FROM_ALL ${bpram_sources})
target_link_libraries(hockney-bpram PUBLIC hockney-house)
set(libraries hockney-bsp hockney-bpram hockney-local)
