// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdarg>
#include <cstdint>

namespace hockney::bsp::inline v1 {

// Calls named in errors.
enum class Call : unsigned char {
  init,
  begin,
  end,
  nprocs,
  pid,
  time,
  sync,
  push_reg,
  pop_reg,
  put,
  get,
  hpput,
  hpget,
  set_tagsize,
  send,
  hpsend,
  qsize,
  get_tag,
  move,
  hpmove,
  abort,
};

// The location of an error: the prefix is empty for the C++ interface, the file is null if unknown, and the
// pid is negative outside bsp_begin and bsp_end.
struct Place {
  const char* prefix = "";
  const char* file = nullptr;
  int line = 0;
  int pid = -1;
  std::uint64_t superstep = 0;
};

// Print an error on stderr, as a line that begins with "hockney-bsp:"; fail() then ends all processes of
// MPI_COMM_WORLD with exit_status.
[[noreturn]] void fail(const Place& place, Call call, const char* format, std::va_list values);
[[noreturn, gnu::format(printf, 3, 4)]] void fail(const Place& place, Call call, const char* format, ...);
[[gnu::format(printf, 3, 4)]] void warn(const Place& place, Call call, const char* format, ...);

const char* name_of(Call call);

// Ends all processes, or only this one before MPI_Init and after MPI_Finalize.
[[noreturn]] void end_all();

inline constexpr int exit_status = 6;

}  // namespace hockney::bsp::inline v1
