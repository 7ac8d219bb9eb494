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

// The ranks that measure a case: all or some ranks of the launch. Rank 0 of the launch is rank 0 of every
// team.
struct Team {
  Team(Comm measured_comm, Comm control_comm, Arena& arena, long launch, const std::string& files,
       std::uint64_t seed, const ClockCost& cost);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  Comm measured;
  Comm control;
  int ranks_on_host;  // on this host, including this one
  Measurer measurer;
};

// The locations of a case's ranks, as stated in its record. Only on rank 0.
struct CaseLocation {
  std::string place;         // level at which its pairs of ranks meet; empty if not stated
  int nodes = 0;             // number of nodes that contain its ranks
  std::vector<int> members;  // participating ranks of the launch, in the order of the case; empty: all
};

struct TeamSelection {
  Team* team;            // null on ranks that do not take part
  bool is_whole_launch;  // whether the team consists of all ranks of the launch
  CaseLocation where;
};

// The teams of a launch, each created when a case first needs it.
class Teams {
 public:
  // `measured` and `control` are communicators of all ranks, and must outlive this object. `ranks` is the
  // list from gather_ranks; it and `cost` are only read on rank 0.
  Teams(const Comm& measured, const Comm& control, const std::string& ranks, Arena& arena, long launch,
        const std::string& files, std::uint64_t seed, const ClockCost& cost);
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;

  // Selects the ranks that measure the case. Collective over the launch. Throws InvalidCase on all ranks if
  // the launch has no such ranks.
  TeamSelection choose(const Case& request);

 private:
  std::vector<int> members_of(const Case& request) const;
  CaseLocation where(const Case& request, const std::vector<int>& members) const;
  void add(const std::vector<int>& members);

  const Comm& control_;
  Arena& arena_;
  const long launch_;
  const std::string files_;
  const std::uint64_t seed_;
  const ClockCost cost_;
  std::optional<Placement> placement_;       // on rank 0
  std::map<std::vector<int>, int> numbers_;  // team number by its members (empty for all ranks), on rank 0
  std::vector<std::unique_ptr<Team>>
      teams_;  // the first team has all ranks; null on ranks that are not members
};

}  // namespace hockney
