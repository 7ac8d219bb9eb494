// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "ensemble/conversation.hpp"
#include "ensemble/nonblocking_collectives.hpp"

namespace hockney::annealing {
namespace {

class Collectives final : public NonblockingCollectives {
 public:
  using NonblockingCollectives::NonblockingCollectives;

 private:
  void start(Gather& gather) override {
    MPI_Igather(&gather.own_statistics, 1, types().statistics, gather.all_statistics.data(), 1,
                types().statistics, 0, gather_comm(), &gather.request);
  }
  void start(Broadcast& broadcast) override {
    MPI_Ibcast(&broadcast.schedule, 1, types().schedule, 0, broadcast_comm(), &broadcast.request);
  }
};

}  // namespace

extern constinit const SetupInfo collective{
    .name = "collective",
    .help = "MPI_Ibcast and MPI_Igather; with a lag as lagged, otherwise as estimated",
    .on_arrival = true,
    .has_lag = true,
    .make = [](Part& part) -> std::unique_ptr<Rounds> {
      const Timetable timetable = on_arrival(part.options);
      return std::make_unique<Conversation>(part, std::make_unique<Collectives>(part, depth(timetable)),
                                            timetable);
    }};

}  // namespace hockney::annealing
