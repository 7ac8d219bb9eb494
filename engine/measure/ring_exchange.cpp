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
      way_(way_of(values)),
      right_((comm_.rank + 1) % comm_.size),
      left_((comm_.rank + comm_.size - 1) % comm_.size),
      outgoing_(place.arena, block_.bytes, values.word("buffers")),
      incoming_(place.arena, block_.bytes, values.word("buffers")) {}

RingExchange::~RingExchange() {
  forget_requests();
  if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
}

RingExchange::Way RingExchange::way_of(const Values& values) {
  const std::string& word = values.word("exchange");
  if (word == "sendrecv") return Way::sendrecv;
  if (word == "nonblocking") return Way::nonblocking;
  if (word == "persistent") return Way::persistent;
  if (word != "neighborhood") return Way::ordered;
#ifdef HOCKNEY_SMPI
  throw InvalidCase(
      "exchange=neighborhood cannot be simulated (SimGrid's MPI has no neighborhood collectives); use "
      "exchange=nonblocking");
#endif
  return Way::neighborhood;
}

// Not in the constructor: if one rank lacked memory, the others would wait for it here.
void RingExchange::prepare(int count) {
  if (comm_.size == 1) return;
  if (way_ == Way::persistent && (requests_.empty() || outgoing_.places() > 1))
    make_requests(std::min(static_cast<std::size_t>(count), outgoing_.places()));
  if (way_ == Way::neighborhood && graph_ == MPI_COMM_NULL)
    MPI_Dist_graph_create_adjacent(comm_.handle, 1, &left_, MPI_UNWEIGHTED, 1, &right_, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph_);
}

// Each slot needs separate requests. Cold buffers may have a hundred thousand slots, so requests are created
// only for those that come next.
void RingExchange::make_requests(std::size_t places) {
  forget_requests();
  requests_.resize(2 * places);
  next_request_ = 0;
  for (std::size_t i = 0; i < places; ++i) {
    MPI_Recv_init(incoming_.place_after(i), block_.count, block_.type, left_, tag, comm_.handle,
                  &requests_[2 * i]);
    MPI_Send_init(outgoing_.place_after(i), block_.count, block_.type, right_, tag, comm_.handle,
                  &requests_[2 * i + 1]);
  }
}

void RingExchange::forget_requests() {
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
  std::byte* const out = outgoing_.next();
  std::byte* const in = incoming_.next();
  MPI_Request requests[2];
  switch (way_) {
    case Way::ordered: ordered(out, in); break;
    case Way::sendrecv:
      MPI_Sendrecv(out, block_.count, block_.type, right_, tag, in, block_.count, block_.type, left_, tag,
                   comm_.handle, MPI_STATUS_IGNORE);
      break;
    case Way::nonblocking:
      MPI_Irecv(in, block_.count, block_.type, left_, tag, comm_.handle, &requests[0]);
      MPI_Isend(out, block_.count, block_.type, right_, tag, comm_.handle, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      break;
    case Way::persistent: {
      MPI_Request* const made = next_requests();
      MPI_Startall(2, made);
      MPI_Waitall(2, made, MPI_STATUSES_IGNORE);
      break;
    }
    case Way::neighborhood:
      MPI_Neighbor_alltoall(out, block_.count, block_.type, in, block_.count, block_.type, graph_);
      break;
  }
}

void RingExchange::ordered(std::byte* out, std::byte* in) {
  if (comm_.rank % 2 == 0) {
    MPI_Send(out, block_.count, block_.type, right_, tag, comm_.handle);
    MPI_Recv(in, block_.count, block_.type, left_, tag, comm_.handle, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, block_.count, block_.type, left_, tag, comm_.handle, MPI_STATUS_IGNORE);
    MPI_Send(out, block_.count, block_.type, right_, tag, comm_.handle);
  }
}

void RingExchange::fill(const Payload& payload) {
  write_bytes(outgoing_.upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
  spoil(incoming_.upcoming(), payload);
}

Check RingExchange::verify(const Payload& payload) {
  if (comm_.size == 1) return {};
  return check_bytes(incoming_.taken(), payload, static_cast<std::uint64_t>(left_),
                     "the message from the left");
}

}  // namespace hockney
