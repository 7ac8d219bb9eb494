// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace hockney::annealing {

// The messages of Fachat and Hoffmann (1998), "the schedule" and "the statistics".

enum Flag : int {
  redistribute = 1,  // redistribute walkers after the schedule's round (plus the lead)
  stop = 2,          // that round (plus the lead) is the last one: an energy is not finite
};

struct Schedule {
  double temperature;
  int steps;  // per walker
  int flag;
};

// Statistics of one rank's walkers at the end of a round.
struct Statistics {
  double energies;  // sum of the energies; NaN if any energy is NaN
  double squares;   // sum of their squares
  double seconds;   // of computation in this round
  double best;      // lowest energy so far
  int accepted;     // moves in this round
};

// MPI datatypes, freed with this object.
class MessageTypes final {
 public:
  MessageTypes();
  ~MessageTypes();
  MessageTypes(const MessageTypes&) = delete;
  MessageTypes& operator=(const MessageTypes&) = delete;

  MPI_Datatype schedule = MPI_DATATYPE_NULL;
  MPI_Datatype statistics = MPI_DATATYPE_NULL;
};

}  // namespace hockney::annealing
