// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/registry.hpp"

#include <algorithm>
#include <bit>

namespace hockney::bsp::inline v1 {

std::uint32_t Registry::push(const void* base, std::size_t bytes) {
  std::uint32_t number = next_;
  if (free_.empty()) {
    ++next_;
  } else {
    number = free_.back();
    free_.pop_back();
  }
  pushes_.push_back({number, {reinterpret_cast<std::uintptr_t>(base), bytes}});
  return number;
}

std::uint32_t Registry::newest(const void* base) const {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  for (auto each = pushes_.rbegin(); each != pushes_.rend(); ++each)
    if (each->memory.base == address && removable(each->number)) return each->number;
  std::uint32_t found = no_registration;
  for (std::uint32_t number = 0; number < entries_.size(); ++number)
    if (entries_[number].live && own(number).base == address && removable(number) &&
        (found == no_registration || entries_[number].stamp > entries_[found].stamp))
      found = number;
  return found;
}

bool Registry::is_pushed_now(std::uint32_t number) const {
  return std::any_of(pushes_.begin(), pushes_.end(), [=](const Push& each) { return each.number == number; });
}

bool Registry::is_pushed_now(const void* base) const {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  return std::any_of(pushes_.begin(), pushes_.end(),
                     [=](const Push& each) { return each.memory.base == address; });
}

bool Registry::removable(std::uint32_t number) const {
  return std::find(pops_.begin(), pops_.end(), number) == pops_.end();
}

std::vector<Memory> Registry::pushed() const {
  std::vector<Memory> memories;
  for (const Push& each : pushes_) memories.push_back(each.memory);
  return memories;
}

std::uint32_t Registry::first_null(const std::vector<Memory>& pushed,
                                   const std::vector<std::uint32_t>& excluded) const {
  const auto is_null = [](const Memory& memory) { return memory.base == 0; };
  const auto is_unused = [&](std::uint32_t number) {
    return std::find(excluded.begin(), excluded.end(), number) == excluded.end();
  };
  std::uint32_t found = no_registration;
  for (std::uint32_t number = 0; number < entries_.size(); ++number) {
    const auto first = memories_.begin() + static_cast<std::ptrdiff_t>(number * processes_);
    if (entries_[number].live && is_unused(number) &&
        std::all_of(first, first + static_cast<std::ptrdiff_t>(processes_), is_null) &&
        (found == no_registration || entries_[number].stamp < entries_[found].stamp))
      found = number;
  }
  for (std::size_t k = 0; k < pushes_.size() && found == no_registration; ++k) {
    bool all = is_unused(pushes_[k].number);
    for (std::size_t pid = 0; pid < processes_; ++pid) all = all && is_null(pushed[pid * pushes_.size() + k]);
    if (all) found = pushes_[k].number;
  }
  return found;
}

void Registry::apply(const std::vector<Memory>& pushed, const std::vector<std::uint32_t>& popped) {
  entries_.resize(next_);
  memories_.resize(next_ * processes_);
  for (std::size_t k = 0; k < pushes_.size(); ++k) {
    const std::uint32_t number = pushes_[k].number;
    entries_[number] = {++stamps_, true};
    for (std::size_t pid = 0; pid < processes_; ++pid)
      memories_[number * processes_ + pid] = pushed[pid * pushes_.size() + k];
  }
  for (const std::uint32_t number : popped) {
    entries_[number].live = false;
    free_.push_back(number);
  }
  pushes_.clear();
  pops_.clear();
  index();
}

// Inserts from the oldest to the newest, so that the newest registration of an address remains.
void Registry::index() {
  std::vector<std::uint32_t> live;
  for (std::uint32_t number = 0; number < entries_.size(); ++number)
    if (entries_[number].live && own(number).base != 0) live.push_back(number);
  std::sort(live.begin(), live.end(),
            [this](std::uint32_t a, std::uint32_t b) { return entries_[a].stamp < entries_[b].stamp; });
  table_.assign(std::bit_ceil(2 * live.size() + 1), no_registration);
  for (const std::uint32_t number : live) table_[slot_of(own(number).base)] = number;
  last_base_ = 0;
  last_ = no_registration;
}

// The slot of this address in the table, or the slot where it would be inserted.
std::size_t Registry::slot_of(std::uintptr_t address) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t place = static_cast<std::size_t>((address >> 3) * 0x9e3779b97f4a7c15ULL >> 32) & mask;
  while (table_[place] != no_registration && own(table_[place]).base != address) place = (place + 1) & mask;
  return place;
}

std::uint32_t Registry::look_up(std::uintptr_t address) {
  if (table_.empty()) return no_registration;
  const std::uint32_t found = table_[slot_of(address)];
  if (found != no_registration) {
    last_base_ = address;
    last_ = found;
  }
  return found;
}

}  // namespace hockney::bsp::inline v1
