// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "base/waits.hpp"

namespace {

using namespace hockney;

double thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(Waits, AreBusyUnlessRequestedOtherwise) {
  EXPECT_FALSE(waits_asleep());
}

TEST(Waits, NeedTheLibraryThatIsToMakeMpiWait) {
  setenv("HOCKNEY_WAIT_US", "300", 1);
  unsetenv("HOCKNEY_WAITING");
  EXPECT_FALSE(sleep_in_waits());
  setenv("HOCKNEY_WAITING", "1", 1);
  EXPECT_FALSE(sleep_in_waits()) << "loaded into another process";
  EXPECT_FALSE(waits_asleep());
  unsetenv("HOCKNEY_WAIT_US");
  unsetenv("HOCKNEY_WAITING");
}

TEST(Waits, SleepTakesItsTimeButNotTheProcessor) {
  constexpr double seconds = 0.05;
  const double processor = thread_time();
  const auto began = std::chrono::steady_clock::now();
  sleep_for(seconds);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  EXPECT_GE(passed.count(), seconds);
  EXPECT_LT(thread_time() - processor, seconds / 5);
}

TEST(Waits, NoTimeIsNoSleep) {
  sleep_for(0);
  sleep_for(-1);
}

}  // namespace
