// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "base/random.hpp"
#include "hockney/bpram.hpp"
#include "kernels/random_ring.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

namespace hockney::kernels {
namespace {

// Steps of the BPRAM, each a random permutation in which every rank sends a block to another rank.
class BlockPermutation final : public Workload {
 public:
  BlockPermutation(const Place& place, const Values& values)
      : comm_(place.comm),
        bytes_(values.bytes()),
        outgoing_(place.arena, bytes_, "hot"),
        incoming_(place.arena, bytes_, "hot") {
    auto seed = static_cast<std::uint64_t>(values.integer("seed"));
    for (std::int64_t step = 0; step < values.integer("permutations"); ++step) {
      seed = mix(seed);
      const auto [targets, from] = RandomRing(comm_, seed).partners(mix(seed));
      targets_.push_back(targets);
      last_from_ = from;
    }
  }

  void prepare(int) override {
    if (!bpram_) bpram_.emplace(comm_.handle);
  }
  void run() override {
    for (const int targets : targets_)
      bpram_->exchange_bytes(targets, outgoing_.upcoming(), incoming_.upcoming());
  }
  void fill(const Payload& payload) override {
    write_bytes(outgoing_.upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    spoil(incoming_.upcoming(), payload);
  }
  // Checks the result of the last permutation.
  Check verify(const Payload& payload) override {
    return check_bytes(incoming_.upcoming(), payload, static_cast<std::uint64_t>(last_from_), "the block");
  }
  bool keeps_payload() const override { return true; }
  double operations() const override { return static_cast<double>(targets_.size()); }
  std::uint64_t bytes_moved() const override { return bytes_; }

 private:
  const Comm& comm_;
  const std::uint64_t bytes_;
  Buffer outgoing_;
  IncomingBuffer incoming_;
  std::vector<int> targets_;
  int last_from_ = 0;
  std::optional<bpram::Process> bpram_;
};

constexpr Parameter block_permutation_parameters[] = {
    parameters::bytes("bytes of each block"),
    {"permutations", Kind::integer, "", "16", 1, 1e6, "",
     "random permutations, one after the other, in one repetition"},
    {"seed", Kind::integer, "", "1", 0, 1e15, "", "seed of the permutations"},
    parameters::sync_each};

}  // namespace

extern constinit const WorkloadInfo block_permutation{
    .name = "block_permutation",
    .role = "bsp",
    .operation = "permutation",
    .size = "bytes",
    .help = "random full permutations of blocks, as steps of the BPRAM",
    .time = "one permutation, the maximum over the ranks",
    .min_ranks = 1,
    .timing = Timing::longest,
    .parameters = block_permutation_parameters,
    .make = make<BlockPermutation>,
};

}  // namespace hockney::kernels
