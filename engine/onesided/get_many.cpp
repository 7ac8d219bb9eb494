// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "onesided/many_base.hpp"

namespace hockney::onesided {
namespace {

// A rank's window has one block, which all its origins get.
class GetMany final : public ManyBase {
 public:
  GetMany(const Place& place, const Values& values)
      : ManyBase(place, values, 1, 0,
                 values.word("targets") == "neighbors" ? 2 : static_cast<std::size_t>(place.comm.size - 1)) {}

  void fill(const Payload& payload) override {
    write_bytes(memory(), payload, static_cast<std::uint64_t>(comm_.rank));
    if (!origin()) return;
    for (std::size_t i = 0; i < targets().size(); ++i) spoil(block(incoming_->upcoming(), i), payload);
  }

  Check verify(const Payload& payload) override {
    make_visible();
    Check all;
    if (!origin()) return all;
    for (std::size_t i = 0; i < targets().size(); ++i)
      all += check_bytes(block(incoming_->current(), i), payload, static_cast<std::uint64_t>(targets()[i]),
                         "what was got");
    return all;
  }

 private:
  void operate() override {
    std::byte* const in = incoming_->next();
    for (std::size_t i = 0; i < targets().size(); ++i)
      MPI_Get(in + i * block_.bytes, block_.count, block_.type, targets()[i], 0, block_.count, block_.type,
              window());
  }
};

constexpr Parameter get_many_parameters[] = {parameters::bytes("bytes fetched from each target's memory"),
                                             many_epoch, many_memory, origins, targets};

}  // namespace

extern constinit const WorkloadInfo get_many{
    .name = "get_many",
    .role = "one-sided",
    .operation = "get_many",
    .size = "bytes",
    .help = "MPI_Get from the memory of many ranks",
    .time =
        "the operations on all targets, the maximum over the ranks; the bandwidth counts all "
        "of them",
    .min_ranks = 2,
    .timing = Timing::longest,
    .parameters = get_many_parameters,
    .make = make<GetMany>,
};

}  // namespace hockney::onesided
