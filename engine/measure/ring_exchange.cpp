// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/ring_exchange.hpp"

#include <algorithm>

#include "base/invalid_case.hpp"
#include "base/payload.hpp"
#include "measure/checking.hpp"

namespace hockney {

RingExchange::RingExchange(const Place& place, const Values& values)
    : comm_(place.comm),
      block_(values.bytes()),
      variant_(parse_variant(values)),
      right_((comm_.rank + 1) % comm_.size),
      left_((comm_.rank + comm_.size - 1) % comm_.size),
      outgoing_(place.arena, block_.bytes, values.word("buffers")),
      incoming_(place.arena, block_.bytes, values.word("buffers")) {}

RingExchange::~RingExchange() {
  free_requests();
  if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
}

RingExchange::Variant RingExchange::parse_variant(const Values& values) {
  const std::string& word = values.word("exchange");
  if (word == "sendrecv") return Variant::sendrecv;
  if (word == "nonblocking") return Variant::nonblocking;
  if (word == "persistent") return Variant::persistent;
  if (word != "neighborhood") return Variant::ordered;
#ifdef HOCKNEY_SMPI
  throw InvalidCase(
      "exchange=neighborhood cannot be simulated (SimGrid's MPI has no neighborhood collectives); use "
      "exchange=nonblocking");
#endif
  return Variant::neighborhood;
}

// Not in the constructor: if one rank lacked memory, the others would wait for it here.
void RingExchange::prepare(int count) {
  if (comm_.size == 1) return;
  if (variant_ == Variant::persistent && (requests_.empty() || outgoing_.slots() > 1))
    make_requests(std::min(static_cast<std::size_t>(count), outgoing_.slots()));
  if (variant_ == Variant::neighborhood && graph_ == MPI_COMM_NULL)
    MPI_Dist_graph_create_adjacent(comm_.handle, 1, &left_, MPI_UNWEIGHTED, 1, &right_, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph_);
}

// Each slot needs separate requests. Cold buffers may have a hundred thousand slots, so requests are created
// only for the next slots.
void RingExchange::make_requests(std::size_t slots) {
  free_requests();
  requests_.resize(2 * slots);
  next_request_ = 0;
  for (std::size_t i = 0; i < slots; ++i) {
    MPI_Recv_init(incoming_.slot_after(i), block_.count, block_.type, left_, tag, comm_.handle,
                  &requests_[2 * i]);
    MPI_Send_init(outgoing_.slot_after(i), block_.count, block_.type, right_, tag, comm_.handle,
                  &requests_[2 * i + 1]);
  }
}

void RingExchange::free_requests() {
  for (MPI_Request& request : requests_) MPI_Request_free(&request);
  requests_.clear();
}

MPI_Request* RingExchange::next_requests() {
  if (requests_.size() == 2) return requests_.data();
  MPI_Request* const current = &requests_[next_request_];
  next_request_ = (next_request_ + 2) % requests_.size();
  return current;
}

void RingExchange::exchange() {
  if (comm_.size == 1) return;
  std::byte* const outgoing = outgoing_.next();
  std::byte* const incoming = incoming_.next();
  MPI_Request requests[2];
  switch (variant_) {
    case Variant::ordered: ordered(outgoing, incoming); break;
    case Variant::sendrecv:
      MPI_Sendrecv(outgoing, block_.count, block_.type, right_, tag, incoming, block_.count, block_.type,
                   left_, tag, comm_.handle, MPI_STATUS_IGNORE);
      break;
    case Variant::nonblocking:
      MPI_Irecv(incoming, block_.count, block_.type, left_, tag, comm_.handle, &requests[0]);
      MPI_Isend(outgoing, block_.count, block_.type, right_, tag, comm_.handle, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      break;
    case Variant::persistent: {
      MPI_Request* const requests = next_requests();
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      break;
    }
    case Variant::neighborhood:
      MPI_Neighbor_alltoall(outgoing, block_.count, block_.type, incoming, block_.count, block_.type, graph_);
      break;
  }
}

void RingExchange::ordered(std::byte* outgoing, std::byte* incoming) {
  if (comm_.rank % 2 == 0) {
    MPI_Send(outgoing, block_.count, block_.type, right_, tag, comm_.handle);
    MPI_Recv(incoming, block_.count, block_.type, left_, tag, comm_.handle, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(incoming, block_.count, block_.type, left_, tag, comm_.handle, MPI_STATUS_IGNORE);
    MPI_Send(outgoing, block_.count, block_.type, right_, tag, comm_.handle);
  }
}

void RingExchange::fill(const Payload& payload) {
  write_bytes(outgoing_.upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
  spoil(incoming_.upcoming(), payload);
}

Check RingExchange::verify(const Payload& payload) {
  if (comm_.size == 1) return {};
  return check_bytes(incoming_.current(), payload, static_cast<std::uint64_t>(left_),
                     "the message from the left");
}

}  // namespace hockney
