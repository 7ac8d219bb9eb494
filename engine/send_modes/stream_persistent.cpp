// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::send_modes {
namespace {

// Windows of messages whose requests are created once and started together. In one direction, an empty answer
// ends a window; in both directions, a rank that has received all messages has also received the partner's
// last one.
class StreamPersistent final : public PairBase {
 public:
  StreamPersistent(const Place& place, const Values& values)
      : PairBase(place, values, static_cast<std::size_t>(values.integer("window"))),
        window_(static_cast<std::size_t>(values.integer("window"))),
        both_(values.word("direction") == "both") {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    if (receives())
      for (std::size_t i = 0; i < window_; ++i)
        MPI_Recv_init(in + i * block_.bytes, block_.count, block_.type, partner_, tag, comm_.handle,
                      &add_request());
    if (sends())
      for (std::size_t i = 0; i < window_; ++i)
        MPI_Send_init(out + i * block_.bytes, block_.count, block_.type, partner_, tag, comm_.handle,
                      &add_request());
  }
  ~StreamPersistent() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void run() override {
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    if (both_) return;
    if (first())
      MPI_Recv(nullptr, 0, MPI_BYTE, partner_, answer_tag, comm_.handle, MPI_STATUS_IGNORE);
    else
      MPI_Send(nullptr, 0, MPI_BYTE, partner_, answer_tag, comm_.handle);
  }

  double operations() const override { return static_cast<double>(window_); }
  std::uint64_t bytes_moved() const override { return block_.bytes * (both_ ? 2 : 1); }

 private:
  static constexpr int answer_tag = tag + 1;

  bool sends() const { return both_ || first(); }
  bool receives() const override { return both_ || !first(); }
  MPI_Request& add_request() { return requests_.emplace_back(MPI_REQUEST_NULL); }

  const std::size_t window_;
  const bool both_;
  std::vector<MPI_Request> requests_;
};

constexpr Parameter stream_persistent_parameters[] = {
    parameters::bytes("bytes in each message"),
    {"direction", Kind::choice, "", "one", 0, 0, "one|both", "one: rank 0 sends; both: rank 1 also sends"},
    parameters::window};

}  // namespace

extern constinit const WorkloadInfo stream_persistent{
    .name = "stream_persistent",
    .role = "point-to-point",
    .operation = "stream_persistent",
    .size = "bytes",
    .help =
        "many concurrent messages from persistent requests (MPI_Send_init, MPI_Recv_init, "
        "MPI_Startall)",
    .time =
        "the total divided by the number of messages in one direction; the bandwidth counts "
        "both directions",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = stream_persistent_parameters,
    .make = make<StreamPersistent>,
};

}  // namespace hockney::send_modes
