// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "app/session.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "app/lines.hpp"
#include "app/lookup.hpp"
#include "base/invalid_case.hpp"
#include "base/words.hpp"
#include "comm/environment.hpp"
#include "measure/watchdog.hpp"

namespace hockney {
namespace {

// A line reaches the front end before the next case starts, or
// the job ends: results without a reader are lost.
void print(const Comm& control, const std::string& line) {
  if (!control.root()) return;
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fputc('\n', stdout) == EOF ||
      std::fflush(stdout) != 0) {
    std::fprintf(stderr, "hockney-engine: standard output cannot be written\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

// The plan on every rank, as rank 0 reads it. From a file, because Open MPI 5's launcher does not pass on the
// end of standard input and repeats parts of a long one (github.com/openpmix/prrte/issues/2579).
std::string read_plan(const std::string& path, const Comm& control) {
  std::string text;
  if (control.root() && path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else if (control.root()) {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.is_open() || file.bad()) {
      std::fprintf(stderr, "hockney-engine: plan '%s' cannot be read\n", path.c_str());
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  std::size_t size = text.size();
  control.broadcast(size);
  text.resize(size);
  control.broadcast(text.data(), size);
  return text;
}

std::vector<std::string> plan_lines(const Options& options, const Comm& control) {
  std::vector<std::string> lines;
  if (options.task == Options::Task::one_case) {
    std::string line;
    for (const std::string& word : options.case_words) line += (line.empty() ? "" : " ") + word;
    lines.push_back(line);
    return lines;
  }
  const std::string text = read_plan(options.plan, control);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (!split_words(line).empty() && line.front() != '#') lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

class Session {
 public:
  Session(const Options& options, double init_s)
      : options_(options),
        measured_(Comm::duplicate(MPI_COMM_WORLD)),
        control_(Comm::duplicate(MPI_COMM_WORLD)),
        arena_(ranks_on_this_host(control_)),
        init_s_(init_s) {}
  ~Session() {
    measured_.release();
    control_.release();
  }

  int run() {
    const std::vector<std::string> lines = plan_lines(options_, control_);
    const ClockCost clock_cost = control_.root() ? measure_clock() : ClockCost{};
    Measurer measurer({measured_, arena_}, control_, clock_cost);
    print(control_, launch_line(options_, control_, clock_cost, init_s_));
    const double budget = options_.budget_s > 0 ? options_.budget_s : static_cast<double>(lines.size());
    const double ends = now() + budget;
    long failed = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      print(control_, start_line(lines[i], static_cast<long>(i)));
      // What is left, shared equally among what is left. Rank 0
      // decides by its own; the others' serve their watchdog.
      StopRule rule;
      rule.budget_s = std::max(1e-3, (ends - now()) / static_cast<double>(lines.size() - i));
      rule.precision = options_.precision;
      rule.max_repetitions = static_cast<int>(options_.max_repetitions);
      rule.most_warm_up = static_cast<int>(options_.warm_up);
      if (options_.hang_s > 0) rule.patience_s = options_.hang_s;
      watchdog::arm(control_.rank, lines[i], rule.budget_s, options_.hang_s);
      if (!run_case(measurer, lines[i], static_cast<long>(i), rule)) ++failed;
      watchdog::disarm();
    }
    print(control_, end_line(static_cast<long>(lines.size())));
    return failed == 0 ? 0 : 1;
  }

 private:
  bool run_case(Measurer& measurer, const std::string& line, long position, const StopRule& rule) {
    try {
      const Case candidate = look_up(split_words(line), control_.size);
      const double started_s = date();
      const Measurement measurement = measurer.measure(*candidate.info, candidate.values, rule, now());
      print(control_, record_line(options_, candidate.line, position, started_s,
                                  Synchroniser::kind_of(candidate.values), rule.precision, measurement));
      return true;
    } catch (const InvalidCase& invalid) {
      print(control_, failure_line(options_, line, "refused", invalid.what()));
    } catch (const BrokenWorkload& error) {
      print(control_,
            failure_line(options_, line, "refused", std::string("an error of the engine: ") + error.what()));
    } catch (const OutOfMemory& error) {
      print(control_, failure_line(options_, line, "memory", error.what()));
    }
    return false;
  }

  const Options& options_;
  Comm measured_;
  Comm control_;
  Arena arena_;
  double init_s_;
};

}  // namespace

int run_session(const Options& options, double init_s) {
  return Session(options, init_s).run();
}

}  // namespace hockney
