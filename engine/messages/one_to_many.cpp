// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "messages/root_and_peers.hpp"

namespace hockney::messages {
namespace {

// Rank 0 sends a window of messages to each of the ranks 1 to `receivers`, which post a receive for each and
// end the window with an empty reply.
class OneToMany final : public RootAndPeers {
 public:
  OneToMany(const Place& place, const Values& values) : RootAndPeers(place, values, "receivers") {}

  void run() override {
    if (comm_.root()) {
      for (std::size_t i = 0; i < own_messages_; ++i)
        MPI_Isend(start_of(i), block_.count, block_.type, peer_of(i), tag, comm_.handle, &requests_[i]);
      MPI_Waitall(static_cast<int>(own_messages_), requests_.data(), MPI_STATUSES_IGNORE);
      for (int receiver = 1; receiver <= peers_; ++receiver)
        MPI_Recv(nullptr, 0, MPI_BYTE, receiver, answer_tag, comm_.handle, MPI_STATUS_IGNORE);
    } else if (peer_) {
      for (std::size_t i = 0; i < own_messages_; ++i)
        MPI_Irecv(start_of(i), block_.count, block_.type, 0, tag, comm_.handle, &requests_[i]);
      MPI_Waitall(static_cast<int>(own_messages_), requests_.data(), MPI_STATUSES_IGNORE);
      MPI_Send(nullptr, 0, MPI_BYTE, 0, answer_tag, comm_.handle);
    }
  }

  Check verify(const Payload& payload) override {
    Check all;
    if (!peer_) return all;
    const Payload part = payload.divided_among(messages_);
    for (std::size_t i = 0; i < own_messages_; ++i)
      all += check_bytes(message(i), part, identity(i), "a message received");
    return all;
  }

 private:
  bool sends() const override { return comm_.root(); }
};

constexpr Parameter one_to_many_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"receivers", Kind::integer, "", "0", 0, 1e7, "",
     "number of receivers, from rank 1 on (0: all except rank 0)"},
    {"window", Kind::integer, "", "16", 1, 4096, "", "concurrent messages to each receiver"}};

}  // namespace

extern constinit const WorkloadInfo one_to_many{
    .name = "one_to_many",
    .role = "messages",
    .operation = "one_to_many",
    .size = "bytes",
    .help = "rank 0 sends many concurrent messages to many ranks (MPI_Isend, MPI_Irecv)",
    .time = "divided by the number of messages to all receivers: the inverse is the message rate",
    .min_ranks = 2,
    .timing = Timing::root,
    .parameters = one_to_many_parameters,
    .make = make<OneToMany>,
};

}  // namespace hockney::messages
