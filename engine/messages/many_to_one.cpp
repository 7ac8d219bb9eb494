// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "messages/pairs.hpp"
#include "messages/root_and_peers.hpp"

namespace hockney::messages {
namespace {

// Ranks 1 to `senders` send windows of messages to rank 0, which posts one receive per message and ends each
// window with an empty reply. With source=any, a receive matches the next message from any sender.
class ManyToOne final : public RootAndPeers {
 public:
  ManyToOne(const Place& place, const Values& values)
      : RootAndPeers(place, values, "senders"),
        matches_any_(values.word("source") == "any"),
        statuses_(own_messages_) {}

  void run() override {
    if (comm_.root()) {
      for (std::size_t i = 0; i < own_messages_; ++i)
        MPI_Irecv(start_of(i), block_.count, block_.type, matches_any_ ? MPI_ANY_SOURCE : peer_of(i), tag,
                  comm_.handle, &requests_[i]);
      MPI_Waitall(static_cast<int>(own_messages_), requests_.data(), statuses_.data());
      for (int sender = 1; sender <= peers_; ++sender)
        MPI_Send(nullptr, 0, MPI_BYTE, sender, answer_tag, comm_.handle);
    } else if (peer_) {
      for (std::size_t i = 0; i < own_messages_; ++i)
        MPI_Isend(start_of(i), block_.count, block_.type, 0, tag, comm_.handle, &requests_[i]);
      MPI_Waitall(static_cast<int>(own_messages_), requests_.data(), MPI_STATUSES_IGNORE);
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, answer_tag, comm_.handle, MPI_STATUS_IGNORE);
    }
  }

  // Messages from one sender arrive in the order in which they were sent.
  Check verify(const Payload& payload) override {
    Check all;
    if (!comm_.root()) return all;
    const Payload part = payload.divided_among(messages_);
    std::vector<std::size_t> received_counts(static_cast<std::size_t>(comm_.size));
    for (std::size_t i = 0; i < messages_; ++i) {
      const int from = statuses_[i].MPI_SOURCE;
      const bool expected =
          from >= 1 && from <= peers_ && received_counts[static_cast<std::size_t>(from)] < window_;
      if (!expected) return {all.bytes, 1, "a message came from rank " + std::to_string(from)};
      all += check_bytes(message(i), part, first_of(from) + received_counts[static_cast<std::size_t>(from)]++,
                         "a message received");
    }
    return all;
  }

 private:
  bool sends() const override { return peer_; }

  const bool matches_any_;
  std::vector<MPI_Status> statuses_;
};

constexpr Parameter many_to_one_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"senders", Kind::integer, "", "0", 0, 1e7, "",
     "number of senders, from rank 1 on (0: all except rank 0)"},
    source,
    {"window", Kind::integer, "", "16", 1, 4096, "", "concurrent messages of each sender"}};

}  // namespace

extern constinit const WorkloadInfo many_to_one{
    .name = "many_to_one",
    .role = "messages",
    .operation = "many_to_one",
    .size = "bytes",
    .help = "many ranks send many concurrent messages to rank 0 (MPI_Isend, MPI_Irecv)",
    .time = "divided by the number of messages of all senders: the inverse is the message rate",
    .min_ranks = 2,
    .timing = Timing::root,
    .parameters = many_to_one_parameters,
    .make = make<ManyToOne>,
};

}  // namespace hockney::messages
