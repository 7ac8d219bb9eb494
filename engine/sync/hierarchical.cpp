// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/hierarchical.hpp"

#include "comm/shared.hpp"
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// One leader per node waits for the other ranks of its node, synchronises with the other leaders by
// dissemination, and releases its node.
class Hierarchical final : public Barrier {
 public:
  Hierarchical(MPI_Comm comm, MPI_Comm node, bool is_leader)
      : node_(node, 2), leaders_(leaders_of(comm, is_leader)), is_leader_(is_leader) {
    if (is_leader_) leader_signals_ = std::make_unique<Signals>(leaders_);
  }
  ~Hierarchical() override {
    leader_signals_.reset();
    if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
  }

  void wait() override {
    ++episode_;
    if (!is_leader_) {
      node_.set(node_.of(node_.rank(), arrived), episode_);
      node_.wait_until_equal(node_.of(0, awake), episode_);
      return;
    }
    for (int other_number = 1; other_number < node_.size(); ++other_number)
      node_.wait_until_equal(node_.of(other_number, arrived), episode_);
    const int rank = leader_signals_->rank(), size = leader_signals_->size();
    for (int step = 1, round = 0; step < size; step <<= 1, ++round)
      leader_signals_->exchange((rank + step) % size, (rank + size - step) % size, round);
    node_.set(node_.of(0, awake), episode_);
  }

 private:
  static constexpr int arrived = 0;
  static constexpr int awake = 1;

  static MPI_Comm leaders_of(MPI_Comm comm, bool is_leader) {
    MPI_Comm leaders;
    MPI_Comm_split(comm, is_leader ? 0 : MPI_UNDEFINED, 0, &leaders);
    return leaders;
  }

  const SharedFlags node_;
  MPI_Comm leaders_;
  const bool is_leader_;
  std::unique_ptr<Signals> leader_signals_;
  std::uint32_t episode_ = 0;
};

std::unique_ptr<Barrier> make(MPI_Comm comm, MPI_Comm node) {
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  auto barrier = std::make_unique<Hierarchical>(comm, node, rank == 0);
  MPI_Comm_free(&node);
  return barrier;
}

}  // namespace

std::unique_ptr<Barrier> make_hierarchical(MPI_Comm comm, int colour) {
  MPI_Comm node;
  MPI_Comm_split(comm, colour, 0, &node);
  return make(comm, node);
}

extern constinit const BarrierAlgorithm hierarchical{
    "hierarchical",
    "within each node by shared memory, between nodes by dissemination",
    "after Hensgen, Finkel, Manber (1988), one rank a node",
    Signalling::shared_memory,
    [](int) -> Traffic { return {}; },
    [](MPI_Comm comm) -> std::unique_ptr<Barrier> {
      require_shared_memory();
      MPI_Comm node;
      MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
      return make(comm, node);
    },
    TrialOrder{.single_rank = 0, .one_node = 0, .oversubscribed = 0, .multiple_nodes = 1}};

}  // namespace hockney::sync
