// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "ensemble/conversation.hpp"
#include "ensemble/setup.hpp"

namespace hockney::annealing {
namespace {

// All of its time counts as waiting: the calls return when the message has arrived.
class BlockingCollectives final : public Channel {
 public:
  explicit BlockingCollectives(Part& part)
      : part_(part), all_(part.comm.root() ? static_cast<std::size_t>(part.comm.size) : 0) {}

  void give(const Statistics& statistics, bool) override {
    const Spending waiting(part_.account, Spent::waiting);
    MPI_Gather(&statistics, 1, types_.statistics, all_.data(), 1, types_.statistics, 0, part_.comm.handle);
    collected_ = false;
  }

  const Statistics* collect(bool) override {
    if (collected_) return nullptr;
    collected_ = true;
    return all_.data();
  }

  void announce(const Schedule& schedule) override {
    const Spending waiting(part_.account, Spent::waiting);
    Schedule sent = schedule;
    MPI_Bcast(&sent, 1, types_.schedule, 0, part_.comm.handle);
  }

  std::optional<Schedule> receive(bool wait) override {
    if (!wait) return std::nullopt;
    Schedule received{};
    MPI_Bcast(&received, 1, types_.schedule, 0, part_.comm.handle);
    return received;
  }

 private:
  Part& part_;
  const MessageTypes types_;
  std::vector<Statistics> all_;
  bool collected_ = true;
};

}  // namespace

extern constinit const SetupInfo original{
    .name = "original",
    .help = "MPI_Bcast of the schedule and MPI_Gather of the statistics, blocking",
    .make = [](Part& part) -> std::unique_ptr<Rounds> {
      return std::make_unique<Conversation>(part, std::make_unique<BlockingCollectives>(part), Timetable{});
    }};

}  // namespace hockney::annealing
