// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "measure/watchdog.hpp"

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace hockney::watchdog {
namespace {

// All data that the handler reads: fixed memory and lock-free atomics.
char message[4096];
std::atomic<int> current_phase{setup};
std::atomic<long> current_repetition{0};
std::atomic<bool> has_printed{false};
std::atomic<long> done_count{0}, total_count{0};
std::atomic<double> progress_start_s{0};  // start of the progress

double seconds_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

const char* phase_name(int phase) {
  static const char* const names[] = {"setup", "warm-up", "timing", "decision", "verification", "waiting"};
  return names[phase];
}

// snprintf is not async-signal-safe, so the line is assembled by hand.
std::size_t append(char* line, std::size_t position, std::size_t size, const char* text) {
  while (*text && position < size) line[position++] = *text++;
  return position;
}

std::size_t append(char* line, std::size_t position, std::size_t size, long number) {
  char digits[24];
  int n = 0;
  do digits[n++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (n && position < size) line[position++] = digits[--n];
  return position;
}

void print_line(int) {
  if (has_printed.exchange(true)) _exit(exit_code);
  const int saved_errno = errno;  // errno of the interrupted call
  char line[sizeof message + 160];
  std::size_t position = append(line, 0, sizeof line - 1, message);
  position = append(line, position, sizeof line - 1, " phase=");
  position = append(line, position, sizeof line - 1, phase_name(current_phase.load()));
  position = append(line, position, sizeof line - 1, " repetition=");
  position = append(line, position, sizeof line - 1, current_repetition.load());
  if (const long done = done_count.load(); done > 0) {
    position = append(line, position, sizeof line - 1, " done=");
    position = append(line, position, sizeof line - 1, done);
    position = append(line, position, sizeof line - 1, " of=");
    position = append(line, position, sizeof line - 1, total_count.load());
    position = append(line, position, sizeof line - 1, " ms=");
    position = append(line, position, sizeof line - 1,
                      static_cast<long>(1e3 * (seconds_now() - progress_start_s.load())));
  }
  line[position++] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, position);
  errno = saved_errno;
}

timeval seconds(double s) {
  timeval t{};
  t.tv_sec = static_cast<time_t>(s);
  t.tv_usec = static_cast<suseconds_t>((s - static_cast<double>(t.tv_sec)) * 1e6);
  return t;
}

}  // namespace

void arm(int rank, const std::string& case_line, double allowed_s, double hang_s) {
  if (hang_s <= 0) return;
  const std::string text = "hockney-watchdog rank=" + std::to_string(rank) + " case=" + case_line;
  std::strncpy(message, text.c_str(), sizeof message - 1);
  has_printed = false;
  set_phase(setup);
  progress(0, 0);
  struct sigaction action{};
  action.sa_handler = print_line;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer{seconds(hang_s), seconds(allowed_s + hang_s)};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void disarm() {
  const itimerval none{};
  setitimer(ITIMER_REAL, &none, nullptr);
}

void set_phase(Phase phase, long repetition) {
  current_phase.store(phase, std::memory_order_relaxed);
  current_repetition.store(repetition, std::memory_order_relaxed);
}

void progress(long done, long total) {
  if (done == 0) progress_start_s.store(seconds_now(), std::memory_order_relaxed);
  total_count.store(total, std::memory_order_relaxed);
  done_count.store(done, std::memory_order_relaxed);
}

}  // namespace hockney::watchdog
