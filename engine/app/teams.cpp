// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "app/teams.hpp"

#include "base/invalid_case.hpp"
#include "comm/environment.hpp"

namespace hockney {
namespace {

// Rank 0's announcement about a case that requests locations.
struct Announcement {
  int team = -1;  // -1: the case is rejected
  bool is_new = false;
};

// Whether the members are all ranks of the launch, in order.
bool is_identity(const std::vector<int>& members, int ranks) {
  if (static_cast<int>(members.size()) != ranks) return false;
  for (int rank = 0; rank < ranks; ++rank)
    if (members[static_cast<std::size_t>(rank)] != rank) return false;
  return true;
}

}  // namespace

Team::Team(Comm measured_comm, Comm control_comm, Arena& arena, long launch, const std::string& files,
           std::uint64_t seed, const ClockCost& cost)
    : measured(std::move(measured_comm)),
      control(std::move(control_comm)),
      ranks_on_host(count_ranks_on_host(control)),
      measurer({measured, arena, launch, files, seed}, control, cost) {}

Teams::Teams(const Comm& measured, const Comm& control, const std::string& ranks, Arena& arena, long launch,
             const std::string& files, std::uint64_t seed, const ClockCost& cost)
    : control_(control), arena_(arena), launch_(launch), files_(files), seed_(seed), cost_(cost) {
  if (control_.root()) placement_.emplace(parse_locations(ranks));
  numbers_.emplace(std::vector<int>{}, 0);
  teams_.push_back(std::make_unique<Team>(Comm::view(measured.handle), Comm::view(control.handle), arena_,
                                          launch_, files_, seed_, cost_));
}

TeamSelection Teams::choose(const Case& request) {
  if (!request.places.any()) return {teams_.front().get(), true, where(request, {})};
  Announcement announcement;
  std::vector<int> members;
  std::string refusal;
  if (control_.root()) {
    try {
      members = members_of(request);
      const auto [found, is_new] = numbers_.try_emplace(members, static_cast<int>(teams_.size()));
      announcement = {found->second, is_new};
    } catch (const InvalidCase& invalid) {
      refusal = invalid.what();
    }
  }
  control_.broadcast(announcement);
  if (announcement.team < 0) throw InvalidCase(refusal);  // printed by rank 0 only
  if (announcement.is_new) add(members);
  Team* const team = teams_[static_cast<std::size_t>(announcement.team)].get();
  return {team, announcement.team == 0, where(request, members)};
}

// Returns an empty list if all ranks take part in order, as in a case that does not request locations.
std::vector<int> Teams::members_of(const Case& request) const {
  const std::vector<int> members = request.places.pairs
                                       ? placement_->pairs(*request.places.pairs, request.ranks, launch_)
                                       : placement_->spread(request.places.nodes, request.ranks, launch_);
  return is_identity(members, control_.size) ? std::vector<int>{} : members;
}

CaseLocation Teams::where(const Case& request, const std::vector<int>& members) const {
  if (!control_.root()) return {};
  CaseLocation found{"", placement_->nodes(members), members};
  if (request.places.pairs)
    found.place = name_of(*request.places.pairs);
  else if (request.ranks == 2)
    found.place = name_of(placement_->level(0, members.empty() ? 1 : members.back()));
  return found;
}

// Creates a team. Collective over the launch; `members` is only used on rank 0.
void Teams::add(const std::vector<int>& members) {
  std::vector<int> positions;
  if (control_.root()) positions.assign(static_cast<std::size_t>(control_.size), -1);
  int order = 0;
  for (const int member : members) positions[static_cast<std::size_t>(member)] = order++;
  const int position = control_.scatter(std::move(positions));
  MPI_Comm handle;
  MPI_Comm_split(control_.handle, position < 0 ? MPI_UNDEFINED : 0, position, &handle);
  teams_.emplace_back();
  if (position < 0) return;
  teams_.back() = std::make_unique<Team>(Comm::owner(handle), Comm::duplicate(handle), arena_, launch_,
                                         files_, seed_, cost_);
}

}  // namespace hockney
