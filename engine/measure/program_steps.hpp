// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.hpp"

// The steps of a rank in one iteration of a described program, as written by
// hockney/models/programs/skeleton.py for a number of ranks. Each line contains one step:
//    ranks P                                number of ranks of the program
//    tasks S S ...                          seconds of each task, in this order; each such line is a list
//    rank R                                 start of the steps of this rank
//    part F                                 subsequent steps run in the fraction F of the iterations
//    compute S N                            seconds, with a relative standard deviation N
//    send R B, receive R B                  B bytes to or from rank R: MPI_Send, MPI_Recv
//    exchange R B R B                       MPI_Sendrecv: destination, bytes, source, bytes
//    isend R B, ireceive R B, wait          MPI_Isend, MPI_Irecv; MPI_Waitall for all of them
//    collective NAME B ALGORITHM G C        by all ranks (G = -1, C = 0), or by those with the same colour C
//    in
//                                           the grouping G
//    master L B B, worker L B B             the tasks of list L: bytes to a worker, bytes of a result
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
  int to = -1;                    // destination rank; of a collective the grouping, of tasks the list
  int from = -1;                  // source rank; of a collective the colour
  std::size_t send_bytes = 0;     // bytes
  std::size_t receive_bytes = 0;  // bytes
  double number = 0;              // fraction of a part, or seconds of computation
  double noise = 0;               // relative standard deviation of computation
  std::string operation{};        // collectives only
  std::string algorithm{};
};

struct ProgramSteps {
  std::vector<ProgramStep> steps;
  std::vector<std::vector<double>> tasks;  // one per list, the same on all ranks
};

// Reads a program. Collective: rank 0 reads the file and sends each rank its steps. Throws InvalidCase on all
// ranks if the file cannot be read, is damaged, or describes a different number of ranks.
ProgramSteps read_program(const std::string& path, const Comm& comm);

// Parses one rank's steps. Throws InvalidCase.
ProgramSteps parse_steps(std::string_view common_text, std::string_view rank_text, int ranks);

}  // namespace hockney
