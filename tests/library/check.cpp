// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses the installed library like a program of its users. Prints "fine" and rank 0's results; aborts with the
// line of a failed check.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <hockney/barrier.hpp>
#include <stdexcept>
#include <string>

#define HOLDS(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                \
    }                                                              \
  } while (false)

namespace {

// A count of episodes for each rank of the world, visible to all of them.
class Entered {
 public:
  Entered() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    void* mine = nullptr;
    MPI_Aint bytes = rank_ == 0 ? static_cast<MPI_Aint>(sizeof(Count)) * size_ : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window_);
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &mine);
    counts_ = static_cast<Count*>(mine);
    counts_[rank_].store(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Entered() { MPI_Win_free(&window_); }

  void episode(hockney::Barrier& barrier) {
    const int mine = ++counts_[rank_];
    barrier.wait();
    for (int other = 0; other < size_; ++other) {
      const int ahead = counts_[other].load() - mine;
      HOLDS(ahead == 0 || ahead == 1);
    }
  }

 private:
  using Count = std::atomic<int>;
  int rank_ = 0;
  int size_ = 1;
  MPI_Win window_ = MPI_WIN_NULL;
  Count* counts_ = nullptr;
};

bool same_everywhere(std::string_view name, MPI_Comm comm) {
  char mine[64] = {}, first[64] = {};
  name.copy(mine, sizeof mine - 1);
  std::memcpy(first, mine, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm);
  int same = std::strcmp(mine, first) == 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm);
  return same != 0;
}

void names() {
  const auto all = hockney::barrier_names();
  HOLDS(all.size() >= 20 && std::is_sorted(all.begin(), all.end()));
  HOLDS(std::count(all.begin(), all.end(), "dissemination_mcs") == 1);
  try {
    hockney::make_barrier("disseminaton", MPI_COMM_WORLD);
    HOLDS(!"a name that is none was taken");
  } catch (const std::invalid_argument& error) {
    const std::string told = error.what();
    HOLDS(told.find("'disseminaton'") != std::string::npos);
    for (const std::string& name : all) HOLDS(told.find(name) != std::string::npos);
  }
  const auto made = hockney::make_barrier("tournament_mcs", MPI_COMM_WORLD);
  HOLDS(made->name() == "tournament_mcs");
  made->wait();
}

void several_communicators(Entered& entered, int rank) {
  MPI_Comm backwards, parts;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parts);
  auto one = hockney::best_barrier(backwards);
  auto other = hockney::make_barrier("mcs_tree", MPI_COMM_WORLD);
  auto part = hockney::best_barrier(parts);
  HOLDS(same_everywhere(one->name(), backwards) && same_everywhere(part->name(), parts));
  MPI_Comm_free(&backwards);  // barriers outlive their communicators
  MPI_Comm_free(&parts);
  // A message of the program, in flight meanwhile, is not received by anyone else.
  int sent = rank, got = -1, size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Request requests[2];
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  for (int k = 0; k < 20; ++k) {
    entered.episode(*one);
    entered.episode(*other);
    part->wait();
  }
  MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  HOLDS(got == (rank + size - 1) % size);
}

void no_intercommunicator(int rank, int size) {
  if (size < 2) return;
  MPI_Comm mine, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 1 : 0, rank, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 7, &both);
  bool refused = false;
  try {
    hockney::best_barrier(both);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  HOLDS(refused);
  MPI_Comm_free(&both);
  MPI_Comm_free(&mine);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    Entered entered;
    hockney::BarrierChoice choice;
    auto best = hockney::best_barrier(MPI_COMM_WORLD, &choice);
    HOLDS(same_everywhere(best->name(), MPI_COMM_WORLD));
    HOLDS(size == 1 ? choice.trials.empty() : choice.trials.empty() || choice.trials[0].name == best->name());
    for (std::size_t k = 1; k < choice.trials.size(); ++k)
      HOLDS(choice.trials[k - 1].seconds <= choice.trials[k].seconds && choice.trials[k - 1].seconds > 0);
    for (int k = 0; k < 200; ++k) entered.episode(*best);

    hockney::BarrierChoice second;
    second.seconds = 7;
    const auto again = hockney::best_barrier(MPI_COMM_WORLD, &second);
    // A candidate chosen untimed, because time was up, is not remembered.
    const bool timed = size == 1 || !choice.trials.empty();
    HOLDS(!timed || (again->name() == best->name() && second.trials.empty() && second.seconds == 0));
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    hockney::best_barrier(copy, &second);
    HOLDS(!timed || (second.trials.empty() && second.seconds == 0));
    MPI_Comm_free(&copy);

    names();
    several_communicators(entered, rank);
    no_intercommunicator(rank, size);
    if (rank == 0)
      std::printf("fine %.*s %zu %.6f\n", static_cast<int>(best->name().size()), best->name().data(),
                  choice.trials.size(), choice.seconds);
  }
  MPI_Finalize();
  return 0;
}
