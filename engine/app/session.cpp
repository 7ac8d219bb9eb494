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

// Returns the plan, which rank 0 reads and broadcasts. The plan is a file because Open MPI 5's launcher does
// not forward the end of standard input and repeats parts of long input
// (github.com/openpmix/prrte/issues/2579).
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

// The plan's folder, which contains the files that the plan names.
std::string parent_folder(const std::string& plan) {
  const std::size_t slash = plan.rfind('/');
  return slash == std::string::npos ? "." : plan.substr(0, slash);
}

std::vector<std::string> plan_lines(const Options& options, const Comm& control) {
  std::vector<std::string> lines;
  if (options.task == Options::Task::single_case) {
    std::string line;
    for (const std::string& word : options.case_arguments) line += (line.empty() ? "" : " ") + word;
    lines.push_back(line);
    return lines;
  }
  const std::string text = read_plan(options.plan, control);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    if (!split_words(line).empty() && line.front() != '#') lines.push_back(line);
    start = end + 1;
  }
  return lines;
}

// The cases of a launch, in plan order. Rank 0 decides by its clock; other ranks' clocks are only used by
// their watchdogs.
class Cases {
 public:
  Cases(const Options& options, const Comm& control, Teams& teams, Arena& arena,
        const std::vector<std::string>& lines, double deadline)
      : options_(options),
        control_(control),
        teams_(teams),
        arena_(arena),
        lines_(lines),
        deadline_(deadline),
        stop_(options.stop) {}

  // Measures each case in a single visit, with equal shares of the remaining time. Returns the number of
  // failed cases.
  long run_one_by_one() {
    long failures = 0;
    for (std::size_t i = 0; i < lines_.size() && has_time_for(i); ++i) {
      print(control_, start_line(lines_[i], static_cast<long>(i)));
      const StopRule rule = make_rule((deadline_ - now()) / static_cast<double>(lines_.size() - i));
      const auto run = run_guarded(i, rule, [&] { return begin(i, rule, now() + rule.budget_s, true); });
      if (run) print_record(*run, nullptr);
      failures += !run;
    }
    return failures;
  }

  // Visits each case once, in order, then visits cases in random order while time remains. Records are
  // printed at the end.
  long run_in_visits(double budget) {
    const double share_s = std::max(1e-3, budget / static_cast<double>(lines_.size()));
    const auto max_visits = static_cast<int>(options_.visits);
    const StopRule rule = make_rule(share_s);
    VisitSchedule schedule(share_s, max_visits, rule.max_repetitions,
                           static_cast<std::uint64_t>(options_.index));
    std::vector<std::unique_ptr<ActiveCase>> active_cases;
    long failures = 0;
    for (std::size_t i = 0; i < lines_.size() && has_time_for(i); ++i) {
      print(control_, start_line(lines_[i], static_cast<long>(i)));
      const double slice_s = std::max(schedule.slice_s(), Method::first_visit_share * share_s);
      auto run = run_guarded(
          i, rule, [&] { return begin(i, rule, now() + slice_s, false, schedule.repetitions_per_visit()); });
      failures += !run;
      if (!run) continue;
      if (control_.root()) {
        const CaseRun& first = *run->run;
        const Visit& visit = first.result().visits.back();
        schedule.add(visit.seconds, visit.repetitions, first.repetition_s());
      }
      active_cases.push_back(std::move(run));
    }
    print(control_, visiting_line());
    for (;;) {
      int index = control_.root() ? next(schedule) : -1;
      control_.broadcast(index);
      if (index < 0) break;
      visit(*active_cases[static_cast<std::size_t>(index)], index, schedule, rule);
    }
    std::vector<CaseRun*> runs;
    for (const auto& active : active_cases) runs.push_back(active->run ? &*active->run : nullptr);
    if (!runs.empty()) CaseRun::sum_verified(runs, control_);
    for (std::size_t k = 0; k < active_cases.size(); ++k)
      print_record(*active_cases[k], control_.root() ? schedule.reason(static_cast<int>(k)) : nullptr);
    return failures;
  }

 private:
  struct ActiveCase {
    Case request;
    std::size_t position;
    double started_s;
    TeamSelection ranks;
    std::optional<CaseRun> run;  // empty on a rank that does not take part
  };

  // Whether the case at `position` may begin, by rank 0's clock, and unless the launch was asked to end.
  // Collective. The limit always leaves time for the first case.
  bool has_time_for(std::size_t position) {
    const bool limited = options_.limit_s > 0 && position > 0;
    if (!limited && !stop_.parameters_()) return true;
    bool has_time =
        control_.root() && !(limited && now() - start_s_ >= options_.limit_s) && !stop_.is_requested();
    control_.broadcast(has_time);
    return has_time;
  }

  // On rank 0: the case to visit next, or -1 if there is none.
  int next(VisitSchedule& schedule) {
    return stop_.is_requested() ? -1 : schedule.next(deadline_ - now(), min_repetitions()).value_or(-1);
  }

  // On rank 0: the number of repetitions that a case gets even if its time is up. With a time limit, the
  // launch ends on time instead.
  int min_repetitions() const { return options_.limit_s > 0 && now() >= deadline_ ? 0 : Method::min_runs; }

  StopRule make_rule(double share_s) const {
    StopRule rule;
    rule.budget_s = std::max(1e-3, share_s);
    rule.precision = options_.precision;
    rule.max_repetitions = static_cast<int>(options_.max_repetitions);
    rule.max_warm_up = static_cast<int>(options_.warm_up);
    if (options_.hang_s > 0) rule.patience_s = options_.hang_s;
    return rule;
  }

  // Looks up the case and makes its first visit.
  std::unique_ptr<ActiveCase> begin(std::size_t position, const StopRule& rule, double deadline, bool only,
                                    int max_repetitions = 0) {
    Case request = look_up(split_words(lines_[position]), control_.size);
    TeamSelection ranks = teams_.choose(request);
    auto active_case = std::make_unique<ActiveCase>(
        ActiveCase{std::move(request), position, date(), std::move(ranks), std::nullopt});
    run_on_team(active_case->ranks, [&](Team& team) {
      active_case->run.emplace(
          team.measurer.begin(*active_case->request.info, active_case->request.values, rule));
      active_case->run->visit({deadline, only ? rule.max_repetitions : max_repetitions, only});
    });
    return active_case;
  }

  // Runs `step` on the ranks that take part in a case, while the other ranks sleep. If `step` throws, all
  // ranks throw.
  template <class Step>
  void run_on_team(const TeamSelection& ranks, Step step) {
    std::exception_ptr failure;
    if (ranks.team) {
      arena_.share(ranks.team->ranks_on_host);
      try {
        step(*ranks.team);
      } catch (...) {
        failure = std::current_exception();
      }
    }
    if (!ranks.is_whole_launch) {
      watchdog::set_phase(watchdog::waiting);
      if (!ranks.team) control_.await_broadcast();
      bool failures = failure != nullptr;
      control_.broadcast(failures);
      if (failures && !ranks.team) throw InvalidCase("the ranks that take part cannot run the case");
    }
    if (failure) std::rethrow_exception(failure);
  }

  // Runs `begin` under the watchdog. Prints a failure as a line if the ranks survive it.
  template <class Begin>
  std::unique_ptr<ActiveCase> run_guarded(std::size_t position, const StopRule& rule, Begin begin) {
    const std::string& line = lines_[position];
    watchdog::arm(control_.rank, line, rule.budget_s, options_.hang_s);
    std::unique_ptr<ActiveCase> active_case;
    try {
      active_case = begin();
    } catch (const InvalidCase& invalid) {
      print(control_, failure_line(options_, line, "refused", invalid.what()));
    } catch (const BrokenWorkload& error) {
      print(control_,
            failure_line(options_, line, "refused", std::string("an error of the engine: ") + error.what()));
    } catch (const OutOfMemory& error) {
      print(control_, failure_line(options_, line, "memory", error.what()));
    }
    watchdog::disarm();
    return active_case;
  }

  // If the ranks cannot make another visit, the case ends with the results so far.
  void visit(ActiveCase& active_case, int index, VisitSchedule& schedule, const StopRule& rule) {
    watchdog::arm(control_.rank, active_case.request.line, rule.budget_s, options_.hang_s);
    const int max_repetitions =
        control_.root() ? std::min(schedule.repetitions_per_visit(), schedule.remaining_repetitions(index))
                        : 1;
    try {
      run_on_team(active_case.ranks, [&](Team&) {
        active_case.run->visit({now() + schedule.slice_s(), max_repetitions, false, deadline_});
      });
      if (control_.root()) {
        const CaseRun& run = *active_case.run;
        const Visit& last = run.result().visits.back();
        schedule.record_visit(index, last.seconds, last.repetitions, run.repetition_s(), last.preemptions > 0,
                              precise(active_case));
      }
    } catch (const InvalidCase&) {
      schedule.drop(index);
    } catch (const OutOfMemory&) {
      schedule.drop(index);
    }
    watchdog::disarm();
  }

  // Whether the case is precise, which also requires enough visits over enough of the launch: a machine's
  // speed may not change within a few seconds.
  bool precise(const ActiveCase& active_case) const {
    if (active_case.request.info->shows_distribution) return false;
    const CaseRun& run = *active_case.run;
    const auto visits = static_cast<int>(run.result().visits.size());
    if (visits < Method::min_visits_for_precision) return false;
    const std::optional<double> achieved_precision = run.achieved_precision();
    return achieved_precision && *achieved_precision <= options_.precision &&
           2 * (deadline_ - now()) < deadline_ - start_s_;
  }

  void print_record(ActiveCase& active_case, const char* reason) {
    if (!active_case.run) return;
    const Measurement measurement = active_case.run->finish(reason);
    print(control_, record_line(options_, active_case.request.line, static_cast<long>(active_case.position),
                                active_case.started_s, Synchroniser::kind_of(active_case.request.values),
                                options_.precision, active_case.ranks.where, measurement));
  }

  const Options& options_;
  const Comm& control_;
  Teams& teams_;
  Arena& arena_;
  const std::vector<std::string>& lines_;
  const double deadline_;
  StopFile stop_;
  const double start_s_ = now();
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
    Teams teams(measured_, control_, ranks, arena_, options_.index, parent_folder(options_.plan),
                static_cast<std::uint64_t>(options_.seed), clock_cost);
    print(control_, launch_line(options_, ranks, clock_cost, init_s_));
    const double budget = options_.budget_s > 0 ? options_.budget_s : static_cast<double>(lines.size());
    Cases cases(options_, control_, teams, arena_, lines, now() + budget);
    const long failures = options_.visits > 1 ? cases.run_in_visits(budget) : cases.run_one_by_one();
    print(control_, end_line(static_cast<long>(lines.size())));
    return failures == 0 ? 0 : 1;
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
