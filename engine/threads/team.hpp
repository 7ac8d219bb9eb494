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
    for (int thread = 1; thread < threads; ++thread)
      threads_.emplace_back([this, thread] { run_worker(thread); });
  }
  ~Team() {
    is_ending_ = true;
    begin();
    for (std::thread& thread : threads_) thread.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void work(const std::function<void(int)>& task) {
    task_ = &task;
    working_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    begin();
    task(0);
    for (int unfinished = 0; (unfinished = working_.load(std::memory_order_acquire)) != 0;)
      working_.wait(unfinished, std::memory_order_acquire);
  }

 private:
  void begin() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  void run_worker(int thread) {
    for (unsigned seen_round = 0;;) {
      round_.wait(seen_round, std::memory_order_acquire);
      ++seen_round;
      if (is_ending_) return;
      (*task_)(thread);
      if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) working_.notify_one();
    }
  }

  const std::function<void(int)>* task_ = nullptr;
  bool is_ending_ = false;
  std::atomic<unsigned> round_{0};
  std::atomic<int> working_{0};
  std::vector<std::thread> threads_;
};

}  // namespace hockney::threads
