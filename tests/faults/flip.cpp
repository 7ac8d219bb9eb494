// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// A network that corrupts messages: preloaded into ranks (LD_PRELOAD), it flips one bit in one of
// HOCKNEY_FLIP_ONE_IN receives, using MPI's profiling interface. HOCKNEY_FLIP_WHAT is `payload`, `control`
// (hockney's own messages, by their tags) or `all`. At the end each rank that flipped any appends "RANK FLIPS
// RECEIVES" to the file HOCKNEY_FLIP_LOG.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <unordered_map>
#include <vector>

namespace {

constexpr int first_control_tag = 76;  // from comm/comm.cpp
constexpr int last_control_tag = 77;   // from comm/global_clock.cpp

const char* setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

struct Flipper {
  double one_in = std::atof(setting("HOCKNEY_FLIP_ONE_IN", "0"));
  const char* what = setting("HOCKNEY_FLIP_WHAT", "payload");
  std::mt19937_64 draw{std::random_device{}()};
  long receives = 0;
  long flips = 0;

  bool meant(int tag) const {
    const bool control = first_control_tag <= tag && tag <= last_control_tag;
    return !std::strcmp(what, "all") || control == !std::strcmp(what, "control");
  }
  void arrived(void* place, std::size_t bytes, int tag) {
    if (one_in <= 0 || bytes == 0 || place == nullptr || !meant(tag)) return;
    ++receives;
    if (std::uniform_real_distribution<>(0, one_in)(draw) >= 1) return;
    const std::uint64_t bit = std::uniform_int_distribution<std::uint64_t>(0, 8 * bytes - 1)(draw);
    static_cast<unsigned char*>(place)[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    ++flips;
  }
};

Flipper& flipper() {
  static Flipper one;
  return one;
}

struct Place {
  void* buffer;
  std::size_t bytes;
  int tag;
  bool persistent;
};

std::unordered_map<MPI_Request, Place>& pending() {
  static std::unordered_map<MPI_Request, Place> all;
  return all;
}

std::size_t size_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

bool is(MPI_Comm comm, int root) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank == root;
}

constexpr int no_tag = 0;

void collected(void* place, int count, MPI_Datatype type, int blocks = 1) {
  flipper().arrived(place, size_of(count, type) * static_cast<std::size_t>(blocks), no_tag);
}

void completed(MPI_Request before) {
  const auto found = pending().find(before);
  if (found == pending().end()) return;
  const Place place = found->second;
  if (!place.persistent) pending().erase(found);
  flipper().arrived(place.buffer, place.bytes, place.tag);
}

}  // namespace

extern "C" {

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  const int code = PMPI_Recv(buffer, count, type, from, tag, comm, status);
  flipper().arrived(buffer, size_of(count, type), tag);
  return code;
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                 int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
  const int code =
      PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
  flipper().arrived(in, size_of(in_count, in_type), in_tag);
  return code;
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const int code = PMPI_Irecv(buffer, count, type, from, tag, comm, request);
  pending()[*request] = {buffer, size_of(count, type), tag, false};
  return code;
}

int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int code = PMPI_Recv_init(buffer, count, type, from, tag, comm, request);
  pending()[*request] = {buffer, size_of(count, type), tag, true};
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  pending().erase(*request);
  return PMPI_Request_free(request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const MPI_Request before = *request;
  const int code = PMPI_Wait(request, status);
  completed(before);
  return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const std::vector<MPI_Request> before(requests, requests + count);
  const int code = PMPI_Waitall(count, requests, statuses);
  for (const MPI_Request request : before) completed(request);
  return code;
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const int code = PMPI_Bcast(buffer, count, type, root, comm);
  if (!is(comm, root)) collected(buffer, count, type);
  return code;
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Allreduce(out, in, count, type, op, comm);
  collected(in, count, type);
  return code;
}

int MPI_Reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const int code = PMPI_Reduce(out, in, count, type, op, root, comm);
  if (is(comm, root)) collected(in, count, type);
  return code;
}

int MPI_Scan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int code = PMPI_Scan(out, in, count, type, op, comm);
  collected(in, count, type);
  return code;
}

int MPI_Reduce_scatter_block(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  const int code = PMPI_Reduce_scatter_block(out, in, count, type, op, comm);
  collected(in, count, type);
  return code;
}

int MPI_Allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int count,
                  MPI_Datatype type, MPI_Comm comm) {
  const int code = PMPI_Allgather(out, out_count, out_type, in, count, type, comm);
  collected(in, count, type, size_of(comm));
  return code;
}

int MPI_Alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int count,
                 MPI_Datatype type, MPI_Comm comm) {
  const int code = PMPI_Alltoall(out, out_count, out_type, in, count, type, comm);
  collected(in, count, type, size_of(comm));
  return code;
}

int MPI_Gather(const void* out, int out_count, MPI_Datatype out_type, void* in, int count, MPI_Datatype type,
               int root, MPI_Comm comm) {
  const int code = PMPI_Gather(out, out_count, out_type, in, count, type, root, comm);
  if (is(comm, root)) collected(in, count, type, size_of(comm));
  return code;
}

int MPI_Scatter(const void* out, int out_count, MPI_Datatype out_type, void* in, int count, MPI_Datatype type,
                int root, MPI_Comm comm) {
  const int code = PMPI_Scatter(out, out_count, out_type, in, count, type, root, comm);
  collected(in, count, type);
  return code;
}

int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (const char* path = std::getenv("HOCKNEY_FLIP_LOG"); path && flipper().receives) {
    if (std::FILE* log = std::fopen(path, "a")) {
      std::fprintf(log, "%d %ld %ld\n", rank, flipper().flips, flipper().receives);
      std::fclose(log);
    }
  }
  return PMPI_Finalize();
}

}  // extern "C"
