// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/parameters.hpp"
#include "measure/ring.hpp"

namespace hockney::patterns {
namespace {

class RoundRobin final : public Pattern {
 public:
  RoundRobin(const Place& place, const Values& values) : ring_(place, values) {}

  void prepare(int) override { ring_.prepare(); }
  void run() override { ring_.exchange(); }
  void fill(std::uint64_t seed) override { ring_.fill(seed); }
  Check verify(std::uint64_t seed) override { return ring_.verify(seed); }
  std::uint64_t bytes_moved() const override { return ring_.bytes_moved(); }

 private:
  Ring ring_;
};

constexpr Parameter parameters[] = {parameters::bytes("bytes in each message"), parameters::buffers,
                                    parameters::exchange, parameters::sync};

}  // namespace

extern constinit const Workload round_robin{
    "round_robin",
    "patterns",
    "each rank sends to its right neighbour and receives from its left",
    "the longest over the ranks",
    2,
    0,
    Timing::longest,
    parameters,
    make<RoundRobin>};

}  // namespace hockney::patterns
