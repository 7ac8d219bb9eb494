// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "onesided/one_sided_base.hpp"

namespace hockney::onesided {
namespace {

class Get final : public OneSidedBase {
 public:
  Get(const Place& place, const Values& values)
      : OneSidedBase(place, values, values.bytes(), {.outgoing = false, .incoming = true}),
        block_(values.bytes()) {}

  void run() override {
    in_epoch([this] {
      std::byte* const in = this->in();
      for (std::size_t i = 0; i < operations_; ++i)
        MPI_Get(in + i * block_bytes_, block_.count, block_.type, partner_, place(i), block_.count,
                block_.type, window());
    });
  }

  void fill(const Payload& payload) override {
    if (target()) write_bytes(memory(), payload, static_cast<std::uint64_t>(comm_.rank));
    if (origin()) spoil(incoming(), payload);
  }

  Check verify(const Payload& payload) override {
    if (!origin()) return {};
    return check_bytes(incoming(), payload, static_cast<std::uint64_t>(partner_), "what was got");
  }

  bool keeps_payload() const override { return true; }

 private:
  const Block block_;
};

constexpr Parameter get_parameters[] = {parameters::bytes("bytes fetched by each operation"), epoch, memory,
                                        operations, direction};

}  // namespace

extern constinit const WorkloadInfo get{
    .name = "get",
    .role = "one-sided",
    .operation = "get",
    .size = "bytes",
    .help = "MPI_Get from another rank's memory",
    .time = one_operation,
    .min_ranks = 2,
    .parameters = get_parameters,
    .make = make<Get>,
};

}  // namespace hockney::onesided
