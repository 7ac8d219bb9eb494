// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/ring.hpp"

#include "base/payload.hpp"
#include "base/refusal.hpp"
#include "measure/checking.hpp"

namespace hockney {

Ring::Ring(const Place& place, const Values& values)
    : comm_(place.comm),
      block_(values.bytes()),
      way_(way_of(values)),
      right_((comm_.rank + 1) % comm_.size),
      left_((comm_.rank + comm_.size - 1) % comm_.size),
      outgoing_(place.arena, block_.bytes, values.word("buffers")),
      incoming_(place.arena, block_.bytes, values.word("buffers")) {}

Ring::~Ring() {
  for (MPI_Request& request : requests_) MPI_Request_free(&request);
  if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
}

Ring::Way Ring::way_of(const Values& values) {
  const std::string& word = values.word("exchange");
  if (word == "sendrecv") return Way::sendrecv;
  if (word == "nonblocking") return Way::nonblocking;
  if (word == "persistent") return Way::persistent;
  if (word != "neighborhood") return Way::ordered;
#ifdef HOCKNEY_SMPI
  throw Refusal(
      "exchange=neighborhood cannot be simulated (SimGrid's MPI has no neighbourhood collectives); use "
      "exchange=nonblocking");
#endif
  return Way::neighborhood;
}

// Not in the constructor: a rank that lacks memory would leave the others waiting for it here.
void Ring::prepare() {
  if (prepared_ || comm_.size == 1) return;
  prepared_ = true;
  if (way_ == Way::persistent) {
    requests_.resize(2 * outgoing_.places());
    for (std::size_t i = 0; i < outgoing_.places(); ++i) {
      MPI_Recv_init(incoming_.place(i), block_.count, block_.type, left_, tag, comm_.handle,
                    &requests_[2 * i]);
      MPI_Send_init(outgoing_.place(i), block_.count, block_.type, right_, tag, comm_.handle,
                    &requests_[2 * i + 1]);
    }
  } else if (way_ == Way::neighborhood) {
    MPI_Dist_graph_create_adjacent(comm_.handle, 1, &left_, MPI_UNWEIGHTED, 1, &right_, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph_);
  }
}

void Ring::exchange() {
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
      MPI_Request* const made = &requests_[2 * outgoing_.current()];
      MPI_Startall(2, made);
      MPI_Waitall(2, made, MPI_STATUSES_IGNORE);
      break;
    }
    case Way::neighborhood:
      MPI_Neighbor_alltoall(out, block_.count, block_.type, in, block_.count, block_.type, graph_);
      break;
  }
}

void Ring::ordered(std::byte* out, std::byte* in) {
  if (comm_.rank % 2 == 0) {
    MPI_Send(out, block_.count, block_.type, right_, tag, comm_.handle);
    MPI_Recv(in, block_.count, block_.type, left_, tag, comm_.handle, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, block_.count, block_.type, left_, tag, comm_.handle, MPI_STATUS_IGNORE);
    MPI_Send(out, block_.count, block_.type, right_, tag, comm_.handle);
  }
}

void Ring::fill(std::uint64_t seed) {
  write_payload(outgoing_.upcoming(), seed, static_cast<std::uint64_t>(comm_.rank));
  spoil(incoming_.upcoming());
}

Check Ring::verify(std::uint64_t seed) {
  if (comm_.size == 1) return {};
  return check_bytes(incoming_.taken(), seed, static_cast<std::uint64_t>(left_), "the message from the left");
}

}  // namespace hockney
