// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
//
// A call of an MPI function, from entry to end, and the decoding of its arguments in each language.
#pragma once

#include <cstddef>
#include <cstdint>

#include "profile/format.hpp"
#include "profile/functions.hpp"

namespace hockney::profile {

struct ThreadState;
struct SiteState;
struct CommunicatorState;

#if defined(__x86_64__)
constexpr int register_arguments = 6;
#elif defined(__aarch64__)
constexpr int register_arguments = 8;
#else
#error "hockney profile has no wrapper for this processor"
#endif

// Located in the frame of hockney_profile_call, which contains the offsets.
struct Call {
  std::uint64_t registers[8];
  const std::uint64_t* stack;  // the other arguments; also the caller's stack pointer
  std::uint64_t return_address;
  std::uint64_t start;  // ticks
  ThreadState* thread;  // nullptr: not recorded
  SiteState* site;
  std::uint64_t result;
  std::uint32_t symbol, words;  // words: of the stack that are passed on
  std::uint32_t waits;          // requests that the call waits for
  Language language;
  const void* memo;      // of a message like earlier ones: a MessageMemo
  const Function* what;  // as called().function says

  // The slot in the frame of hockney_profile_call that contains the return address.
  const std::uint64_t* return_slot() const {
#if defined(__x86_64__)
    return stack - 1;
#else
    return reinterpret_cast<const std::uint64_t*>(this) - 1;
#endif
  }

  const Symbol& called() const { return symbols[symbol]; }
  const Function& function() const { return *what; }
  bool fortran() const { return language != Language::c; }

  std::uint64_t argument(int place) const {
    return place < register_arguments ? registers[place] : stack[place - register_arguments];
  }
  bool has(Parameter which) const { return function().at[which] >= 0; }
  std::uint64_t raw(Parameter which) const { return argument(function().at[which]); }
  void* pointer(Parameter which) const { return reinterpret_cast<void*>(raw(which)); }

  // An int in C, an INTEGER in Fortran.
  int integer(Parameter which) const {
    return fortran() ? *static_cast<const std::int32_t*>(pointer(which))
                     : static_cast<std::int32_t>(raw(which));
  }
  // A count: 64 bits wide in large-count functions, 32 bits otherwise.
  std::int64_t count(Parameter which) const {
    const bool wide = called().large || function().wide(which);
    if (!fortran())
      return wide ? static_cast<std::int64_t>(raw(which)) : static_cast<std::int32_t>(raw(which));
    return wide ? *static_cast<const std::int64_t*>(pointer(which))
                : *static_cast<const std::int32_t*>(pointer(which));
  }
  std::int64_t count(Parameter which, std::int64_t k) const {
    return called().large ? static_cast<const std::int64_t*>(pointer(which))[k]
                          : static_cast<const std::int32_t*>(pointer(which))[k];
  }
  // The value that an argument points to after the call, in all languages.
  int output(Parameter which) const { return *static_cast<const std::int32_t*>(pointer(which)); }

  // The error code, 0 for success.
  int error() const {
    if (function().no_error_code) return 0;
    if (!fortran()) return static_cast<std::int32_t>(result);
    if (function().fortran_error < 0) return 0;
    const auto* const code = reinterpret_cast<const std::int32_t*>(argument(function().fortran_error));
    return code ? *code : 0;  // IERROR is optional in Fortran 2008
  }
};
static_assert(offsetof(Call, stack) == 64 && offsetof(Call, return_address) == 72 &&
              offsetof(Call, thread) == 88);
static_assert(offsetof(Call, result) == 104 && offsetof(Call, words) == 116 && sizeof(Call) == 144);

// What is known about a call after it has ended.
struct Facts {
  std::int64_t bytes = -1;
  Distance distance = Distance::none;
  CommunicatorState* on = nullptr;
  bool miss = false;
  std::uint32_t completed = 0;
};

}  // namespace hockney::profile

extern "C" {
// Returns the function to call; `call->thread` is nullptr if the call is not recorded.
void* hockney_profile_enter(hockney::profile::Call* call, std::uint32_t symbol);
void hockney_profile_leave(hockney::profile::Call* call);
}
