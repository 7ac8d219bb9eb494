// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hockney {

// The engine's command line, specified in contract/README.md.
struct Options {
  enum class Task { help, catalog, hello, plan, single_case };

  Task task = Task::help;
  std::vector<std::string> case_arguments;
  std::string plan = "-";  // a file that rank 0 reads, or '-' for its standard input
  std::string launch = "0";
  long index = 0;
  long seed = 0;  // of random choices, together with the index
  std::string origin = "measured";
  double budget_s = 0;  // for the whole launch; 0: one second per case
  double limit_s = 0;   // time after which no case begins; 0: unlimited
  std::string stop;     // a file; once it is not empty, the launch ends after the current visit
  double precision = 0.02;
  long max_repetitions = 20000;
  long visits = 1;     // maximum per case
  long warm_up = 320;  // maximum number of repetitions
  double hang_s = 60;
  bool asleep = false;  // whether ranks sleep while they wait for a moment or compute
};

// Throws InvalidCase.
Options parse_options(const std::vector<std::string>& arguments);

const char* help_text();

}  // namespace hockney
