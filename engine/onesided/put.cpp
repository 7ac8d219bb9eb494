// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "onesided/one_sided_base.hpp"

namespace hockney::onesided {
namespace {

class Put final : public OneSidedBase {
 public:
  Put(const Place& place, const Values& values)
      : OneSidedBase(place, values, values.bytes(), {.outgoing = true, .incoming = false}),
        block_(values.bytes()) {}

  void run() override {
    in_epoch([this] {
      std::byte* const out = this->out();
      for (std::size_t i = 0; i < operations_; ++i)
        MPI_Put(out + i * block_bytes_, block_.count, block_.type, partner_, place(i), block_.count,
                block_.type, window());
    });
  }

  void fill(const Payload& payload) override {
    if (origin()) write_bytes(outgoing(), payload, static_cast<std::uint64_t>(comm_.rank));
    spoil(memory(), payload);
  }

  Check verify(const Payload& payload) override {
    make_visible();
    if (!target()) return {};
    return check_bytes(memory(), payload, static_cast<std::uint64_t>(partner_), "what was put");
  }

 private:
  const Block block_;
};

constexpr Parameter put_parameters[] = {parameters::bytes("bytes written by each operation"), epoch, memory,
                                        operations, direction};

}  // namespace

extern constinit const WorkloadInfo put{
    .name = "put",
    .role = "one-sided",
    .operation = "put",
    .size = "bytes",
    .help = "MPI_Put into another rank's memory",
    .time = one_operation,
    .min_ranks = 2,
    .parameters = put_parameters,
    .make = make<Put>,
};

}  // namespace hockney::onesided
