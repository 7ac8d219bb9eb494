// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.hpp"

// What a rank does in one iteration of a described program, as hockney/models/programs/skeleton.py writes it
// for a number of ranks: one step a line.
//
//   ranks P                                of the program
//   tasks S S ...                          seconds of each task, in this order; several such lines are lists
//   rank R                                 the steps of this rank follow
//   part F                                 what follows is executed in the fraction F of the iterations
//   compute S N                            seconds, with a relative standard deviation N
//   send R B, receive R B                  B bytes to or from rank R: MPI_Send, MPI_Recv
//   exchange R B R B                       MPI_Sendrecv: to, bytes, from, bytes
//   isend R B, ireceive R B, wait          MPI_Isend, MPI_Irecv; MPI_Waitall for all of them
//   collective NAME B ALGORITHM G C        by all ranks, or by those with the same colour C in the grouping
//   G;
//                                          -1 0 for all
//   master L B B, worker L B B             the tasks of list L: bytes to a worker, bytes of a result
namespace hockney {

struct ProgramStep {
  enum class Kind {
    part,
    compute,
    send,
    receive,
    exchange,
    isend,
    ireceive,
    wait,
    collective,
    master,
    worker
  };

  Kind kind;
  int to = -1;               // rank; of a collective the grouping, of tasks the list
  int from = -1;             // rank; of a collective the colour
  std::size_t sent = 0;      // bytes
  std::size_t received = 0;  // bytes
  double number = 0;         // of a part its fraction, of computation its seconds
  double noise = 0;          // relative standard deviation of computation
  std::string operation{};   // of a collective
  std::string algorithm{};
};

struct ProgramSteps {
  std::vector<ProgramStep> steps;
  std::vector<std::vector<double>> tasks;  // the lists, the same on all ranks
};

// Collective: rank 0 reads the file and gives each rank its steps. Throws InvalidCase on all ranks if the
// file cannot be read, is damaged, or is for another number of ranks.
ProgramSteps read_program(const std::string& path, const Comm& comm);

// One rank's steps. Throws InvalidCase.
ProgramSteps parse_steps(std::string_view common, std::string_view own, int ranks);

}  // namespace hockney
