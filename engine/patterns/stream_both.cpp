// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "measure/pair_base.hpp"
#include "measure/parameters.hpp"

namespace hockney::patterns {
namespace {

class StreamBoth final : public PairBase {
 public:
  StreamBoth(const Place& place, const Values& values, std::size_t window)
      : PairBase(place, values, window), requests_(2 * window) {}

  // Sends `window` concurrent messages in each direction. A rank that has received all its messages has also
  // received the partner's last one, so no reply is needed.
  void run() override {
    std::byte* const out = outgoing_.next();
    std::byte* const in = incoming_.next();
    const int window = static_cast<int>(requests_.size()) / 2;
    for (int i = 0; i < window; ++i)
      MPI_Irecv(in + i * block_.bytes, block_.count, block_.type, partner_, tag, comm_.handle, &requests_[i]);
    for (int i = 0; i < window; ++i)
      MPI_Isend(out + i * block_.bytes, block_.count, block_.type, partner_, tag, comm_.handle,
                &requests_[window + i]);
    MPI_Waitall(2 * window, requests_.data(), MPI_STATUSES_IGNORE);
  }

  double operations() const override { return static_cast<double>(requests_.size()) / 2; }

  // Counts both directions.
  std::uint64_t bytes_moved() const override { return 2 * block_.bytes; }

 private:
  std::vector<MPI_Request> requests_;
};

constexpr Parameter stream_both_parameters[] = {parameters::bytes("bytes in each message"),
                                                parameters::buffers, parameters::window};

}  // namespace

extern constinit const WorkloadInfo stream_both{
    .name = "stream_both",
    .role = "stream",
    .operation = "isendrecv",
    .size = "bytes",
    .help = "many concurrent messages in each direction (MPI_Isend, MPI_Irecv)",
    .time = "one message in each direction; the bandwidth counts both",
    .min_ranks = 2,
    .max_ranks = 2,
    .timing = Timing::root,
    .parameters = stream_both_parameters,
    .make = [](const Place& place, const Values& values) -> std::unique_ptr<Workload> {
      return std::make_unique<StreamBoth>(place, values, static_cast<std::size_t>(values.integer("window")));
    },
};

}  // namespace hockney::patterns
