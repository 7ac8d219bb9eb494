// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/invalid_case.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::messages {

// Windows of concurrent messages between rank 0 and each of the ranks 1 to `peers`; the ranks beyond are
// idle. Message i of rank 0 belongs to peer 1 + i / window. Each window ends with an empty reply.
class RootAndPeers : public Workload {
 public:
  // `peers` is the name of the parameter that holds their number (0: all ranks except rank 0).
  RootAndPeers(const Place& place, const Values& values, const std::string& peers)
      : comm_(place.comm),
        block_(values.bytes()),
        window_(static_cast<std::size_t>(values.integer("window"))),
        peers_(peers_of(place, values, peers)),
        peer_(comm_.rank >= 1 && comm_.rank <= peers_),
        messages_(window_ * static_cast<std::size_t>(peers_)),
        own_messages_(comm_.root() ? messages_
                      : peer_      ? window_
                                   : 0),
        memory_(place.arena, values.bytes() * own_messages_, "hot"),
        requests_(own_messages_) {}

  void fill(const Payload& payload) override {
    const Payload part = payload.divided_among(messages_);
    for (std::size_t i = 0; i < own_messages_; ++i)
      if (sends())
        write_bytes(message(i), part, identity(i));
      else
        spoil(message(i), part);
  }

  bool keeps_payload() const override { return true; }
  // Counts the messages of all peers, so that the inverse of the time is the message rate.
  double operations() const override { return static_cast<double>(messages_); }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 protected:
  static constexpr int tag = 1;
  static constexpr int answer_tag = 2;

  // Whether this rank's messages are sent; otherwise it receives them.
  virtual bool sends() const = 0;

  int peer_of(std::size_t message) const { return static_cast<int>(message / window_) + 1; }
  // Index of this rank's message among the messages of all peers.
  std::uint64_t identity(std::size_t message) const {
    return comm_.root() ? message : first_of(comm_.rank) + message;
  }
  std::uint64_t first_of(int peer) const { return static_cast<std::uint64_t>(peer - 1) * window_; }
  std::byte* start_of(std::size_t message) { return memory_.upcoming().data() + message * block_.bytes; }
  std::span<std::byte> message(std::size_t index) {
    return memory_.upcoming().subspan(index * block_.bytes, block_.bytes);
  }

  const Comm& comm_;
  const Block block_;
  const std::size_t window_;
  const int peers_;
  const bool peer_;
  const std::size_t messages_;
  const std::size_t own_messages_;  // number of messages that this rank sends or receives
  Buffer memory_;
  std::vector<MPI_Request> requests_;

 private:
  static int peers_of(const Place& place, const Values& values, const std::string& name) {
    const std::int64_t peers = values.integer(name);
    const int max_pairs = place.comm.size - 1;
    if (peers > max_pairs)
      throw InvalidCase(name + "=" + std::to_string(peers) + " needs " + std::to_string(peers + 1) +
                        " ranks, but there are " + std::to_string(place.comm.size));
    return peers == 0 ? max_pairs : static_cast<int>(peers);
  }
};

}  // namespace hockney::messages
