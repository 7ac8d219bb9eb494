// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "onesided/integers.hpp"
#include "onesided/operator.hpp"

namespace hockney::onesided {
namespace {

class FetchAndOp final : public IntegersBase {
 public:
  FetchAndOp(const Place& place, const Values& values) : IntegersBase(place, values), operator_(values) {}

  void run() override {
    in_epoch([this] {
      std::byte* const out = this->out();
      std::byte* const in = this->in();
      for (std::size_t i = 0; i < operations_; ++i)
        MPI_Fetch_and_op(out + i * block_bytes_, in + i * block_bytes_, MPI_INT64_T, partner_, place(i),
                         operator_.op, window());
    });
  }

  void fill(const Payload& payload) override {
    if (origin()) spoil(incoming(), payload);
    for (std::size_t i = 0; i < operations_; ++i) {
      if (origin()) write(outgoing(), i, contribution(i));
      if (target()) write(memory(), i, number(payload, comm_.rank, i));
    }
  }

  // The expected value after a single epoch.
  Check verify(const Payload& payload) override {
    make_visible();
    Check check;
    for (std::size_t i = 0; i < operations_; ++i) {
      if (origin()) compare(check, incoming(), i, number(payload, partner_, i), "what was fetched");
      if (!target()) continue;
      const Integer before = operator_.replaces ? 0 : number(payload, comm_.rank, i);
      compare(check, memory(), i, before + (operator_.sums || operator_.replaces ? contribution(i) : 0),
              "the target");
    }
    return check;
  }

 private:
  // Every rank contributes the same value, which is so small that no number of repetitions makes the sum
  // overflow.
  static Integer contribution(std::size_t index) { return 1 + static_cast<Integer>(index); }

  const Operator operator_;
};

constexpr Parameter fetch_and_op_parameters[] = {operator_of("sum|replace|no_op"), epoch, memory, operations,
                                                 direction};

}  // namespace

extern constinit const WorkloadInfo fetch_and_op{
    .name = "fetch_and_op",
    .role = "one-sided",
    .operation = "fetch_and_op",
    .size = "operations",
    .help = "MPI_Fetch_and_op on 64-bit integers",
    .time = one_operation,
    .min_ranks = 2,
    .parameters = fetch_and_op_parameters,
    .make = make<FetchAndOp>,
};

}  // namespace hockney::onesided
