// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0

// libhockney-waiting.so, for LD_PRELOAD: makes an MPI that polls its sockets wait for them, so that many
// ranks can share few processors. A call of epoll_wait or poll with timeout 0 that finds nothing sleeps until
// there is an event, at most HOCKNEY_WAIT_US microseconds (0: it does not). After an event, one more call
// returns at once: libraries call again until nothing is left.
//
// Without it, a rank that polls uses its whole time slice (some milliseconds) before another that has
// something to do runs on the same processor.
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace {

constexpr long default_us = 300;

timespec longest() {
  const char* text = std::getenv("HOCKNEY_WAIT_US");
  const long us = text == nullptr ? default_us : std::atol(text);
  prctl(PR_SET_TIMERSLACK, 1);
  return {us / 1000000, us % 1000000 * 1000};
}

template <typename Function>
Function following(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

thread_local bool had_event = false;

// For the engine, which refuses to measure without this library (engine/base/waits.cpp).
[[gnu::constructor]] void report() {
  setenv("HOCKNEY_WAITING", std::to_string(getpid()).c_str(), 1);
}

// `now` looks without waiting; `waiting` waits at most the given time, and returns 0 if a signal ends that.
template <typename Now, typename Waiting>
int events(Now now, Waiting waiting) {
  static const timespec limit = longest();
  const int found = now();
  if (limit.tv_sec == 0 && limit.tv_nsec == 0) return found;
  if (found != 0) {
    had_event = found > 0;
    return found;
  }
  if (had_event) {
    had_event = false;
    return 0;
  }
  const int later = waiting(&limit);
  had_event = later > 0;
  return later;
}

}  // namespace

extern "C" {

int epoll_wait(int set, epoll_event* list, int most, int timeout) {
  static const auto next = following<int (*)(int, epoll_event*, int, int)>("epoll_wait");
  if (timeout != 0) return next(set, list, most, timeout);
  return events([&] { return next(set, list, most, 0); },
                [&](const timespec* limit) {
                  pollfd whole{set, POLLIN, 0};
                  return ppoll(&whole, 1, limit, nullptr) > 0 ? next(set, list, most, 0) : 0;
                });
}

int poll(pollfd* list, nfds_t count, int timeout) {
  static const auto next = following<int (*)(pollfd*, nfds_t, int)>("poll");
  if (timeout != 0) return next(list, count, timeout);
  return events([&] { return next(list, count, 0); },
                [&](const timespec* limit) {
                  const int found = ppoll(list, count, limit, nullptr);
                  if (found >= 0) return found;
                  // a poll that does not wait is not interrupted: no event
                  for (nfds_t k = 0; k < count; ++k) list[k].revents = 0;
                  return 0;
                });
}

}  // extern "C"
