// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "app/session.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include "app/lines.hpp"
#include "app/lookup.hpp"
#include "app/stop_file.hpp"
#include "app/teams.hpp"
#include "base/invalid_case.hpp"
#include "base/words.hpp"
#include "comm/environment.hpp"
#include "measure/visit_schedule.hpp"
#include "measure/watchdog.hpp"

namespace hockney {
namespace {

// The front end must receive each line before the next case starts. If nobody reads the results any more, end
// the job.
void print(const Comm& control, const std::string& line) {
  if (!control.root()) return;
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fputc('\n', stdout) == EOF ||
      std::fflush(stdout) != 0) {
    std::fprintf(stderr, "hockney-engine: standard output cannot be written\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

// The plan, read by rank 0 and broadcast. It is a file because Open MPI 5's launcher does not forward the end
// of standard input and repeats parts of long input (github.com/openpmix/prrte/issues/2579).
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

// The folder of the plan, which has the files that it names.
std::string folder_of(const std::string& plan) {
  const std::size_t slash = plan.rfind('/');
  return slash == std::string::npos ? "." : plan.substr(0, slash);
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

// The cases of a launch, in plan order. Rank 0 decides by its clock; the other ranks' clocks only serve their
// watchdogs.
class Cases {
 public:
  Cases(const Options& options, const Comm& control, Teams& teams, Arena& arena,
        const std::vector<std::string>& lines, double ends)
      : options_(options),
        control_(control),
        teams_(teams),
        arena_(arena),
        lines_(lines),
        ends_(ends),
        stop_(options.stop) {}

  // Gives each case a single visit and an equal share of the remaining time. Returns the number of failed
  // cases.
  long one_by_one() {
    long failed = 0;
    for (std::size_t i = 0; i < lines_.size() && time_for(i); ++i) {
      print(control_, start_line(lines_[i], static_cast<long>(i)));
      const StopRule rule = rule_for((ends_ - now()) / static_cast<double>(lines_.size() - i));
      const auto run = guarded(i, rule, [&] { return begin(i, rule, now() + rule.budget_s, true); });
      if (run) print_record(*run, nullptr);
      failed += !run;
    }
    return failed;
  }

  // Visits each case once, in order, then further cases in random order while time remains. Records are
  // printed at the end.
  long in_visits(double budget) {
    const double share_s = std::max(1e-3, budget / static_cast<double>(lines_.size()));
    const auto most_visits = static_cast<int>(options_.visits);
    const StopRule rule = rule_for(share_s);
    VisitSchedule schedule(share_s, most_visits, rule.max_repetitions,
                           static_cast<std::uint64_t>(options_.index));
    std::vector<std::unique_ptr<Running>> running;
    long failed = 0;
    for (std::size_t i = 0; i < lines_.size() && time_for(i); ++i) {
      print(control_, start_line(lines_[i], static_cast<long>(i)));
      const double slice_s = std::max(schedule.slice_s(), Method::first_visit_share * share_s);
      auto run = guarded(
          i, rule, [&] { return begin(i, rule, now() + slice_s, false, schedule.repetitions_in_a_visit()); });
      failed += !run;
      if (!run) continue;
      if (control_.root()) {
        const CaseRun& first = *run->run;
        const Visit& visit = first.result().visits.back();
        schedule.add(visit.seconds, visit.repetitions, first.repetition_s());
      }
      running.push_back(std::move(run));
    }
    print(control_, visiting_line());
    for (;;) {
      int index = control_.root() ? next(schedule) : -1;
      control_.broadcast(index);
      if (index < 0) break;
      visit(*running[static_cast<std::size_t>(index)], index, schedule, rule);
    }
    std::vector<CaseRun*> runs;
    for (const auto& each : running) runs.push_back(each->run ? &*each->run : nullptr);
    if (!runs.empty()) CaseRun::sum_verified(runs, control_);
    for (std::size_t k = 0; k < running.size(); ++k)
      print_record(*running[k], control_.root() ? schedule.reason(static_cast<int>(k)) : nullptr);
    return failed;
  }

 private:
  struct Running {
    Case found;
    std::size_t position;
    double started_s;
    TeamChoice ranks;
    std::optional<CaseRun> run;  // none on a rank that does not take part
  };

  // Collective: whether the case at `position` may begin, by rank 0's clock and unless the launch is to end.
  // The limit always leaves time for the first one.
  bool time_for(std::size_t position) {
    const bool limited = options_.limit_s > 0 && position > 0;
    if (!limited && !stop_.given()) return true;
    bool left = control_.root() && !(limited && now() - began_ >= options_.limit_s) && !stop_.requested();
    control_.broadcast(left);
    return left;
  }

  // On rank 0: the case that is visited next, -1 if none is.
  int next(VisitSchedule& schedule) {
    return stop_.requested() ? -1 : schedule.next(ends_ - now(), fewest()).value_or(-1);
  }

  // On rank 0: the repetitions for which a case is visited although its time is up. With a limit, the launch
  // ends on time instead.
  int fewest() const { return options_.limit_s > 0 && now() >= ends_ ? 0 : Method::fewest_runs; }

  StopRule rule_for(double share_s) const {
    StopRule rule;
    rule.budget_s = std::max(1e-3, share_s);
    rule.precision = options_.precision;
    rule.max_repetitions = static_cast<int>(options_.max_repetitions);
    rule.most_warm_up = static_cast<int>(options_.warm_up);
    if (options_.hang_s > 0) rule.patience_s = options_.hang_s;
    return rule;
  }

  // Looks the case up and makes its first visit.
  std::unique_ptr<Running> begin(std::size_t position, const StopRule& rule, double ends, bool only,
                                 int most_repetitions = 0) {
    Case found = look_up(split_words(lines_[position]), control_.size);
    TeamChoice ranks = teams_.choose(found);
    auto running = std::make_unique<Running>(
        Running{std::move(found), position, date(), std::move(ranks), std::nullopt});
    take_turns(running->ranks, [&](Team& team) {
      running->run.emplace(team.measurer.begin(*running->found.info, running->found.values, rule));
      running->run->visit({ends, only ? rule.max_repetitions : most_repetitions, only});
    });
    return running;
  }

  // Runs `step` on the ranks that take part in a case, while the others sleep. If it throws, all ranks throw.
  template <class Step>
  void take_turns(const TeamChoice& ranks, Step step) {
    std::exception_ptr failure;
    if (ranks.team) {
      arena_.share(ranks.team->ranks_here);
      try {
        step(*ranks.team);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    if (!ranks.whole) {
      watchdog::at(watchdog::waiting);
      if (!ranks.team) control_.await_broadcast();
      bool failed = failure != nullptr;
      control_.broadcast(failed);
      if (failed && !ranks.team) throw InvalidCase("the ranks that take part cannot run the case");
    }
    if (failure) std::rethrow_exception(failure);
  }

  // Runs under the watchdog. A failure that the ranks survive is printed as a line.
  template <class Begin>
  std::unique_ptr<Running> guarded(std::size_t position, const StopRule& rule, Begin begin) {
    const std::string& line = lines_[position];
    watchdog::arm(control_.rank, line, rule.budget_s, options_.hang_s);
    std::unique_ptr<Running> running;
    try {
      running = begin();
    } catch (const InvalidCase& invalid) {
      print(control_, failure_line(options_, line, "refused", invalid.what()));
    } catch (const BrokenWorkload& error) {
      print(control_,
            failure_line(options_, line, "refused", std::string("an error of the engine: ") + error.what()));
    } catch (const OutOfMemory& error) {
      print(control_, failure_line(options_, line, "memory", error.what()));
    }
    watchdog::disarm();
    return running;
  }

  // If the ranks cannot make another visit, the case ends with the results so far.
  void visit(Running& running, int index, VisitSchedule& schedule, const StopRule& rule) {
    watchdog::arm(control_.rank, running.found.line, rule.budget_s, options_.hang_s);
    const int most =
        control_.root() ? std::min(schedule.repetitions_in_a_visit(), schedule.repetitions_left(index)) : 1;
    try {
      take_turns(running.ranks,
                 [&](Team&) { running.run->visit({now() + schedule.slice_s(), most, false, ends_}); });
      if (control_.root()) {
        const CaseRun& run = *running.run;
        const Visit& last = run.result().visits.back();
        schedule.visited(index, last.seconds, last.repetitions, run.repetition_s(), last.preempted > 0,
                         precise(run));
      }
    } catch (const InvalidCase&) {
      schedule.drop(index);
    } catch (const OutOfMemory&) {
      schedule.drop(index);
    }
    watchdog::disarm();
  }

  // Requires enough visits, spread over enough of the launch: a machine's speed may not change within a few
  // seconds.
  bool precise(const CaseRun& run) const {
    const auto visits = static_cast<int>(run.result().visits.size());
    if (visits < Method::fewest_visits_for_precision) return false;
    const std::optional<double> achieved = run.achieved();
    return achieved && *achieved <= options_.precision && 2 * (ends_ - now()) < ends_ - began_;
  }

  void print_record(Running& running, const char* reason) {
    if (!running.run) return;
    const Measurement measurement = running.run->finish(reason);
    print(control_, record_line(options_, running.found.line, static_cast<long>(running.position),
                                running.started_s, Synchroniser::kind_of(running.found.values),
                                options_.precision, running.ranks.where, measurement));
  }

  const Options& options_;
  const Comm& control_;
  Teams& teams_;
  Arena& arena_;
  const std::vector<std::string>& lines_;
  const double ends_;
  StopFile stop_;
  const double began_ = now();
};

class Session {
 public:
  Session(const Options& options, double init_s)
      : options_(options),
        measured_(Comm::duplicate(MPI_COMM_WORLD)),
        control_(Comm::duplicate(MPI_COMM_WORLD)),
        init_s_(init_s) {}

  int run() {
    const std::vector<std::string> lines = plan_lines(options_, control_);
    const ClockCost clock_cost = control_.root() ? measure_clock() : ClockCost{};
    const std::string ranks = gather_ranks(control_);
    Teams teams(measured_, control_, ranks, arena_, options_.index, folder_of(options_.plan), clock_cost);
    print(control_, launch_line(options_, ranks, clock_cost, init_s_));
    const double budget = options_.budget_s > 0 ? options_.budget_s : static_cast<double>(lines.size());
    Cases cases(options_, control_, teams, arena_, lines, now() + budget);
    const long failed = options_.visits > 1 ? cases.in_visits(budget) : cases.one_by_one();
    print(control_, end_line(static_cast<long>(lines.size())));
    return failed == 0 ? 0 : 1;
  }

 private:
  const Options& options_;
  Comm measured_;
  Comm control_;
  Arena arena_{1};
  double init_s_;
};

}  // namespace

int run_session(const Options& options, double init_s) {
  return Session(options, init_s).run();
}

}  // namespace hockney
