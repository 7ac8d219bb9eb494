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

// The registrations of all processes. Each has a number, the same on all processes; freed numbers are reused,
// in the same order everywhere.
class Registry {
 public:
  static constexpr std::uint32_t no_registration = 0xffffffffU;

  Registry(int pid, int processes)
      : own_(static_cast<std::size_t>(pid)), processes_(static_cast<std::size_t>(processes)) {}

  // The newest registration in force for an address of this process; `no_registration` if there is none.
  std::uint32_t find(const void* base) {
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    return address == last_base_ ? last_ : look_up(address);
  }
  bool is_in_force(std::uint32_t number) const { return number < entries_.size() && entries_[number].live; }
  const Memory& of(std::uint32_t number, int pid) const {
    return memories_[number * processes_ + static_cast<std::size_t>(pid)];
  }

  // ---- During a superstep ----
  // Returns the number that the area will have from the next superstep on.
  std::uint32_t push(const void* base, std::size_t bytes);
  // The newest registration of an address that has not been removed, including those of this superstep;
  // `no_registration` if there is none.
  std::uint32_t newest(const void* base) const;
  // Removes a number; `no_registration` removes the number that the other processes remove.
  void pop(std::uint32_t number) { pops_.push_back(number); }
  // Whether this superstep has not yet removed the number.
  bool removable(std::uint32_t number) const;
  // Whether the number was pushed in this superstep.
  bool is_pushed_now(std::uint32_t number) const;
  bool is_pushed_now(const void* base) const;

  // ---- At the end of a superstep ----
  const std::vector<std::uint32_t>& pops() const { return pops_; }
  // The areas that this process has pushed, to be sent to all others.
  std::vector<Memory> pushed() const;
  // Applies the changes: adds the areas that all processes have pushed, those of process 0 first, and removes
  // the given numbers.
  void apply(const std::vector<Memory>& pushed, const std::vector<std::uint32_t>& popped);
  // The first registration that is NULL on all processes and not in `excluded`; `no_registration` if there is
  // none.
  std::uint32_t first_null(const std::vector<Memory>& pushed,
                           const std::vector<std::uint32_t>& excluded) const;

 private:
  struct Entry {
    std::uint64_t stamp = 0;  // increases with each registration
    bool live = false;
  };
  struct Push {
    std::uint32_t number;
    Memory memory;
  };

  const Memory& own(std::uint32_t number) const { return memories_[number * processes_ + own_]; }
  std::uint32_t look_up(std::uintptr_t address);
  std::size_t slot_of(std::uintptr_t address) const;
  void index();

  std::size_t own_;
  std::size_t processes_;
  std::uint32_t next_ = 0;  // lowest number never used
  std::uint64_t stamps_ = 0;
  std::vector<Entry> entries_;
  std::vector<Memory> memories_;      // by number, then by process
  std::vector<std::uint32_t> free_;   // numbers; the last one is used next
  std::vector<Push> pushes_;          // of this superstep
  std::vector<std::uint32_t> pops_;   // of this superstep
  std::vector<std::uint32_t> table_;  // open addressing, by the address on this process
  std::uintptr_t last_base_ = 0;
  std::uint32_t last_ = no_registration;
};

}  // namespace hockney::bsp::inline v1
