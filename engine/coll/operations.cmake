# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
#
# coll/OPERATION is a plug-in folder of algorithms for each operation in coll/algorithm.hpp; it may be missing.
set(HOCKNEY_OPERATIONS allgather allreduce alltoall bcast gather reduce reduce_scatter_block scan scatter)

function(hockney_collectives variable)
  set(all "")
  foreach(operation IN LISTS HOCKNEY_OPERATIONS)
    hockney_plugin_folder(sources FOLDER coll/${operation} NAMESPACE coll::${operation}
      TYPE CollectiveAlgorithm<operation::${operation}> HEADER coll/algorithm.hpp
      TABLE operation::${operation}::table CHOICES operation::${operation}::choices FIRST mpi)
    list(APPEND all ${sources})
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()
