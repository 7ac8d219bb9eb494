// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "base/refusal.hpp"
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

#if MPI_VERSION >= 4 && !defined(HOCKNEY_SMPI)

// Dissemination by partitioned messages of one partition and one byte, made once and started each time.
class Partitioned final : public Barrier {
 public:
  explicit Partitioned(MPI_Comm comm) : signals_(comm), bytes_(2 * most_rounds) {
    const int rank = signals_.rank(), size = signals_.size();
    for (int step = 1, round = 0; step < size; step <<= 1, ++round) {
      MPI_Request pair[2];
      MPI_Precv_init(&bytes_[round], 1, 1, MPI_BYTE, (rank + size - step) % size, round, signals_.handle(),
                     MPI_INFO_NULL, &pair[0]);
      MPI_Psend_init(&bytes_[most_rounds + round], 1, 1, MPI_BYTE, (rank + step) % size, round,
                     signals_.handle(), MPI_INFO_NULL, &pair[1]);
      requests_.insert(requests_.end(), pair, pair + 2);
    }
  }
  ~Partitioned() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void wait() override {
    for (std::size_t k = 0; k < requests_.size(); k += 2) {
      MPI_Startall(2, &requests_[k]);
      MPI_Pready(0, requests_[k + 1]);
      signals_.finish_all({&requests_[k], 2});
    }
  }

 private:
  static constexpr std::size_t most_rounds = 31;

  const Signals signals_;
  std::vector<char> bytes_;
  std::vector<MPI_Request> requests_;
};

#else

class Partitioned final : public Barrier {
 public:
  explicit Partitioned(MPI_Comm) { throw Refusal("this MPI has no partitioned communication (MPI 4)"); }
  void wait() override {}
};

#endif

}  // namespace

extern constinit const BarrierAlgorithm partitioned{"partitioned",
                                                    "dissemination by partitioned messages",
                                                    "after Hensgen, Finkel, Manber (1988); MPI-4.1, 4",
                                                    Means::messages,
                                                    [](int ranks) -> Traffic {
                                                      const int rounds = rounds_of_two(ranks);
                                                      return {static_cast<long>(ranks) * rounds, rounds,
                                                              2 * rounds};
                                                    },
                                                    make_barrier_of<Partitioned>};

}  // namespace hockney::sync
