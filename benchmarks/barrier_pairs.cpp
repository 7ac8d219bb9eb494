// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// Times the best barrier of the library, MPI_Barrier and, with two ranks, the cores alone, alternately.
// First line: the barrier's name, how long it was looked for (s), how many were tried. Then one line a round:
// seconds an episode of ours, of MPI_Barrier, of a line each way, of half a line's way there and back (the
// last two 0 with other than two ranks).
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

// Between two looks, or the next look is guessed before the line is there, and the guess has to be taken
// back.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// Two words in shared memory, so far apart that no prefetching brings one with the other.
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

  // Each core writes its line and waits for the other one's: one line each way, both at once.
  void each_way(int count) {
    std::atomic<std::uint32_t>&mine = lines_[rank_].word, &other = lines_[1 - rank_].word;
    for (const std::uint32_t end = count_ + static_cast<std::uint32_t>(count); count_ != end;) {
      const std::uint32_t now = ++count_;
      mine.store(now, std::memory_order_release);
      // The other one may be a step further already.
      while (static_cast<std::int32_t>(other.load(std::memory_order_acquire) - now) < 0) relax();
    }
  }
  // There and back again, one after the other.
  void round_trip(int count) {
    std::atomic<std::uint32_t>&mine = lines_[rank_].word, &other = lines_[1 - rank_].word;
    for (const std::uint32_t end = count_ + static_cast<std::uint32_t>(count); count_ != end;) {
      const std::uint32_t now = ++count_;
      if (rank_ == 0) mine.store(now, std::memory_order_release);
      while (other.load(std::memory_order_acquire) != now) relax();
      if (rank_ == 1) mine.store(now, std::memory_order_release);
    }
  }

 private:
  struct alignas(256) Line {
    std::atomic<std::uint32_t> word;
  };
  int rank_ = 0;
  std::uint32_t count_ = 0;
  MPI_Win window_ = MPI_WIN_NULL;
  Line* lines_ = nullptr;
};

// Seconds an episode, of the slowest rank. The start is an episode of the same barrier: after another one,
// ranks that share cores may be a scheduler's turn apart.
double seconds_of(const std::function<void(int)>& episodes, int count) {
  episodes(1);
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
        [&](int count) { lines.each_way(count); },
        [&](int count) { lines.round_trip(count); },
    };
    const int used = size == 2 ? 4 : 2;
    std::array<int, 4> counts{};
    for (int k = 0; k < used; ++k) {
      // Where ranks share cores, MPICH's barrier takes a scheduler's turn for each episode.
      const int least = size == 2 ? 1000 : k == 1 ? 3 : 100;
      const double once = seconds_of(rivals[k], least);
      counts[k] = static_cast<int>(std::clamp(std::floor(batch_s / once), 1.0 * least, 50000.0));
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
