// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "app/heap.hpp"
#include "app/lines.hpp"
#include "app/lookup.hpp"
#include "app/options.hpp"
#include "app/session.hpp"
#include "base/clock.hpp"
#include "base/invalid_case.hpp"
#include "base/waits.hpp"
#include "measure/workload.hpp"

namespace {

// Timed with the system clock, because no MPI clock runs before MPI_Init.
double init_mpi(int& argc, char**& argv) {
  const double before = hockney::date();
  int provided = MPI_THREAD_SINGLE;  // a workload must cope with a lower level than it needs
  if (hockney::thread_level == MPI_THREAD_SINGLE)
    MPI_Init(&argc, &argv);
  else
    MPI_Init_thread(&argc, &argv, hockney::thread_level, &provided);
  return hockney::date() - before;
}

void say_hello() {
  // A single write, so that the lines of several ranks do not mix.
  const std::string line = hockney::hello_line(hockney::Comm::view(MPI_COMM_WORLD)) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  using hockney::Options;
  Options options;
  try {
    options = hockney::parse_options({argv + 1, argv + argc});
  } catch (const hockney::InvalidCase& invalid) {
    std::fprintf(stderr, "hockney-engine: %s; --help shows how\n", invalid.what());
    return 2;
  }
  if (options.task == Options::Task::help) {
    std::fputs(hockney::help_text(), stdout);
    return 0;
  }
  if (options.task == Options::Task::catalog) {
    std::puts(hockney::catalog().c_str());
    return 0;
  }
  hockney::keep_freed_memory();
  if (options.asleep && !hockney::sleep_in_waits()) {
    std::fputs("hockney-engine: libhockney-waiting.so was not loaded, so MPI would poll\n", stderr);
    return 3;
  }
  const double init_s = init_mpi(argc, argv);
  int code = 0;
  if (options.task == Options::Task::hello)
    say_hello();
  else
    code = hockney::run_session(options, init_s);
  MPI_Finalize();
  return code;
}
