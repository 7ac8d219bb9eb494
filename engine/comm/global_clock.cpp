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
// Over a shorter span the error of an offset, some 100 ns, would appear as a drift of more than 2e-6.
constexpr double shortest_span_s = 0.05;
constexpr int clock_tag = 77;

}  // namespace

// The attribute exists on MPI_COMM_WORLD only (MPI 4.1, section 9.1.2) and is the same on all ranks.
bool GlobalClock::given() {
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
  const int taught = 1 << round;  // ranks below this have rank 0's clock
  if (rank >= 2 * taught) return {};
  if (rank >= taught) return {ClockStep::asks, rank - taught};
  return rank + taught < ranks ? ClockStep{ClockStep::answers, rank + taught} : ClockStep{};
}

// A rank with a known offset answers with rank 0's time, computed from its own clock and that offset. Both
// are fresh, so drift does not matter.
GlobalClock::Sample GlobalClock::measure(const Comm& comm) {
  Sample sample{now(), 0};
  for (int round = 0; round < clock_rounds(comm.size); ++round) {
    const ClockStep step = clock_step(comm.rank, comm.size, round);
    if (step.role == ClockStep::answers) answer(comm, step.partner, sample.offset);
    if (step.role == ClockStep::asks) sample = ask(comm, step.partner);
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
  double shortest = INFINITY;
  for (int i = 0; i < exchanges; ++i) {
    const char token = 0;
    double there = 0;
    const double sent = now();
    MPI_Send(&token, 1, MPI_CHAR, partner, clock_tag, comm.handle);
    receive_checked(&there, sizeof there, partner, clock_tag, comm.handle);
    const double received = now();
    if (received - sent >= shortest) continue;
    shortest = received - sent;
    best = {received, there + shortest / 2 - received};
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
  if (given()) return;
  // Only the recent past is used, so that a clock that was stepped is eventually forgotten.
  constexpr std::size_t kept = 32;
  if (samples_.size() == kept) samples_.erase(samples_.begin());
  samples_.push_back(measure(comm));
  fit();
}

double GlobalClock::residual(const Comm& comm) const {
  if (given()) return 0;
  const Sample fresh = measure(comm);
  const double error = comm.root() ? 0.0 : std::abs(to_global(fresh.local) - (fresh.local + fresh.offset));
  return comm.longest(error);
}

}  // namespace hockney
