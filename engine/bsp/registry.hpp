// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hockney::bsp::inline v1 {

// Memory of one process, at an address in that process.
struct Memory {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
};

// The registrations of all processes. Each has a number, the same on all processes; numbers that are free
// again are reused, in the same order everywhere.
class Registry {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;

  Registry(int pid, int processes)
      : own_(static_cast<std::size_t>(pid)), processes_(static_cast<std::size_t>(processes)) {}

  // The newest registration in force of an address of this process; none if there is none.
  std::uint32_t find(const void* base) {
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    return address == last_base_ ? last_ : look_up(address);
  }
  bool in_force(std::uint32_t number) const { return number < entries_.size() && entries_[number].live; }
  const Memory& of(std::uint32_t number, int pid) const {
    return memories_[number * processes_ + static_cast<std::size_t>(pid)];
  }

  // ---- In a superstep ----
  // The number that the area has from the next superstep on.
  std::uint32_t push(const void* base, std::size_t bytes);
  // The newest registration of an address that was not removed yet, also one of this superstep; none.
  std::uint32_t newest(const void* base) const;
  // Removes a number, or with `none` whichever the other processes remove.
  void pop(std::uint32_t number) { pops_.push_back(number); }
  // Whether it is not among those that this superstep removes.
  bool removable(std::uint32_t number) const;
  // Whether this superstep has pushed it.
  bool pushed_now(std::uint32_t number) const;
  bool pushed_now(const void* base) const;

  // ---- At its end ----
  const std::vector<std::uint32_t>& pops() const { return pops_; }
  // The areas that this process has pushed, for all others.
  std::vector<Memory> pushed() const;
  // Puts the changes into force: the areas that all processes have pushed, those of process 0 first, and the
  // numbers that are removed.
  void apply(const std::vector<Memory>& pushed, const std::vector<std::uint32_t>& popped);
  // The first registration that is NULL on all processes, and not among `taken`; none.
  std::uint32_t null_everywhere(const std::vector<Memory>& pushed,
                                const std::vector<std::uint32_t>& taken) const;

 private:
  struct Entry {
    std::uint64_t stamp = 0;  // later ones are larger
    bool live = false;
  };
  struct Push {
    std::uint32_t number;
    Memory memory;
  };

  const Memory& own(std::uint32_t number) const { return memories_[number * processes_ + own_]; }
  std::uint32_t look_up(std::uintptr_t address);
  std::size_t place_of(std::uintptr_t address) const;
  void index();

  std::size_t own_;
  std::size_t processes_;
  std::uint32_t next_ = 0;  // the lowest number that was never used
  std::uint64_t stamps_ = 0;
  std::vector<Entry> entries_;
  std::vector<Memory> memories_;      // by number, then by process
  std::vector<std::uint32_t> free_;   // numbers, the next one to use last
  std::vector<Push> pushes_;          // of this superstep
  std::vector<std::uint32_t> pops_;   // of this superstep
  std::vector<std::uint32_t> table_;  // open addressing, by the address of this process
  std::uintptr_t last_base_ = 0;
  std::uint32_t last_ = none;
};

}  // namespace hockney::bsp::inline v1
