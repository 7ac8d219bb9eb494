// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "onesided/doubles.hpp"

namespace hockney::onesided {
namespace {

class GetAccumulate final : public AccumulateBase {
 public:
  GetAccumulate(const Place& place, const Values& values)
      : AccumulateBase(place, values, {.outgoing = true, .incoming = true}) {}

  void run() override {
    in_epoch([this] {
      std::byte* const out = this->out();
      std::byte* const in = this->in();
      for (std::size_t i = 0; i < operations_; ++i)
        MPI_Get_accumulate(out + i * block_bytes_, count_, MPI_DOUBLE, in + i * block_bytes_, count_,
                           MPI_DOUBLE, partner_, place(i), count_, MPI_DOUBLE, operator_.op, window());
    });
  }

  void fill(const Payload& payload) override {
    AccumulateBase::fill(payload);
    if (origin()) spoil(incoming(), payload);
  }

  Check verify(const Payload& payload) override {
    Check check = AccumulateBase::verify(payload);
    if (origin()) check += check_reduced(incoming(), payload, 0, partner_ + 1, "what was got");
    return check;
  }
};

constexpr Parameter get_accumulate_parameters[] = {
    parameters::bytes("bytes accumulated and fetched by each operation, a multiple of 8",
                      parameters::element_bytes),
    operator_of("sum|replace|no_op"),
    epoch,
    memory,
    operations,
    direction};

}  // namespace

extern constinit const WorkloadInfo get_accumulate{
    .name = "get_accumulate",
    .role = "one-sided",
    .operation = "get_accumulate",
    .size = "bytes",
    .help = "MPI_Get_accumulate: fetches another rank's doubles and accumulates into them",
    .time = one_operation,
    .min_ranks = 2,
    .parameters = get_accumulate_parameters,
    .make = make<GetAccumulate>,
};

}  // namespace hockney::onesided
