// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "app/teams.hpp"

#include "base/invalid_case.hpp"
#include "comm/environment.hpp"

namespace hockney {
namespace {

// What rank 0 announces about a case that asks for places.
struct Announcement {
  int team = -1;  // none: the case is refused
  bool added = false;
};

// Whether the members are all ranks of the launch, in their order.
bool all_in_order(const std::vector<int>& members, int ranks) {
  if (static_cast<int>(members.size()) != ranks) return false;
  for (int rank = 0; rank < ranks; ++rank)
    if (members[static_cast<std::size_t>(rank)] != rank) return false;
  return true;
}

}  // namespace

Team::Team(Comm to_measure, Comm for_control, Arena& arena, long launch, const std::string& files,
           const ClockCost& cost)
    : measured(std::move(to_measure)),
      control(std::move(for_control)),
      ranks_here(ranks_on_this_host(control)),
      measurer({measured, arena, launch, files}, control, cost) {}

Teams::Teams(const Comm& measured, const Comm& control, const std::string& ranks, Arena& arena, long launch,
             const std::string& files, const ClockCost& cost)
    : control_(control), arena_(arena), launch_(launch), files_(files), cost_(cost) {
  if (control_.root()) placement_.emplace(spots_in(ranks));
  numbers_.emplace(std::vector<int>{}, 0);
  teams_.push_back(std::make_unique<Team>(Comm::view(measured.handle), Comm::view(control.handle), arena_,
                                          launch_, files_, cost_));
}

TeamChoice Teams::choose(const Case& wanted) {
  if (!wanted.places.any()) return {teams_.front().get(), true, where(wanted, {})};
  Announcement announced;
  std::vector<int> members;
  std::string refusal;
  if (control_.root()) {
    try {
      members = members_of(wanted);
      const auto [found, added] = numbers_.try_emplace(members, static_cast<int>(teams_.size()));
      announced = {found->second, added};
    } catch (const InvalidCase& invalid) {
      refusal = invalid.what();
    }
  }
  control_.broadcast(announced);
  if (announced.team < 0) throw InvalidCase(refusal);  // which only rank 0 prints
  if (announced.added) add(members);
  Team* const team = teams_[static_cast<std::size_t>(announced.team)].get();
  return {team, announced.team == 0, where(wanted, members)};
}

// Empty if all ranks take part in their order, as in a case that does not ask for places.
std::vector<int> Teams::members_of(const Case& wanted) const {
  const std::vector<int> members = wanted.places.pairs
                                       ? placement_->pairs(*wanted.places.pairs, wanted.ranks, launch_)
                                       : placement_->spread(wanted.places.nodes, wanted.ranks, launch_);
  return all_in_order(members, control_.size) ? std::vector<int>{} : members;
}

Whereabouts Teams::where(const Case& wanted, const std::vector<int>& members) const {
  if (!control_.root()) return {};
  Whereabouts found{"", placement_->nodes(members), members};
  if (wanted.places.pairs)
    found.place = name_of(*wanted.places.pairs);
  else if (wanted.ranks == 2)
    found.place = name_of(placement_->level(0, members.empty() ? 1 : members.back()));
  return found;
}

// Collective over the launch; `members` on rank 0.
void Teams::add(const std::vector<int>& members) {
  std::vector<int> orders;
  if (control_.root()) orders.assign(static_cast<std::size_t>(control_.size), -1);
  int order = 0;
  for (const int member : members) orders[static_cast<std::size_t>(member)] = order++;
  const int mine = control_.scattered(std::move(orders));
  MPI_Comm handle;
  MPI_Comm_split(control_.handle, mine < 0 ? MPI_UNDEFINED : 0, mine, &handle);
  teams_.emplace_back();
  if (mine < 0) return;
  teams_.back() =
      std::make_unique<Team>(Comm::owner(handle), Comm::duplicate(handle), arena_, launch_, files_, cost_);
}

}  // namespace hockney
