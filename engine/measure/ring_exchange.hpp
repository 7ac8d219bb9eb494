// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "measure/buffer.hpp"
#include "measure/workload.hpp"

namespace hockney {

// One round-robin exchange on a ring: every rank sends a message to its right neighbor and receives one from
// its left neighbor. The variants differ in the calls:
//
//   ordered       MPI_Send and MPI_Recv, even ranks sending first: the exchange of Hanebutte and Tatsumi
//                 (1996). With an odd number of ranks the last one and rank 0 both send first, so that the
//                 last one's message waits until rank 0 has sent its own: three steps instead of two. There
//                 is no deadlock: only the last rank can wait for a rank that sends, and that one sends to
//                 rank 1, which receives at once.
//   sendrecv      MPI_Sendrecv
//   nonblocking   MPI_Irecv and MPI_Isend, then MPI_Waitall
//   persistent    requests created in advance, MPI_Startall, then MPI_Waitall
//   neighborhood  MPI_Neighbor_alltoall on a graph with one edge to the right and one from the left
//
// One rank exchanges nothing.
class RingExchange {
 public:
  // Uses the parameters bytes, buffers and exchange. Throws OutOfMemory, and InvalidCase for calls that this
  // MPI lacks.
  RingExchange(const Place& place, const Values& values);
  ~RingExchange();
  RingExchange(const RingExchange&) = delete;
  RingExchange& operator=(const RingExchange&) = delete;

  // Creates the requests for `count` exchanges, outside the measurement.
  void prepare(int count);
  void exchange();

  void fill(const Payload& payload);
  Check verify(const Payload& payload);
  bool keeps_payload() const { return outgoing_.slots() == 1; }
  std::uint64_t bytes_moved() const { return comm_.size > 1 ? block_.bytes : 0; }

 private:
  enum class Variant { ordered, sendrecv, nonblocking, persistent, neighborhood };
  static Variant parse_variant(const Values& values);
  void ordered(std::byte* outgoing, std::byte* incoming);
  void make_requests(std::size_t slots);
  void free_requests();
  MPI_Request* next_requests();

  static constexpr int tag = 1;

  const Comm& comm_;
  const Block block_;
  const Variant variant_;
  const int right_;
  const int left_;
  Buffer outgoing_;
  IncomingBuffer incoming_;
  std::vector<MPI_Request> requests_;  // persistent: two for each of the next slots
  std::size_t next_request_ = 0;
  MPI_Comm graph_ = MPI_COMM_NULL;
};

}  // namespace hockney
