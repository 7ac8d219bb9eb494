// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/lookup.hpp"
#include "comm/placement.hpp"
#include "measure/measure.hpp"

namespace hockney {

// The ranks that measure a case: all ranks of the launch, or some. Rank 0 is among them, as rank 0.
struct Team {
  Team(Comm to_measure, Comm for_control, Arena& arena, long launch, const std::string& files,
       const ClockCost& cost);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  Comm measured;
  Comm control;
  int ranks_here;  // on this host, including this one
  Measurer measurer;
};

// What a record states about the places of a case's ranks. Only on rank 0.
struct Whereabouts {
  std::string place;         // where its pairs of ranks meet; empty if nothing is to be stated
  int nodes = 0;             // on which its ranks are
  std::vector<int> members;  // the launch's ranks that take part, in the order of the case; empty: all
};

struct TeamChoice {
  Team* team;  // null on ranks that do not take part
  bool whole;  // whether all ranks of the launch do
  Whereabouts where;
};

// The teams of a launch, each made when a case needs it first.
class Teams {
 public:
  // `measured` and `control` are communicators of all ranks, which outlive this. `ranks` is the list of
  // gather_ranks; it and `cost` are only read on rank 0.
  Teams(const Comm& measured, const Comm& control, const std::string& ranks, Arena& arena, long launch,
        const std::string& files, const ClockCost& cost);
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;

  // Collective over the launch: who measures the case. Throws InvalidCase on all ranks if the launch has no
  // ranks at such places.
  TeamChoice choose(const Case& wanted);

 private:
  std::vector<int> members_of(const Case& wanted) const;
  Whereabouts where(const Case& wanted, const std::vector<int>& members) const;
  void add(const std::vector<int>& members);

  const Comm& control_;
  Arena& arena_;
  const long launch_;
  const std::string files_;
  const ClockCost cost_;
  std::optional<Placement> placement_;        // on rank 0
  std::map<std::vector<int>, int> numbers_;   // of the teams by their members (all: none), on rank 0
  std::vector<std::unique_ptr<Team>> teams_;  // the first one has all ranks; null for those without this rank
};

}  // namespace hockney
