// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "messages/pairs.hpp"

namespace hockney::messages {
namespace {

// Windows of concurrent messages. With direction=one, an empty reply ends each window. With direction=both no
// reply is needed: a rank that has received all its partner's messages has also received the last one sent.
class PairsStream final : public PairsBase {
 public:
  PairsStream(const Place& place, const Values& values, std::size_t window)
      : PairsBase(place, values, window),
        both_(values.word("direction") == "both"),
        window_(static_cast<int>(window)),
        requests_(2 * window) {}

  void run() override {
    if (!lower_ && !upper_) return;
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    int request_count = 0;
    if (receives())
      for (int i = 0; i < window_; ++i)
        MPI_Irecv(in + static_cast<std::size_t>(i) * block_.bytes, block_.count, block_.type, partner_, tag,
                  comm_.handle, &requests_[static_cast<std::size_t>(request_count++)]);
    if (sends())
      for (int i = 0; i < window_; ++i)
        MPI_Isend(out + static_cast<std::size_t>(i) * block_.bytes, block_.count, block_.type, partner_, tag,
                  comm_.handle, &requests_[static_cast<std::size_t>(request_count++)]);
    MPI_Waitall(request_count, requests_.data(), MPI_STATUSES_IGNORE);
    if (both_) return;
    if (lower_)
      MPI_Recv(nullptr, 0, MPI_BYTE, partner_, tag, comm_.handle, MPI_STATUS_IGNORE);
    else
      MPI_Send(nullptr, 0, MPI_BYTE, partner_, tag, comm_.handle);
  }

  // Counts the messages of all pairs, so that the inverse of the time is the message rate.
  double operations() const override { return static_cast<double>(window_) * pairs_ * (both_ ? 2 : 1); }
  std::uint64_t bytes_moved() const override { return block_.bytes; }

 private:
  bool sends() const override { return lower_ || (both_ && upper_); }
  bool receives() const override { return upper_ || (both_ && lower_); }

  const bool both_;
  const int window_;
  std::vector<MPI_Request> requests_;
};

constexpr Parameter pairs_stream_parameters[] = {
    parameters::bytes("bytes in each message"),
    parameters::buffers,
    {"direction", Kind::choice, "", "one", 0, 0, "one|both",
     "one: each rank i of the lower half sends to rank i + p/2; both: that rank also "
     "sends to rank i"},
    pairs,
    parameters::window};

}  // namespace

extern constinit const WorkloadInfo pairs_stream{
    .name = "pairs_stream",
    .role = "messages",
    .operation = "isend",
    .size = "bytes",
    .help = "many concurrent messages between many pairs of ranks (MPI_Isend, MPI_Irecv)",
    .time =
        "the total divided by the number of messages of all pairs: the inverse is the "
        "message rate",
    .min_ranks = 2,
    .parameters = pairs_stream_parameters,
    .make = [](const Place& place, const Values& values) -> std::unique_ptr<Workload> {
      return std::make_unique<PairsStream>(place, values, static_cast<std::size_t>(values.integer("window")));
    },
};

}  // namespace hockney::messages
