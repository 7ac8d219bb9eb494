// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "app/options.hpp"

#include "base/invalid_case.hpp"
#include "base/words.hpp"

namespace hockney {
namespace {

double parse_positive(const std::string& text, const char* noun) {
  const double value = to_real(text, noun);
  if (value <= 0 || value > 1e9) throw InvalidCase(std::string(noun) + "=" + text + " is out of range");
  return value;
}

long parse_integer(const std::string& text, const char* noun, long low, long high) {
  const auto value = static_cast<long>(to_integer(text, noun));
  if (value < low || value > high) throw InvalidCase(std::string(noun) + "=" + text + " is out of range");
  return value;
}

void set_option(Options& options, const std::string& name, const std::string& value) {
  if (name == "--plan") {
    options.plan = value;
    options.task = Options::Task::plan;
  } else if (name == "--launch") {
    options.launch = value;
  } else if (name == "--index") {
    options.index = parse_integer(value, "index", 0, 1000000000);
  } else if (name == "--seed") {
    options.seed = static_cast<long>(to_integer(value, "seed"));
  } else if (name == "--origin") {
    options.origin = value;
  } else if (name == "--budget") {
    options.budget_s = parse_positive(value, "budget");
  } else if (name == "--limit") {
    options.limit_s = to_real(value, "limit");
    if (options.limit_s < 0 || options.limit_s > 1e9)
      throw InvalidCase("limit=" + value + " is out of range");
  } else if (name == "--stop") {
    options.stop = value;
  } else if (name == "--precision") {
    options.precision = parse_positive(value, "precision");
  } else if (name == "--max-repetitions") {
    options.max_repetitions = parse_integer(value, "max-repetitions", 1, 100000000);
  } else if (name == "--visits") {
    options.visits = parse_integer(value, "visits", 1, 1000000);
  } else if (name == "--warm-up") {
    options.warm_up = parse_integer(value, "warm-up", 0, 100000000);
  } else if (name == "--hang") {
    options.hang_s = to_real(value, "hang");
    if (options.hang_s > 1e9) throw InvalidCase("hang=" + value + " is out of range");
  } else if (name == "--waits") {
    if (value != "busy" && value != "asleep") throw InvalidCase("waits=" + value + ", not busy or asleep");
    options.asleep = value == "asleep";
  } else {
    throw InvalidCase("unknown option '" + name + "'");
  }
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--help" || word == "-h") return Options{};
    if (word == "--catalog") {
      options.task = Options::Task::catalog;
    } else if (word == "--hello") {
      options.task = Options::Task::hello;
    } else if (word.starts_with("--")) {
      if (i + 1 == arguments.size()) throw InvalidCase("option '" + word + "' requires a value");
      set_option(options, word, arguments[++i]);
    } else {
      options.task = Options::Task::single_case;
      options.case_arguments.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    }
  }
  return options;
}

const char* help_text() {
  return "usage: mpiexec -n RANKS hockney-engine [OPTIONS] WORKLOAD NAME=VALUE ...\n"
         "       mpiexec -n RANKS hockney-engine [OPTIONS] --plan FILE\n"
         "       hockney-engine --catalog | mpiexec -n RANKS hockney-engine --hello\n"
         "\n"
         "Measures cases of message passing and prints one JSON object per line. Sizes in bytes, times in "
         "seconds.\n"
         "\n"
         "  --plan FILE            run the cases in FILE, one per line, in order ('-': standard input)\n"
         "  --budget S             seconds for all cases together (default: 1 for each)\n"
         "  --limit S              seconds after which no case begins (default: every case begins)\n"
         "  --stop FILE            end after the running visit once FILE, which rank 0 reads, is not empty\n"
         "  --precision F          target half width of the median's 95% interval, relative (0.02)\n"
         "  --max-repetitions N    maximum repetitions per case (20000)\n"
         "  --visits N             maximum visits per case, in random order over the launch (1)\n"
         "  --warm-up N            maximum repetitions before the times have settled (320; 0: none)\n"
         "  --hang S               seconds beyond its time after which a case is reported as hung (60; 0: "
         "never)\n"
         "  --waits asleep         waiting for a moment and computing for a preset time do not use the "
         "processor "
         "(busy)\n"
         "  --seed N               random choices, such as pairings, differ with N and --index (0)\n"
         "  --launch ID --index N --origin WORD    copied into the lines printed\n"
         "\n"
         "example: mpiexec -n 2 hockney-engine pingpong bytes=8\n";
}

}  // namespace hockney
