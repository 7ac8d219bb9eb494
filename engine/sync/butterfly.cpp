// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "sync/algorithm.hpp"

namespace hockney::sync {
namespace {

// Pairs 2^k apart exchange signals, as if the number of ranks were the next power of two: rank r also acts as
// r + 2^(m-1) if no rank has that number (Brooks).
class Butterfly final : public Barrier {
 public:
  explicit Butterfly(MPI_Comm comm)
      : signals_(comm),
        half_(signals_.size() > 1 ? 1 << (doubling_rounds(signals_.size()) - 1) : 1),
        is_doubled_(signals_.size() > 1 && signals_.rank() < half_ &&
                    signals_.rank() + half_ >= signals_.size()) {}

  void wait() override {
    if (signals_.size() == 1) return;
    const int rank = signals_.rank();
    for (int step = 1, round = 0; step <= half_; step <<= 1, ++round) {
      MPI_Request requests[4];
      int count = 0;
      meet(rank, rank ^ step, round, requests, count);
      if (is_doubled_) meet(rank + half_, (rank + half_) ^ step, round, requests, count);
      signals_.wait_policy().finish_all(count, requests);
    }
  }

 private:
  // `own_number` and `other_number` are numbers in the full butterfly. A rank that acts as both sends
  // nothing.
  void meet(int own_number, int other_number, int round, MPI_Request* requests, int& count) const {
    const int player = other_number < signals_.size() ? other_number : other_number - half_;
    if (player == signals_.rank()) return;
    requests[count++] = signals_.expect(player, tag(round, own_number >= half_));
    requests[count++] = signals_.start(player, tag(round, other_number >= half_));
  }
  // The tag tells the receiver for which of its two numbers the message is.
  static int tag(int round, bool upper) { return 2 * round + (upper ? 1 : 0); }

  const Signals signals_;
  const int half_;
  const bool is_doubled_;
};

}  // namespace

extern constinit const BarrierAlgorithm butterfly{
    "butterfly",
    "pairs 2^k apart exchange; ranks play those missing to a power of two",
    "Brooks, The Butterfly Barrier (1986)",
    Signalling::messages,
    [](int ranks) -> Traffic {
      const int rounds = doubling_rounds(ranks), full = 1 << rounds, missing_ranks = full - ranks;
      // A rank that acts as two exchanges with itself in the last round.
      const long messages = static_cast<long>(full) * rounds - 2L * missing_ranks;
      return {messages, rounds, std::max(2 * rounds, missing_ranks ? 4 * (rounds - 1) : 0)};
    },
    make_barrier_of<Butterfly>,
    never_tried};

}  // namespace hockney::sync
