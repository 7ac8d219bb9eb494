// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Barriers to choose from, for MPI programs of your own (C++17 or newer).
//
//   auto barrier = hockney::best_barrier(MPI_COMM_WORLD);
//   for (...) {
//     work();
//     barrier->wait();
//   }
//   barrier.reset();  // before MPI_Finalize
//
// MPI is initialised before any of this is called, and the library was compiled with the MPI that the program
// uses: with one of another family it does not link. All functions that take a communicator are collective
// over it and expect an intracommunicator. They may be called by several threads at once, with different
// communicators, where MPI gives MPI_THREAD_MULTIPLE; else by one thread at a time, as MPI itself. Errors of
// MPI take the way of the communicator's error handler; memory that MPI cannot give is a std::runtime_error,
// on all ranks, and what goes wrong with it later ends the program, as MPI's windows have it.
namespace hockney {

// No rank leaves wait() before all ranks of the communicator have entered it.
//
// Made and destroyed by all ranks of the communicator, in the same order as anything else that is collective
// there; to be destroyed before MPI_Finalize. It outlives the communicator that it was made for, of which it
// has a duplicate: none of its messages meets one of yours, and several barriers of one communicator do not
// meet either. Any number of episodes may follow back to back.
//
// It synchronises ranks and what they have written to memory that they share; it completes no messages and no
// one-sided operation of yours.
class Barrier {
 public:
  Barrier() = default;
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  virtual ~Barrier() = default;

  // For one thread of each rank. A rank that waits lets MPI work now and then, also for your own messages
  // under way, so that a rank that is to come may complete them first. Where ranks outnumber the cores that
  // they may use, waiting ranks give theirs away.
  virtual void wait() = 0;

  // The algorithm's name, one of barrier_names(); empty for a barrier that is not from here.
  std::string_view name() const { return name_; }

 private:
  friend struct BarrierNaming;
  std::string_view name_;
};

// How best_barrier() found its barrier: what it tried, the quickest first, and how long all of it took, in
// seconds by rank 0's clock; nothing tried where the answer was known or there was no choice. The same on all
// ranks.
struct BarrierChoice {
  struct Trial {
    std::string name;
    double seconds;  // an episode: the median over rounds of the slowest rank's time
  };
  std::vector<Trial> trials;
  double seconds = 0;
};

// The quickest barrier for this communicator here, found by trying. Collective; the same choice on all ranks.
//
// The first call for a communicator of this size, with its ranks laid out on nodes like this, makes and times
// candidates for at most 50 ms where ranks have cores of their own. Where they share cores it may take
// longer, as nobody can end a step that has begun: making a candidate, one round, freeing. The process
// remembers what was timed: later calls for such a communicator make that barrier and no other, unless one of
// its ranks was not there when it was found; what was taken untried, since time was up, is not remembered.
// `choice`, where not null, is told how it was found.
std::unique_ptr<Barrier> best_barrier(MPI_Comm comm, BarrierChoice* choice = nullptr);

// The barrier with this name. Collective. Throws, on all ranks alike, std::invalid_argument for a name that
// is not in barrier_names(), with those that are; std::runtime_error where this communicator or this MPI
// cannot have it, as shared memory between nodes.
std::unique_ptr<Barrier> make_barrier(std::string_view name, MPI_Comm comm);

// The names of all algorithms, sorted. Not collective, and needs no MPI.
std::vector<std::string> barrier_names();

}  // namespace hockney
