// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "nodes/pairing.hpp"

namespace hockney::nodes {
namespace {

// Windows of concurrent messages. With direction=one, first the lower rank of each pair sends a window, then
// the other, and an empty reply ends each window; a rank times the window that it sends.
class NodeStream final : public PairingBase {
 public:
  NodeStream(const Place& place, const Values& values)
      : PairingBase(place, values, static_cast<std::size_t>(values.integer("window"))),
        both_(values.word("direction") == "both"),
        window_(static_cast<int>(values.integer("window"))) {
    requests_.reserve(2 * static_cast<std::size_t>(window_));
  }

  double operations() const override { return window_ * (both_ ? 1.0 : 2.0); }

 private:
  double exchange() override {
    if (both_) {
      receive_window();
      send_window();
      wait();
      return 0;
    }
    if (lower()) {
      send_and_wait();
      const double sent = now();
      receive_and_reply();
      return now() - sent;
    }
    const double start = now();
    receive_and_reply();
    const double received = now();
    send_and_wait();
    return received - start;
  }

  void send_and_wait() {
    send_window();
    wait();
    MPI_Recv(nullptr, 0, MPI_BYTE, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
  }
  void receive_and_reply() {
    receive_window();
    wait();
    MPI_Send(nullptr, 0, MPI_BYTE, partner_, tag, comm_.handle);
  }
  void send_window() {
    std::byte* const out = outgoing_.next();
    for (int i = 0; i < window_; ++i)
      MPI_Isend(out + static_cast<std::size_t>(i) * block_.bytes, block_.count, block_.type, partner_, tag,
                comm_.handle, &requests_.emplace_back());
  }
  void receive_window() {
    std::byte* const in = incoming_.next();
    for (int i = 0; i < window_; ++i)
      MPI_Irecv(in + static_cast<std::size_t>(i) * block_.bytes, block_.count, block_.type, partner_, tag,
                comm_.handle, &requests_.emplace_back());
  }
  void wait() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }
  double timed_messages() const override { return window_; }

  const bool both_;
  const int window_;
  std::vector<MPI_Request> requests_;
};

constexpr Parameter node_stream_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"direction", Kind::choice, "", "one", 0, 0, "one|both",
     "one: the ranks of a pair send one after the other; both: at the same time"},
    partners,
    at_once,
    tournaments,
    parameters::sync_each,
    parameters::window};

}  // namespace

extern constinit const WorkloadInfo node_stream{
    .name = "node_stream",
    .role = "nodes",
    .operation = "isend",
    .size = "bytes",
    .help = "streams of disjoint pairs, with other partners in every repetition (MPI_Isend, MPI_Irecv)",
    .time =
        "a window divided by its messages, the maximum over the pairs, with one more window per repetition",
    .min_ranks = 2,
    .parameters = node_stream_parameters,
    .metrics = pairing_metrics,
    .make = make<NodeStream>,
};

}  // namespace hockney::nodes
