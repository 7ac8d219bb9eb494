// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "onesided/doubles.hpp"

namespace hockney::onesided {
namespace {

class Accumulate final : public AccumulateBase {
 public:
  Accumulate(const Place& place, const Values& values)
      : AccumulateBase(place, values, {.outgoing = true, .incoming = false}) {}

  void run() override {
    in_epoch([this] {
      std::byte* const out = this->out();
      for (std::size_t i = 0; i < operations_; ++i)
        MPI_Accumulate(out + i * block_bytes_, count_, MPI_DOUBLE, partner_, place(i), count_, MPI_DOUBLE,
                       operator_.op, window());
    });
  }
};

constexpr Parameter accumulate_parameters[] = {
    parameters::bytes("bytes accumulated by each operation, a multiple of 8", parameters::element_bytes),
    operator_of("sum|replace"),
    epoch,
    memory,
    operations,
    direction};

}  // namespace

extern constinit const WorkloadInfo accumulate{
    .name = "accumulate",
    .role = "one-sided",
    .operation = "accumulate",
    .size = "bytes",
    .help = "MPI_Accumulate of doubles to another rank's memory",
    .time = one_operation,
    .min_ranks = 2,
    .parameters = accumulate_parameters,
    .make = make<Accumulate>,
};

}  // namespace hockney::onesided
