// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/parameters.hpp"
#include "measure/ring_exchange.hpp"

namespace hockney::patterns {
namespace {

class RoundRobin final : public Workload {
 public:
  RoundRobin(const Place& place, const Values& values) : ring_(place, values) {}

  void prepare(int count) override { ring_.prepare(count); }
  void run() override { ring_.exchange(); }
  void fill(const Payload& payload) override { ring_.fill(payload); }
  Check verify(const Payload& payload) override { return ring_.verify(payload); }
  bool keeps_payload() const override { return ring_.keeps_payload(); }
  std::uint64_t bytes_moved() const override { return ring_.bytes_moved(); }

 private:
  RingExchange ring_;
};

constexpr Parameter round_robin_parameters[] = {parameters::bytes("bytes in each message"),
                                                parameters::buffers, parameters::exchange, parameters::sync};

}  // namespace

extern constinit const WorkloadInfo round_robin{
    .name = "round_robin",
    .role = "exchange",
    .operation = "ring",
    .size = "bytes",
    .help = "each rank sends to its right neighbor and receives from its left neighbor",
    .time = "the maximum over the ranks",
    .min_ranks = 2,
    .timing = Timing::longest,
    .parameters = round_robin_parameters,
    .make = make<RoundRobin>,
};

}  // namespace hockney::patterns
