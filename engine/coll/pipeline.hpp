// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "coll/algorithm.hpp"
#include "coll/elements.hpp"

namespace hockney::coll {

// A segment fits into a first-level cache (32 KiB or more) while it is received and forwarded. It takes a few
// times as long as an empty message if that takes 0.3 us in memory, or 1 us on a network of 100 Gbit/s.
inline constexpr int segment_bytes = 8192;

// A vector travels down a tree in segments: a rank receives one segment while it sends the previous one to
// its children. MPI_PROC_NULL represents a parent or child that does not exist.
inline int send_pipelined(void* data, int count, MPI_Datatype type, int parent, const int (&children)[2],
                          MPI_Comm comm) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  const int length = bytes == 0 ? std::max(count, 1) : std::max(segment_bytes / bytes, 1);
  const int segments = count == 0 ? 1 : (count - 1) / length + 1;
  const Blocks vector(data, length, type);
  const auto elements = [&](int segment) {
    return segment + 1 < segments ? length : count - segment * length;
  };

  // Requests of two consecutive segments.
  MPI_Request receive_requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Request send_requests[2][2] = {{MPI_REQUEST_NULL, MPI_REQUEST_NULL},
                                     {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
  int error = MPI_Irecv(vector[0], elements(0), type, parent, tag, comm, &receive_requests[0]);
  for (int segment = 0; segment < segments && error == MPI_SUCCESS; ++segment) {
    const int next = segment + 1, current = segment % 2;
    if (next < segments)
      error = MPI_Irecv(vector[next], elements(next), type, parent, tag, comm, &receive_requests[next % 2]);
    if (error == MPI_SUCCESS) error = MPI_Wait(&receive_requests[current], MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = MPI_Waitall(2, send_requests[current], MPI_STATUSES_IGNORE);
    for (int child = 0; child < 2 && error == MPI_SUCCESS; ++child)
      error = MPI_Isend(vector[segment], elements(segment), type, children[child], tag, comm,
                        &send_requests[current][child]);
  }
  return error == MPI_SUCCESS ? MPI_Waitall(4, send_requests[0], MPI_STATUSES_IGNORE) : error;
}

}  // namespace hockney::coll
