// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ensemble/setup.hpp"
#include "measure/parameters.hpp"
#include "measure/workload.hpp"

// Parameters and metrics of the workload `annealing`.
namespace hockney::annealing_workload {

// The instances that come with the library are those of ensemble/instances.
inline constexpr const char* instance_choices =
    "generated|planted|circle|grid|file:PATH|"
    "a280|att48|bayg29|bays29|berlin52|burma14|dantzig42|eil51|eil76|fri26|gr17|gr21|gr24|gr48|hk48|kroA100|"
    "pr1002|st70|swiss42|ulysses16|ulysses22|"
    "bur26a|chr12a|chr15a|els19|esc16a|esc16b|had12|had20|kra30a|lipa20a|nug12|nug15|nug20|nug30|rou12|scr12|"
    "tai12a|tai15a|tai20a";

inline constexpr Parameter parameters[] = {
    {"setup", Kind::choice, "", "original", 0, 0, setup_choices,
     "how the master and the workers communicate"},
    {"problem", Kind::choice, "", "tsp", 0, 0, "tsp|spin_glass|qap",
     "traveling salesman, Edwards-Anderson spin glass, or quadratic assignment"},
    {"size", Kind::integer, "", "100", 2, 1e6, "",
     "of a generated instance: cities (grid: in a row), edge of the lattice, or facilities"},
    {"dimensions", Kind::integer, "", "2", 2, 3, "", "of a spin glass"},
    {"instance", Kind::text, "", "generated", 0, 0, instance_choices,
     "generated from size and instance_seed; planted (spin glass), circle or grid (tours): the same with "
     "a known optimum; one that comes with hockney; or a file of TSPLIB or QAPLIB"},
    {"instance_seed", Kind::integer, "", "1", 0, 1e15, "", "seed of a generated instance"},
    {"walkers", Kind::integer, "", "64", 1, 1e6, "", "copies of the system, over all ranks"},
    {"steps", Kind::integer, "", "1000", 1, 1e9, "", "Metropolis steps of each walker at a temperature"},
    {"temperatures", Kind::integer, "", "50", 1, 1e6, "", "rounds, each at one temperature"},
    {"schedule", Kind::choice, "", "constant_speed", 0, 0, "constant_speed|geometric",
     "how the temperature decreases: at constant thermodynamic speed, or by a constant factor"},
    {"speed", Kind::real, "", "0.1", 1e-9, 1e6, "", "thermodynamic speed, for schedule=constant_speed"},
    {"cooling", Kind::real, "", "0.95", 1e-9, 1, "", "factor between temperatures, for schedule=geometric"},
    {"temperature", Kind::real, "", "0", 0, 1e18, "", "the first one; 0: from samples of the problem"},
    {"lag", Kind::integer, "", "0", 0, 1e6, "",
     "rounds after which a schedule is used, for collective, lagged and persistent; 0: as soon as it "
     "arrives"},
    {"lead", Kind::integer, "", "4", 1, 1e6, "",
     "rounds that a rank may be ahead of its newest schedule, for estimated, and for collective and "
     "persistent without a lag"},
    {"test_every", Kind::integer, "", "0", 0, 1e9, "",
     "steps of a rank between two calls of MPI_Test; 0: only at the end of a round"},
    {"groups", Kind::integer, "", "0", 0, 1e6, "",
     "groups of walkers with separate schedules, for decoupled; 0: one for each rank"},
    {"shares", Kind::text, "", "equal", 0, 0, "equal|N:N:...|uniform:S|normal:S|exponential:S",
     "time of each rank for a step relative to the mean: equal, in proportions (one per rank), or random "
     "with relative spread S"},
    {"balance", Kind::choice, "", "no", 0, 0, "no|yes", "yes: walkers move to faster ranks"},
    {"seed", Kind::integer, "", "1", 0, 1e6, "", "of the first repetition, and of random shares"},
    {"seeds", Kind::integer, "", "1", 1, 1e6, "",
     "different seeds: repetition i has seed + i mod seeds; launches begin with different ones"},
    {"target", Kind::real, "", "0", -1e18, 1e18, "", "energy for the time to target; 0: none"},
    {"step_s", Kind::real, "s", "0", 0, 1e3, "",
     "time of a step on a simulated machine; 0: as in its description, else computing takes no time"},
    {"arithmetic", Kind::choice, "", "real", 0, 0, "real|none",
     "none: steps only take their time, on a simulated machine, with schedule=geometric"},
    hockney::parameters::sync_each,
};

// A part of an annealing's time, or the same part on each rank.
constexpr Metric part_of_time(const char* name, const char* help) {
  return {.name = name,
          .unit = "s",
          .over_ranks = OverRanks::mean,
          .per = Per::repetition,
          .phase = true,
          .help = help};
}
constexpr Metric on_each_rank(const char* name, const char* unit, const char* help) {
  return {.name = name, .unit = unit, .over_ranks = OverRanks::each, .per = Per::repetition, .help = help};
}
constexpr Metric of_run(const char* name, const char* unit, OverRanks over_ranks, const char* help) {
  return {.name = name, .unit = unit, .over_ranks = over_ranks, .per = Per::repetition, .help = help};
}
constexpr Metric of_round(const char* name, const char* unit, const char* help) {
  return {.name = name, .unit = unit, .over_ranks = OverRanks::root, .per = Per::superstep, .help = help};
}

inline constexpr Metric metrics[] = {
    part_of_time("computation", "steps of the walkers, and the schedule"),
    part_of_time("posting", "starting communication that does not block"),
    part_of_time("testing", "in MPI_Test, during the steps"),
    part_of_time("waiting", "for the schedule or the statistics, blocking communication included"),
    part_of_time("balancing", "moving walkers between ranks"),
    on_each_rank("rank_computation", "s", "computation of each rank"),
    on_each_rank("rank_posting", "s", "posting of each rank"),
    on_each_rank("rank_testing", "s", "testing of each rank"),
    on_each_rank("rank_waiting", "s", "waiting of each rank"),
    on_each_rank("rank_balancing", "s", "balancing of each rank"),
    on_each_rank("rank_elapsed", "s", "from the beginning to the end, on each rank"),
    on_each_rank("rank_steps", "", "steps of all walkers of each rank"),
    of_run("run_seed", "", OverRanks::root, "seed of the repetition"),
    of_run("best_energy", "", OverRanks::min, "the lowest energy found"),
    of_run("mean_energy", "", OverRanks::root, "of all walkers at the end"),
    of_run("accepted", "", OverRanks::sum, "accepted moves"),
    of_run("total_steps", "", OverRanks::sum, "steps of all walkers"),
    of_run("estimated_rounds", "", OverRanks::mean,
           "share of the rounds on the rank's own estimate of the schedule"),
    of_run("moved_walkers", "", OverRanks::sum, "walkers that moved to another rank"),
    of_run("target_time", "s", OverRanks::root,
           "until a rank found the target energy; -1: none did, or there is none"),
    of_round("round_end", "s", "end of each round on the master, since the beginning, in the last run"),
    {.name = "round_made",
     .unit = "s",
     .over_ranks = OverRanks::mean,
     .per = Per::superstep,
     .help = "when the steps of each round were made, since the beginning, in the last run"},
    of_round("round_best", "", "lowest energy that the master knows at the end of each round"),
    of_round("round_temperature", "", "temperature of each round on the master"),
    of_round("round_mean", "", "mean energy that the master knows at the end of each round"),
    of_round("round_steps", "", "steps of all ranks until the end of each round"),
};

}  // namespace hockney::annealing_workload
