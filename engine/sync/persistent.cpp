// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Dissemination with persistent requests, created once and started in each episode.
class Persistent final : public Barrier {
 public:
  explicit Persistent(MPI_Comm comm) : signals_(comm) {
    const int rank = signals_.rank(), size = signals_.size();
    for (int step = 1, round = 0; step < size; step <<= 1, ++round) {
      MPI_Request pair[2];
      MPI_Recv_init(nullptr, 0, MPI_BYTE, (rank + size - step) % size, round, signals_.handle(), &pair[0]);
      MPI_Send_init(nullptr, 0, MPI_BYTE, (rank + step) % size, round, signals_.handle(), &pair[1]);
      requests_.insert(requests_.end(), pair, pair + 2);
    }
  }
  ~Persistent() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void wait() override {
    for (std::size_t k = 0; k < requests_.size(); k += 2) {
      MPI_Startall(2, &requests_[k]);
      signals_.finish_all({&requests_[k], 2});
    }
  }

 private:
  const Signals signals_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

extern constinit const BarrierAlgorithm persistent{
    "persistent",
    "dissemination with persistent requests",
    "after Hensgen, Finkel, Manber (1988); MPI-4.1, 3.9",
    Signalling::messages,
    [](int ranks) -> Traffic {
      const int rounds = doubling_rounds(ranks);
      return {static_cast<long>(ranks) * rounds, rounds, 2 * rounds};
    },
    make_barrier_of<Persistent>,
    TrialOrder{.single_rank = 0, .one_node = 0, .oversubscribed = 0, .multiple_nodes = 6}};

}  // namespace hockney::sync
