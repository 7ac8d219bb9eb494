# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# An operation next to load from other ranks. Both are workloads of other folders.
add_library(hockney-loads STATIC EXCLUDE_FROM_ALL
  patterns/allreduce.cpp patterns/alltoall.cpp patterns/round_robin.cpp
  messages/halo.cpp messages/many_to_one.cpp messages/one_to_many.cpp messages/pairs_stream.cpp)
target_link_libraries(hockney-loads PUBLIC hockney-house)
target_precompile_headers(hockney-loads REUSE_FROM hockney-house)
set(libraries hockney-loads)
