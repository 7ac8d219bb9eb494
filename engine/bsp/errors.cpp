// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "bsp/errors.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace hockney::bsp::inline v1 {
namespace {

constexpr const char* call_names[] = {"init",  "begin",       "end",     "nprocs", "pid",   "time",
                                      "sync",  "push_reg",    "pop_reg", "put",    "get",   "hpput",
                                      "hpget", "set_tagsize", "send",    "hpsend", "qsize", "get_tag",
                                      "move",  "hpmove",      "abort"};

// Prints the line with a single write, so that lines of several processes do not mix.
void print(const char* what, const Place& place, Call call, const char* format, std::va_list values) {
  std::string line = std::string("hockney-bsp: ") + what + ": ";
  if (place.file) line += std::string(place.file) + ":" + std::to_string(place.line) + ": ";
  line += std::string(place.prefix) + call_names[static_cast<int>(call)];
  if (place.pid >= 0)
    line += ", process " + std::to_string(place.pid) + ", superstep " + std::to_string(place.superstep);
  char text[768];
  std::vsnprintf(text, sizeof text, format, values);
  line += std::string(": ") + text;
  line.erase(line.find_last_not_of('\n') + 1);
  line += '\n';
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

const char* name_of(Call call) {
  return call_names[static_cast<int>(call)];
}

void end_all() {
  std::fflush(nullptr);
  int is_initialized = 0, is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_initialized && !is_finalized) MPI_Abort(MPI_COMM_WORLD, exit_status);
  std::_Exit(exit_status);
}

void fail(const Place& place, Call call, const char* format, std::va_list values) {
  print("error", place, call, format, values);
  end_all();
}

void fail(const Place& place, Call call, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  fail(place, call, format, values);
}

void warn(const Place& place, Call call, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  print("warning", place, call, format, values);
  va_end(values);
}

}  // namespace hockney::bsp::inline v1
