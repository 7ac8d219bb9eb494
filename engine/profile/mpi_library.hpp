// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The MPI library that the program uses, found while it runs: its functions, and what differs between the
// binary interfaces. Nothing here needs a header of MPI, so that one library serves every MPI.
#pragma once

#include <cstdint>

#include "profile/call.hpp"

namespace hockney::profile {

using Handle = std::uint64_t;  // an int or a pointer

enum class Abi : std::uint32_t { unknown, open_mpi, mpich, standard };

struct MpiLibrary {
  Abi abi = Abi::unknown;
  void* library = nullptr;  // as dlopen returns it
  bool several = false;     // another MPI library is loaded as well

  // Constants of mpi.h.
  Handle world, self, communicator_null, request_null, type_null, byte;
  int any_source, any_tag, proc_null, root, undefined;
  std::uintptr_t status_ignore, fortran_status_ignore[8];
  bool fortran_indirect;
  int source_at, tag_at, status_bytes;  // offsets in a status, and its size
  int handle_bytes;

  // PMPI functions.
  double (*wtime)();
  int (*comm_rank)(Handle, int*);
  int (*comm_size)(Handle, int*);
  int (*comm_remote_size)(Handle, int*);
  int (*comm_test_inter)(Handle, int*);
  int (*comm_group)(Handle, Handle*);
  int (*comm_remote_group)(Handle, Handle*);
  int (*group_free)(Handle*);
  int (*group_translate)(Handle, int, const int*, Handle, int*);
  int (*type_size)(Handle, int*);
  int (*type_size_c)(Handle, std::int64_t*);
  int (*error_class)(int, int*);
  int (*test_cancelled)(const void*, int*);
  int (*get_count_c)(const void*, Handle, std::int64_t*);
  int (*allgather)(const void*, int, Handle, void*, int, Handle, Handle);
  int (*comm_split)(Handle, int, int, Handle*);
  int (*comm_free)(Handle*);
  int (*recv)(void*, int, Handle, int, int, Handle, void*);
  int (*query_thread)(int*);
  int (*comm_get_parent)(Handle*);
  int (*initialized)(int*);
  int (*send)(const void*, int, Handle, int, int, Handle);
  int (*isend)(const void*, int, Handle, int, int, Handle, Handle*);
  int (*wait)(Handle*, void*);
  Handle (*comm_f2c)(std::int32_t);
  Handle (*type_f2c)(std::int32_t);
  Handle (*request_f2c)(std::int32_t);
  Handle (*win_f2c)(std::int32_t);
  Handle (*file_f2c)(std::int32_t);

  Handle mask(std::uint64_t value) const { return handle_bytes == 4 ? value & 0xffffffff : value; }
  bool ignored(const void* status, bool fortran) const;
};

extern MpiLibrary mpi;

// The function that a program would call without the wrapper. The first call of it has the return address
// `from`, by which a library that only a part of the program can see is found.
void* next(std::uint32_t symbol, std::uint64_t from);

// Whether a wrapper is hidden by a function of the program, or of a library before this one.
bool is_covered();

// Fills `mpi` by the library that defines `function`; false if its interface is not known.
bool recognize(void* function);

// Handles among the arguments of a call, as C has them.
Handle communicator_of(const Call& call, Parameter which = communicator_);
Handle communicator_at(const void* place, bool fortran);
Handle type_of(const Call& call, Parameter which);
Handle request_at(const Call& call, const void* array, std::int64_t k);
Handle window_of(const Call& call);
Handle file_of(const Call& call);

}  // namespace hockney::profile
