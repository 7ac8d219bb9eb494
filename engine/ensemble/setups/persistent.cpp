// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/abilities.hpp"
#include "ensemble/conversation.hpp"
#include "ensemble/nonblocking_collectives.hpp"

namespace hockney::annealing {

#if HOCKNEY_HAS_MPI4

namespace {

// One request per slot, created once and restarted.
class Persistent final : public NonblockingCollectives {
 public:
  Persistent(Part& part, int depth) : NonblockingCollectives(part, depth) {
    for (Gather& gather : gathers())
      MPI_Gather_init(&gather.own_statistics, 1, types().statistics, gather.all_statistics.data(), 1,
                      types().statistics, 0, gather_comm(), MPI_INFO_NULL, &gather.request);
    for (Broadcast& broadcast : broadcasts())
      MPI_Bcast_init(&broadcast.schedule, 1, types().schedule, 0, broadcast_comm(), MPI_INFO_NULL,
                     &broadcast.request);
  }
  ~Persistent() override {
    for (Gather& gather : gathers()) MPI_Request_free(&gather.request);
    for (Broadcast& broadcast : broadcasts()) MPI_Request_free(&broadcast.request);
  }

 private:
  void start(Gather& gather) override { MPI_Start(&gather.request); }
  void start(Broadcast& broadcast) override { MPI_Start(&broadcast.request); }
};

}  // namespace

#endif

extern constinit const SetupInfo persistent{
    .name = "persistent",
    .help = "MPI_Bcast_init and MPI_Gather_init; otherwise as collective",
    .on_arrival = true,
    .has_lag = true,
#if HOCKNEY_HAS_MPI4
    .make = [](Part& part) -> std::unique_ptr<Rounds> {
      const Timetable timetable = on_arrival(part.options);
      return std::make_unique<Conversation>(part, std::make_unique<Persistent>(part, depth(timetable)),
                                            timetable);
    }
#else
    .missing = "MPI_Bcast_init and MPI_Gather_init of MPI-4"
#endif
};

}  // namespace hockney::annealing
