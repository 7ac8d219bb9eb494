// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// The best barrier of the library, MPI_Barrier, and with two ranks what the cores themselves need, in turns.
// First line: the barrier's name, how long it was looked for (s), how many were tried. Then one line a round:
// seconds an episode of ours, of MPI_Barrier, of the floor, of one way (0 with other than two ranks).
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <hockney/barrier.hpp>
#include <memory>

namespace {

// Two words in shared memory, each in a line of its own (two, since processors fetch them in pairs).
class Lines {
 public:
  Lines() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    void* start = nullptr;
    MPI_Aint bytes = rank_ == 0 ? static_cast<MPI_Aint>(3 * sizeof(Line)) : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &start, &window_);
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &start);
    std::size_t room = 3 * sizeof(Line);
    lines_ = static_cast<Line*>(std::align(alignof(Line), 2 * sizeof(Line), start, room));
    if (rank_ == 0) lines_[0].word = lines_[1].word = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Lines() { MPI_Win_free(&window_); }

  // Each core writes its line and waits for the other one's: one line each way, both at once. No barrier of
  // two cores can do with less.
  void each_way() {
    ++count_;
    lines_[rank_].word.store(count_, std::memory_order_release);
    // The other one may be a step further already.
    while (static_cast<std::int32_t>(lines_[1 - rank_].word.load(std::memory_order_acquire) - count_) < 0) {
    }
  }
  // There and back again, one after the other.
  void round_trip() {
    ++count_;
    if (rank_ == 0) lines_[0].word.store(count_, std::memory_order_release);
    while (lines_[1 - rank_].word.load(std::memory_order_acquire) != count_) {
    }
    if (rank_ == 1) lines_[1].word.store(count_, std::memory_order_release);
  }

 private:
  struct alignas(128) Line {
    std::atomic<std::uint32_t> word;
  };
  int rank_ = 0;
  std::uint32_t count_ = 0;
  MPI_Win window_ = MPI_WIN_NULL;
  Line* lines_ = nullptr;
};

// Seconds an episode, of the slowest rank.
double seconds_of(const std::function<void(int)>& episodes, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  episodes(count);
  double seconds = (MPI_Wtime() - start) / count;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 50;
  constexpr double batch_s = 0.002;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    hockney::BarrierChoice choice;
    const auto ours = hockney::best_barrier(MPI_COMM_WORLD, &choice);
    if (rank == 0)
      std::printf("%.*s %.6f %zu\n", static_cast<int>(ours->name().size()), ours->name().data(),
                  choice.seconds, choice.trials.size());
    Lines lines;
    // Loops in each, so that none pays for the call through std::function.
    const std::function<void(int)> rivals[] = {
        [&](int count) {
          for (int k = 0; k < count; ++k) ours->wait();
        },
        [](int count) {
          for (int k = 0; k < count; ++k) MPI_Barrier(MPI_COMM_WORLD);
        },
        [&](int count) {
          for (int k = 0; k < count; ++k) lines.each_way();
        },
        [&](int count) {
          for (int k = 0; k < count; ++k) lines.round_trip();
        },
    };
    const int used = size == 2 ? 4 : 2;
    std::array<int, 4> counts{};
    for (int k = 0; k < used; ++k) {
      const double once = std::min(seconds_of(rivals[k], 1), seconds_of(rivals[k], size == 2 ? 1000 : 3));
      counts[k] = static_cast<int>(std::clamp(std::floor(batch_s / once), 1.0, 50000.0));
    }
    for (int round = 0; round < rounds; ++round) {
      std::array<double, 4> seconds{};
      for (int turn = 0; turn < used; ++turn) {
        const int k = (turn + round) % used;
        seconds[k] = seconds_of(rivals[k], counts[k]);
      }
      if (rank == 0) std::printf("%.9g %.9g %.9g %.9g\n", seconds[0], seconds[1], seconds[2], seconds[3] / 2);
    }
  }
  MPI_Finalize();
  return 0;
}
