// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "onesided/many_base.hpp"

namespace hockney::onesided {
namespace {

// A rank's window has a slot for each rank that puts into it: all ranks, or the previous and the next rank.
class PutMany final : public ManyBase {
 public:
  PutMany(const Place& place, const Values& values)
      : ManyBase(place, values, places(place.comm, values), 1, 0),
        neighbors_(values.word("targets") == "neighbors") {}

  void fill(const Payload& payload) override {
    if (origin()) write_bytes(outgoing_->upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    for (const Source& source : sources()) spoil(block(memory(), source.index), payload);
  }

  Check verify(const Payload& payload) override {
    make_visible();
    Check all;
    for (const Source& source : sources())
      all += check_bytes(block(memory(), source.index), payload, static_cast<std::uint64_t>(source.rank),
                         "what was put");
    return all;
  }

 private:
  struct Source {
    int rank;
    std::size_t index;
  };

  void operate() override {
    std::byte* const out = outgoing_->next();
    for (std::size_t i = 0; i < targets().size(); ++i)
      MPI_Put(out, block_.count, block_.type, targets()[i], place(index_at_target(i)), block_.count,
              block_.type, window());
  }

  static std::size_t places(const Comm& comm, const Values& values) {
    return values.word("targets") == "neighbors" ? 2 : static_cast<std::size_t>(comm.size);
  }
  // This rank is the next rank of the previous one.
  std::size_t index_at_target(std::size_t target) const {
    return neighbors_ ? 1 - target : static_cast<std::size_t>(comm_.rank);
  }
  // The ranks that put into this rank's window, and the slot of each.
  std::vector<Source> sources() const {
    std::vector<Source> found;
    const bool all = origins_all();
    if (neighbors_) {
      for (std::size_t i = 0; i < 2; ++i)
        if (all || targets()[i] == 0) found.push_back({targets()[i], i});
      return found;
    }
    for (int rank = 0; rank < comm_.size; ++rank)
      if (rank != comm_.rank && (all || rank == 0)) found.push_back({rank, static_cast<std::size_t>(rank)});
    return found;
  }

  const bool neighbors_;
};

constexpr Parameter put_many_parameters[] = {parameters::bytes("bytes written into each target's memory"),
                                             many_epoch, many_memory, origins, targets};

}  // namespace

extern constinit const WorkloadInfo put_many{
    .name = "put_many",
    .role = "one-sided",
    .operation = "put_many",
    .size = "bytes",
    .help = "MPI_Put of the same data into the memory of many ranks",
    .time =
        "the operations on all targets, the maximum over the ranks; the bandwidth counts all "
        "of them",
    .min_ranks = 2,
    .timing = Timing::longest,
    .parameters = put_many_parameters,
    .make = make<PutMany>,
};

}  // namespace hockney::onesided
