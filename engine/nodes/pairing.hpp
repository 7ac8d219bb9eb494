// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/invalid_case.hpp"
#include "measure/buffer.hpp"
#include "measure/checking.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"
#include "nodes/tournament.hpp"

namespace hockney::nodes {

inline constexpr Parameter partners{
    "partners",
    Kind::choice,
    "",
    "all",
    0,
    0,
    "all|neighbor",
    "all: every other rank in turn, in rounds of disjoint pairs; neighbor: ranks 2k and 2k + 1 are a pair"};

inline constexpr Parameter at_once{
    "at_once",
    Kind::choice,
    "",
    "all",
    0,
    0,
    "all|one",
    "the pairs of a round that communicate at the same time. one: pair after pair, so that no pair waits for "
    "another one's messages; only with partners=all"};

inline constexpr Parameter tournaments{
    "tournaments",
    Kind::integer,
    "",
    "1",
    1,
    1000,
    "",
    "minimum number of tournaments in a sample block, each with every pair of ranks once; fewer if they take "
    "longer than the case's share of the time"};

inline constexpr Metric pairing_metrics[] = {
    {.name = "pair_time",
     .unit = "s",
     .over_ranks = OverRanks::each,
     .per = Per::repetition,
     .help = "time of a message, on the ranks that time messages; 0 on the others"},
    {.name = "partner",
     .over_ranks = OverRanks::each,
     .per = Per::repetition,
     .help = "the rank's partner, numbered within the case; the rank itself if it pauses"},
};

// Messages between disjoint pairs of ranks, all pairs at once or one after the other. Every repetition is a
// round with other partners. Each pair first exchanges its messages once, which connects it and brings it
// into step: ranks leave a barrier at different moments. The metric does not include this exchange; the time
// of the case does.
class PairingBase : public Workload {
 public:
  PairingBase(const Place& place, const Values& values, std::size_t messages)
      : comm_(place.comm),
        block_(values.bytes()),
        outgoing_(place.arena, values.bytes() * messages, "hot"),
        incoming_(place.arena, values.bytes() * messages, "hot"),
        partner_(comm_.rank),
        tournament_(comm_.rank, comm_.size, mix(place.seed) + static_cast<std::uint64_t>(place.launch)),
        tournaments_(static_cast<int>(values.integer("tournaments"))),
        meets_all_(values.word("partners") == "all"),
        takes_turns_(values.word("at_once") == "one") {
    if (takes_turns_ && !meets_all_) throw InvalidCase("at_once=one needs partners=all");
    if (!meets_all_ && comm_.size % 2)
      throw InvalidCase("partners=neighbor needs an even number of ranks, not " + std::to_string(comm_.size));
  }

  void prepare(int count) final {
    if (takes_turns_) find_turn();
    partner_ = meets_all_ ? tournament_.partner(next_round_++) : comm_.rank ^ 1;
    runs_ = remaining_ = count;
    elapsed_s_ = 0;
  }

  void run() final {
    if (paused()) return;
    if (remaining_ == runs_) {
      if (takes_turns_) await_turn();
      if (repeats_) exchange();
      start_s_ = now();
    }
    elapsed_s_ -= exchange();
    if (--remaining_ > 0) return;
    elapsed_s_ += now() - start_s_;
    if (takes_turns_) end_turn();
  }

  void repetitions_follow(long previous_repetitions) final {
    next_round_ = previous_repetitions;
    repeats_ = true;
  }
  int cycle() const final { return meets_all_ ? tournament_.rounds() : 1; }
  int min_cycles() const final { return meets_all_ ? tournaments_ : 1; }

  void fill(const Payload& payload) final {
    write_bytes(outgoing_.upcoming(), payload, static_cast<std::uint64_t>(comm_.rank));
    spoil(incoming_.upcoming(), payload);
  }
  Check verify(const Payload& payload) final {
    if (paused()) return {};
    return check_bytes(incoming_.current(), payload, static_cast<std::uint64_t>(partner_),
                       "what the partner sent");
  }
  bool keeps_payload() const final { return true; }

  void sample(MetricValues& values) final {
    const bool is_timed = runs_ > 0 && !paused() && timed_messages() > 0;
    values.set("pair_time", is_timed ? elapsed_s_ / (runs_ * timed_messages()) : 0);
    values.set("partner", partner_);
  }
  std::uint64_t bytes_moved() const final { return block_.bytes; }

 protected:
  static constexpr int tag = 1;

  // Exchanges the messages of one run with `partner_`. Returns the seconds that only its partner times.
  virtual double exchange() = 0;
  // Number of messages that this rank times in one run.
  virtual double timed_messages() const = 0;

  // Whether this rank is the first of its pair.
  bool lower() const { return comm_.rank < partner_; }

  const Comm& comm_;
  const Block block_;
  Buffer outgoing_;
  IncomingBuffer incoming_;
  int partner_;

 private:
  static constexpr int turn_tag = 2;

  bool paused() const { return partner_ == comm_.rank; }

  // The lower ranks of the pairs before and after this rank's own pair in the next round.
  void find_turn() {
    const std::vector<int> lower_ranks = tournament_.lower_ranks(next_round_);
    const auto own = std::find(lower_ranks.begin(), lower_ranks.end(), comm_.rank);
    previous_ = own == lower_ranks.end() || own == lower_ranks.begin() ? MPI_PROC_NULL : *(own - 1);
    next_ = own == lower_ranks.end() || own + 1 == lower_ranks.end() ? MPI_PROC_NULL : *(own + 1);
  }
  // The lower rank waits for the pair before, the other one for the lower rank.
  void await_turn() const {
    if (lower()) {
      MPI_Recv(nullptr, 0, MPI_BYTE, previous_, turn_tag, comm_.handle, MPI_STATUS_IGNORE);
      MPI_Send(nullptr, 0, MPI_BYTE, partner_, turn_tag, comm_.handle);
    } else {
      MPI_Recv(nullptr, 0, MPI_BYTE, partner_, turn_tag, comm_.handle, MPI_STATUS_IGNORE);
    }
  }
  void end_turn() const {
    if (lower()) MPI_Send(nullptr, 0, MPI_BYTE, next_, turn_tag, comm_.handle);
  }

  Tournament tournament_;
  const int tournaments_;
  const bool meets_all_;
  const bool takes_turns_;
  int previous_ = MPI_PROC_NULL;
  int next_ = MPI_PROC_NULL;
  bool repeats_ = false;
  long next_round_ = 0;
  int runs_ = 0;       // of this repetition
  int remaining_ = 0;  // of these runs
  double start_s_ = 0;
  double elapsed_s_ = 0;
};

}  // namespace hockney::nodes
