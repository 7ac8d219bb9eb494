// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0

// libhockney-waiting.so, for LD_PRELOAD: makes an MPI that polls its sockets wait for them, so that many
// ranks can share few processors. A call of epoll_wait or poll with timeout 0 that finds no event sleeps
// until there is one, for at most HOCKNEY_WAIT_US microseconds (0: never). After an event, the next call
// returns immediately, because libraries call again until there are no more events.
// Without this library, a rank that polls uses its whole time slice (some milliseconds) before another rank
// can run on the same processor.
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace {

constexpr long default_wait_us = 300;

timespec max_wait() {
  const char* text = std::getenv("HOCKNEY_WAIT_US");
  const long wait_us = text == nullptr ? default_wait_us : std::atol(text);
  prctl(PR_SET_TIMERSLACK, 1);
  return {wait_us / 1000000, wait_us % 1000000 * 1000};
}

template <typename Function>
Function following(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

thread_local bool had_event = false;

// Tells the engine that this library is loaded; the engine refuses to measure without it
// (engine/base/waits.cpp).
[[gnu::constructor]] void report() {
  setenv("HOCKNEY_WAITING", std::to_string(getpid()).c_str(), 1);
}

// `poll` checks without waiting; `wait` waits at most the given time, and returns 0 if a signal interrupts
// it.
template <typename PollFunction, typename WaitFunction>
int events(PollFunction check_events, WaitFunction wait_for_events) {
  static const timespec limit = max_wait();
  const int event_count = check_events();
  if (limit.tv_sec == 0 && limit.tv_nsec == 0) return event_count;
  if (event_count != 0) {
    had_event = event_count > 0;
    return event_count;
  }
  if (had_event) {
    had_event = false;
    return 0;
  }
  const int later = wait_for_events(&limit);
  had_event = later > 0;
  return later;
}

}  // namespace

extern "C" {

int epoll_wait(int set, epoll_event* list, int max_buffer, int timeout) {
  static const auto next = following<int (*)(int, epoll_event*, int, int)>("epoll_wait");
  if (timeout != 0) return next(set, list, max_buffer, timeout);
  return events([&] { return next(set, list, max_buffer, 0); },
                [&](const timespec* limit) {
                  pollfd parse_integer{set, POLLIN, 0};
                  return ppoll(&parse_integer, 1, limit, nullptr) > 0 ? next(set, list, max_buffer, 0) : 0;
                });
}

int poll(pollfd* list, nfds_t count, int timeout) {
  static const auto next = following<int (*)(pollfd*, nfds_t, int)>("poll");
  if (timeout != 0) return next(list, count, timeout);
  return events([&] { return next(list, count, 0); },
                [&](const timespec* limit) {
                  const int event_count = ppoll(list, count, limit, nullptr);
                  if (event_count >= 0) return event_count;
                  // a poll that does not wait is not interrupted: no event
                  for (nfds_t k = 0; k < count; ++k) list[k].revents = 0;
                  return 0;
                });
}

}  // extern "C"
