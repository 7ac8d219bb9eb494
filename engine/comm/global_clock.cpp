// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/global_clock.hpp"

#include <bit>
#include <cmath>

#include "base/clock.hpp"
#include "base/expect.hpp"
#include "comm/checked_message.hpp"

namespace hockney {
namespace {

constexpr int exchanges = 50;
// Over a shorter span, the error of an offset, some 100 ns, would appear as a drift of more than 2e-6.
constexpr double shortest_span_s = 0.05;
constexpr int clock_tag = 77;

}  // namespace

// The attribute exists on MPI_COMM_WORLD only (MPI 4.1, section 9.1.2) and is the same on all ranks.
bool GlobalClock::is_global() {
  int* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &found);
  return found && *value;
}

int clock_rounds(int ranks) {
  HOCKNEY_EXPECT(ranks >= 1);
  return std::bit_width(static_cast<unsigned>(ranks - 1));
}

ClockStep clock_step(int rank, int ranks, int round) {
  HOCKNEY_EXPECT(0 <= rank && rank < ranks && 0 <= round && round < clock_rounds(ranks));
  const int synchronised_ranks = 1 << round;  // lower ranks are synchronised with rank 0
  if (rank >= 2 * synchronised_ranks) return {};
  if (rank >= synchronised_ranks) return {ClockStep::client, rank - synchronised_ranks};
  return rank + synchronised_ranks < ranks ? ClockStep{ClockStep::server, rank + synchronised_ranks}
                                           : ClockStep{};
}

// A rank with a known offset answers with rank 0's time, computed from its own clock and that offset. Both
// are recent, so drift does not matter.
GlobalClock::Sample GlobalClock::measure(const Comm& comm) {
  Sample sample{now(), 0};
  for (int round = 0; round < clock_rounds(comm.size); ++round) {
    const ClockStep step = clock_step(comm.rank, comm.size, round);
    if (step.role == ClockStep::server) answer(comm, step.partner, sample.offset);
    if (step.role == ClockStep::client) sample = ask(comm, step.partner);
  }
  return sample;
}

void GlobalClock::answer(const Comm& comm, int partner, double offset) {
  for (int i = 0; i < exchanges; ++i) {
    char token = 0;
    MPI_Recv(&token, 1, MPI_CHAR, partner, clock_tag, comm.handle, MPI_STATUS_IGNORE);
    const double time = now() + offset;
    send_checked(&time, sizeof time, partner, clock_tag, comm.handle);
  }
}

GlobalClock::Sample GlobalClock::ask(const Comm& comm, int partner) {
  Sample best{now(), 0};
  double shortest_s = INFINITY;
  for (int i = 0; i < exchanges; ++i) {
    const char token = 0;
    double there = 0;
    const double send_time = now();
    MPI_Send(&token, 1, MPI_CHAR, partner, clock_tag, comm.handle);
    receive_checked(&there, sizeof there, partner, clock_tag, comm.handle);
    const double receive_time = now();
    if (receive_time - send_time >= shortest_s) continue;
    shortest_s = receive_time - send_time;
    best = {receive_time, there + shortest_s / 2 - receive_time};
  }
  return best;
}

void GlobalClock::fit() {
  const Sample& last = samples_.back();
  reference_ = last.local;
  offset_ = last.offset;
  drift_ = 0;
  if (last.local - samples_.front().local < shortest_span_s) return;
  double mean_time = 0;
  double mean_offset = 0;
  for (const Sample& s : samples_) {
    mean_time += s.local / samples_.size();
    mean_offset += s.offset / samples_.size();
  }
  double covariance = 0;
  double variance = 0;
  for (const Sample& s : samples_) {
    covariance += (s.local - mean_time) * (s.offset - mean_offset);
    variance += (s.local - mean_time) * (s.local - mean_time);
  }
  drift_ = covariance / variance;
  offset_ = mean_offset + drift_ * (reference_ - mean_time);
}

void GlobalClock::synchronise(const Comm& comm) {
  if (is_global()) return;
  // Only recent samples are used, so that a step of the clock eventually has no effect.
  constexpr std::size_t max_samples = 32;
  if (samples_.size() == max_samples) samples_.erase(samples_.begin());
  samples_.push_back(measure(comm));
  fit();
}

double GlobalClock::residual(const Comm& comm) const {
  if (is_global()) return 0;
  const Sample latest = measure(comm);
  const double error = comm.root() ? 0.0 : std::abs(to_global(latest.local) - (latest.local + latest.offset));
  return comm.reduce_max(error);
}

}  // namespace hockney
