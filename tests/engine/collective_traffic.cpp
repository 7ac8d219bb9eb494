// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
// What every algorithm of the folders coll/OPERATION sends, seen through MPI's profiling interface: with rank
// 0 as the root and a block or vector of so many bytes as each argument says, one line for each algorithm
// with the number of messages, the bytes that each rank sends, and those that each receives.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "coll/algorithm.hpp"

namespace {

using namespace hockney;

long messages = 0;
std::vector<long> bytes_to;

void sent(int count, MPI_Datatype type, int to, int tag) {
  if (tag != coll::tag || to == MPI_PROC_NULL) return;
  int size = 0;
  PMPI_Type_size(type, &size);
  ++messages;
  bytes_to[static_cast<std::size_t>(to)] += static_cast<long>(count) * size;
}

struct Data {
  int bytes;
  std::vector<char> out, in;

  int doubles() const { return bytes / static_cast<int>(sizeof(double)); }
};

void call(operation::bcast::Call* function, Data& data) {
  function(data.in.data(), data.bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
// gather and scatter
void call(operation::gather::Call* function, Data& data) {
  function(data.out.data(), data.bytes, MPI_BYTE, data.in.data(), data.bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
// allgather and alltoall
void call(operation::allgather::Call* function, Data& data) {
  function(data.out.data(), data.bytes, MPI_BYTE, data.in.data(), data.bytes, MPI_BYTE, MPI_COMM_WORLD);
}
void call(operation::reduce::Call* function, Data& data) {
  function(data.out.data(), data.in.data(), data.doubles(), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
// allreduce, reduce_scatter_block and scan
void call(operation::allreduce::Call* function, Data& data) {
  function(data.out.data(), data.in.data(), data.doubles(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void print(const std::vector<long>& values) {
  const char* separator = " ";
  for (const long value : values) {
    std::printf("%s%ld", separator, value);
    separator = ",";
  }
}

template <class Operation>
void count(const char* operation, Data& data) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int size = static_cast<int>(bytes_to.size());
  for (const auto* algorithm : Operation::table()) {
    messages = 0;
    bytes_to.assign(bytes_to.size(), 0);
    call(algorithm->call, data);
    long all = 0, mine = 0;
    for (const long bytes : bytes_to) mine += bytes;
    std::vector<long> out(bytes_to.size()), in(bytes_to.size());
    PMPI_Reduce(&messages, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Gather(&mine, 1, MPI_LONG, out.data(), 1, MPI_LONG, 0, MPI_COMM_WORLD);
    PMPI_Reduce(bytes_to.data(), in.data(), size, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank > 0) continue;
    std::printf("%s %s %d %ld", operation, algorithm->name, data.bytes, all);
    print(out);
    print(in);
    std::printf("\n");
  }
}

}  // namespace

// One name for each call that the algorithms send by.
extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  sent(count, type, to, tag);
  return PMPI_Send(data, count, type, to, tag, comm);
}
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  sent(count, type, to, tag);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
int MPI_Sendrecv(const void* out, int sends, MPI_Datatype type, int to, int tag, void* in, int receives,
                 MPI_Datatype its, int from, int from_tag, MPI_Comm comm, MPI_Status* status) {
  sent(sends, type, to, tag);
  return PMPI_Sendrecv(out, sends, type, to, tag, in, receives, its, from, from_tag, comm, status);
}
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bytes_to.resize(static_cast<std::size_t>(size));
  for (int argument = 1; argument < argc; ++argument) {
    const int bytes = std::atoi(argv[argument]);
    // never empty: MPI may take equal buffers for a mistake
    const std::vector<char> room(static_cast<std::size_t>(bytes) * bytes_to.size() + 1);
    Data data{bytes, room, room};
    count<operation::bcast>("bcast", data);
    count<operation::gather>("gather", data);
    count<operation::scatter>("scatter", data);
    count<operation::allgather>("allgather", data);
    count<operation::alltoall>("alltoall", data);
    count<operation::reduce>("reduce", data);
    count<operation::allreduce>("allreduce", data);
    count<operation::reduce_scatter_block>("reduce_scatter_block", data);
    count<operation::scan>("scan", data);
  }
  MPI_Finalize();
}
