// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "onesided/integers.hpp"

namespace hockney::onesided {
namespace {

// Every swap succeeds: the target alternates between two values, and each epoch replaces one by the other.
class CompareAndSwap final : public IntegersBase {
 public:
  CompareAndSwap(const Place& place, const Values& values)
      : IntegersBase(place, values), expected_values_(operations_), following_(operations_) {}

  void run() override {
    in_epoch([this] {
      std::byte* const incoming = this->in();
      for (std::size_t i = 0; i < operations_; ++i)
        MPI_Compare_and_swap(&following_[i], &expected_values_[i], incoming + i * block_bytes_, MPI_INT64_T,
                             partner_, place(i), window());
    });
    std::swap(expected_values_, following_);
  }

  void fill(const Payload& payload) override {
    if (origin()) spoil(incoming(), payload);
    for (std::size_t i = 0; i < operations_; ++i) {
      expected_values_[i] = number(payload, partner_, i);
      following_[i] = second(payload, partner_, i);
      if (target()) write(memory(), i, number(payload, comm_.rank, i));
    }
  }

  // The expected value after a single epoch.
  Check verify(const Payload& payload) override {
    make_visible();
    Check check;
    for (std::size_t i = 0; i < operations_; ++i) {
      if (origin()) compare(check, incoming(), i, number(payload, partner_, i), "what was there");
      if (target()) compare(check, memory(), i, second(payload, comm_.rank, i), "what was swapped in");
    }
    return check;
  }

 private:
  static Integer second(const Payload& payload, int rank, std::size_t index) {
    return ~number(payload, rank, index);
  }

  std::vector<Integer> expected_values_, following_;
};

constexpr Parameter compare_and_swap_parameters[] = {epoch, memory, operations, direction};

}  // namespace

extern constinit const WorkloadInfo compare_and_swap{
    .name = "compare_and_swap",
    .role = "one-sided",
    .operation = "compare_and_swap",
    .size = "operations",
    .help = "MPI_Compare_and_swap on 64-bit integers, which always swaps",
    .time = one_operation,
    .min_ranks = 2,
    .parameters = compare_and_swap_parameters,
    .make = make<CompareAndSwap>,
};

}  // namespace hockney::onesided
