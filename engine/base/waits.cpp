// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "base/waits.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace hockney {
namespace {

bool asleep = false;

// The library stores its process number in the environment (engine/emulated/waiting.cpp); an inherited value
// belongs to another process.
bool library_as_requested() {
  if (std::getenv("HOCKNEY_WAIT_US") == nullptr) return true;
  const char* process = std::getenv("HOCKNEY_WAITING");
  return process != nullptr && process == std::to_string(getpid());
}

}  // namespace

bool waits_asleep() {
  return asleep;
}

bool sleep_in_waits() {
  if (!library_as_requested()) return false;
  asleep = true;
#ifdef __linux__
  // Linux may end a sleep 50 us late to save power (prctl(2), PR_SET_TIMERSLACK).
  prctl(PR_SET_TIMERSLACK, 1UL);
#endif
  return true;
}

void sleep_for(double seconds) {
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace hockney
