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

// Everything the handler reads: fixed memory and lock-free atomics.
char message[4096];
std::atomic<int> phase_now{setup};
std::atomic<long> repetition_now{0};
std::atomic<bool> spoken{false};
std::atomic<long> done_now{0}, of_now{0};
std::atomic<double> began_s{0};  // the progress

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
std::size_t append(char* line, std::size_t at, std::size_t size, const char* text) {
  while (*text && at < size) line[at++] = *text++;
  return at;
}

std::size_t append(char* line, std::size_t at, std::size_t size, long number) {
  char digits[24];
  int n = 0;
  do digits[n++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  while (n && at < size) line[at++] = digits[--n];
  return at;
}

void speak(int) {
  if (spoken.exchange(true)) _exit(exit_code);
  const int interrupted = errno;  // of the interrupted call
  char line[sizeof message + 160];
  std::size_t at = append(line, 0, sizeof line - 1, message);
  at = append(line, at, sizeof line - 1, " phase=");
  at = append(line, at, sizeof line - 1, phase_name(phase_now.load()));
  at = append(line, at, sizeof line - 1, " repetition=");
  at = append(line, at, sizeof line - 1, repetition_now.load());
  if (const long done = done_now.load(); done > 0) {
    at = append(line, at, sizeof line - 1, " done=");
    at = append(line, at, sizeof line - 1, done);
    at = append(line, at, sizeof line - 1, " of=");
    at = append(line, at, sizeof line - 1, of_now.load());
    at = append(line, at, sizeof line - 1, " ms=");
    at = append(line, at, sizeof line - 1, static_cast<long>(1e3 * (seconds_now() - began_s.load())));
  }
  line[at++] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, at);
  errno = interrupted;
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
  spoken = false;
  at(setup);
  progress(0, 0);
  struct sigaction action{};
  action.sa_handler = speak;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer{seconds(hang_s), seconds(allowed_s + hang_s)};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

void disarm() {
  const itimerval none{};
  setitimer(ITIMER_REAL, &none, nullptr);
}

void at(Phase phase, long repetition) {
  phase_now.store(phase, std::memory_order_relaxed);
  repetition_now.store(repetition, std::memory_order_relaxed);
}

void progress(long done, long of) {
  if (done == 0) began_s.store(seconds_now(), std::memory_order_relaxed);
  of_now.store(of, std::memory_order_relaxed);
  done_now.store(done, std::memory_order_relaxed);
}

}  // namespace hockney::watchdog
