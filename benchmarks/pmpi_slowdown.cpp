// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives that take a given factor longer, by MPI's profiling interface: loaded into unchanged programs
// with LD_PRELOAD, for comparison_machine.py. HOCKNEY_SLOWDOWN is "CALL FACTOR LOWEST HIGHEST": calls of
// MPI_<CALL> whose send buffer for one rank has LOWEST to HIGHEST bytes take FACTOR times as long as they
// would. After such a call the rank waits for FACTOR - 1 times as long as the call took. With FACTOR 1 the
// clock is read as often, so that nothing but the waiting differs between two factors.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <ctime>
#endif

namespace {

// The unit does not matter, since all waiting is relative to a call's duration; the cost of a reading does.
double ticks() {
#if defined(__x86_64__)
  return static_cast<double>(__rdtsc());
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
#endif
}

struct Slowdown {
  char call[32] = "";
  double factor = 1;
  double lowest = 0;
  double highest = 0;

  Slowdown() {
    const char* text = std::getenv("HOCKNEY_SLOWDOWN");
    if (text == nullptr) return;
    if (std::sscanf(text, "%31s %lf %lf %lf", call, &factor, &lowest, &highest) != 4 || factor < 1) {
      std::fprintf(stderr, "pmpi_slowdown: HOCKNEY_SLOWDOWN is CALL FACTOR LOWEST HIGHEST, not '%s'\n", text);
      std::abort();
    }
  }
  bool meant(const char* name, int count, MPI_Datatype type) const {
    if (std::strcmp(call, name) != 0) return false;
    int size = 0;
    PMPI_Type_size(type, &size);
    const double bytes = static_cast<double>(count) * size;
    return lowest <= bytes && bytes <= highest;
  }
};

const Slowdown slowdown;

template <class Call>
int slowed(const char* name, int count, MPI_Datatype type, const Call& call) {
  if (!slowdown.meant(name, count, type)) return call();
  const double began = ticks();
  const int code = call();
  const double until = began + (ticks() - began) * slowdown.factor;
  while (ticks() < until) {
  }
  return code;
}

}  // namespace

extern "C" {

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return slowed("Allreduce", count, type, [&] { return PMPI_Allreduce(from, to, count, type, op, comm); });
}

int MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return slowed("Reduce", count, type, [&] { return PMPI_Reduce(from, to, count, type, op, root, comm); });
}

int MPI_Scan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return slowed("Scan", count, type, [&] { return PMPI_Scan(from, to, count, type, op, comm); });
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return slowed("Bcast", count, type, [&] { return PMPI_Bcast(data, count, type, root, comm); });
}

int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                  MPI_Datatype to_type, MPI_Comm comm) {
  return slowed("Allgather", count, type,
                [&] { return PMPI_Allgather(from, count, type, to, to_count, to_type, comm); });
}

int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type,
                 MPI_Comm comm) {
  return slowed("Alltoall", count, type,
                [&] { return PMPI_Alltoall(from, count, type, to, to_count, to_type, comm); });
}

}  // extern "C"
