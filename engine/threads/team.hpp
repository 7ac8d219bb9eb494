// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace hockney::threads {

// A team of waiting threads: work() runs a function on all of them and, as number 0, on the calling thread,
// and returns when all have finished.
class Team {
 public:
  explicit Team(int threads) {
    for (int thread = 1; thread < threads; ++thread) others_.emplace_back([this, thread] { serve(thread); });
  }
  ~Team() {
    ends_ = true;
    begin();
    for (std::thread& other : others_) other.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void work(const std::function<void(int)>& each) {
    each_ = &each;
    working_.store(static_cast<int>(others_.size()), std::memory_order_relaxed);
    begin();
    each(0);
    for (int left = 0; (left = working_.load(std::memory_order_acquire)) != 0;)
      working_.wait(left, std::memory_order_acquire);
  }

 private:
  void begin() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  void serve(int thread) {
    for (unsigned seen = 0;;) {
      round_.wait(seen, std::memory_order_acquire);
      ++seen;
      if (ends_) return;
      (*each_)(thread);
      if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) working_.notify_one();
    }
  }

  const std::function<void(int)>* each_ = nullptr;
  bool ends_ = false;
  std::atomic<unsigned> round_{0};
  std::atomic<int> working_{0};
  std::vector<std::thread> others_;
};

}  // namespace hockney::threads
