// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// On a calibrated machine collectives cost more than their messages, because a rank copies its own block or
// allocates a buffer. The simulator charges neither. So each call first lets its additional time pass, then
// calls MPI's function through the profiling interface. The simulator's MPI_SUM takes no time either: sums of
// doubles take the time in the description.
#include "smpi/calls.hpp"

#include <mpi.h>
#include <simgrid/actor.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "smpi/broadcast.hpp"
#include "smpi/sum.hpp"

namespace hockney::smpi {
namespace {

using Points = std::vector<std::pair<double, double>>;

std::map<std::string, Points> parse(const char* text) {
  std::map<std::string, Points> found;
  std::istringstream operations(text ? text : "");
  for (std::string operation_text; std::getline(operations, operation_text, ';');) {
    std::istringstream words(operation_text);
    std::string name;
    words >> name;
    for (double bytes = 0, seconds = 0; words >> bytes >> seconds;) found[name].emplace_back(bytes, seconds);
  }
  return found;
}

double seconds_at(const Points& points, double bytes) {
  if (bytes <= points.front().first) return points.front().second;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto& [low, from] = points[i - 1];
    const auto& [high, to] = points[i];
    if (bytes <= high) return from + (to - from) * (bytes - low) / (high - low);
  }
  return points.back().first > 0 ? points.back().second * bytes / points.back().first : points.back().second;
}

double size_of(int count, MPI_Datatype type) {
  int operation_text = 0;
  MPI_Type_size(type, &operation_text);
  return static_cast<double>(count) * operation_text;
}

// The operation that takes time if `operation` is MPI_SUM of doubles.
MPI_Op timed(MPI_Op operation, MPI_Datatype type) {
  if (operation != MPI_SUM || type != MPI_DOUBLE || !summing_costs_time()) return operation;
  // Created once and never changed, so all ranks may share it.
  static const MPI_Op sum = [] {
    MPI_Op created = MPI_SUM;
    PMPI_Op_create(sum_doubles, 1, &created);
    return created;
  }();
  return sum;
}

}  // namespace

void spend_call(const char* operation, double bytes) {
  // Read once and never changed, so all ranks may share it.
  static const std::map<std::string, Points> costs = parse(std::getenv("HOCKNEY_CALLS"));
  if (costs.empty()) return;
  const auto found = costs.find(operation);
  if (found == costs.end()) return;
  const double seconds = seconds_at(found->second, bytes);
  if (seconds > 0) sg_actor_sleep_for(seconds);
}

}  // namespace hockney::smpi

using hockney::smpi::size_of;
using hockney::smpi::spend_call;
using hockney::smpi::timed;

extern "C" {

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  spend_call("bcast", size_of(count, type));
  if (hockney::smpi::has_medium_broadcast()) {
    int ranks = 1, all = 1;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    if (ranks > 2 && ranks == all) return hockney::smpi::broadcast_by_medium(data, count, type, root, comm);
  }
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Gather(const void* out, int count, MPI_Datatype type, void* in, int received, MPI_Datatype in_type,
               int root, MPI_Comm comm) {
  spend_call("gather", size_of(count, type));
  return PMPI_Gather(out, count, type, in, received, in_type, root, comm);
}

int MPI_Scatter(const void* out, int sent, MPI_Datatype out_type, void* in, int count, MPI_Datatype type,
                int root, MPI_Comm comm) {
  spend_call("scatter", size_of(count, type));
  return PMPI_Scatter(out, sent, out_type, in, count, type, root, comm);
}

int MPI_Allgather(const void* out, int count, MPI_Datatype type, void* in, int received, MPI_Datatype in_type,
                  MPI_Comm comm) {
  spend_call("allgather", size_of(received, in_type));
  return PMPI_Allgather(out, count, type, in, received, in_type, comm);
}

int MPI_Alltoall(const void* out, int count, MPI_Datatype type, void* in, int received, MPI_Datatype in_type,
                 MPI_Comm comm) {
  spend_call("alltoall", size_of(received, in_type));
  return PMPI_Alltoall(out, count, type, in, received, in_type, comm);
}

int MPI_Reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  spend_call("reduce", size_of(count, type));
  return PMPI_Reduce(out, in, count, type, timed(op, type), root, comm);
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  spend_call("allreduce", size_of(count, type));
  return PMPI_Allreduce(out, in, count, type, timed(op, type), comm);
}

int MPI_Reduce_scatter_block(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  spend_call("reduce_scatter_block", size_of(count, type));
  return PMPI_Reduce_scatter_block(out, in, count, type, timed(op, type), comm);
}

int MPI_Scan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  spend_call("scan", size_of(count, type));
  return PMPI_Scan(out, in, count, type, timed(op, type), comm);
}

int MPI_Exscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return PMPI_Exscan(out, in, count, type, timed(op, type), comm);
}

int MPI_Reduce_scatter(const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  return PMPI_Reduce_scatter(out, in, counts, type, timed(op, type), comm);
}

int MPI_Ireduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  return PMPI_Ireduce(out, in, count, type, timed(op, type), root, comm, request);
}

int MPI_Iallreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  return PMPI_Iallreduce(out, in, count, type, timed(op, type), comm, request);
}

int MPI_Iscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Iscan(out, in, count, type, timed(op, type), comm, request);
}

int MPI_Iexscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request) {
  return PMPI_Iexscan(out, in, count, type, timed(op, type), comm, request);
}

int MPI_Ireduce_scatter(const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Request* request) {
  return PMPI_Ireduce_scatter(out, in, counts, type, timed(op, type), comm, request);
}

int MPI_Ireduce_scatter_block(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request* request) {
  return PMPI_Ireduce_scatter_block(out, in, count, type, timed(op, type), comm, request);
}

}  // extern "C"
