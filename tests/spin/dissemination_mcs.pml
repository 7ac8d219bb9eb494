/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * engine/sync/dissemination_mcs.cpp, statement by statement; the margin has its C++, word for word.
 *
 * Deliberate errors: with -DSAME_SENSE sense never changes; with -DNO_PARITY one set of flags serves all episodes, and
 * sense changes with each of them. The latter is an error with -DEAGER, where a message of the next episode may undo a
 * flag that its rank has not read yet (with 2 or 4 ranks: with 3 no rank is that early); messages that wait in MPI undo
 * nothing.
 */
#include "ranks.pml"

#define FLAG(parity, round) flags[(parity) * ROUNDS + (round)]
#define TAG (round * 4 + parity * 2 + sense)            /* round * 4 + parity_ * 2 + (sense_ ? 1 : 0) */

active [RANKS] proctype rank() {
  bool flags[2 * ROUNDS];                               /* flags_{}; */
  bit parity = 0;                                       /* parity_ = 0; */
  bit sense = 1;                                        /* sense_ = true; */
  byte step, round, tag, other;

  do
  :: enter();                                           /* void wait() override { */
     atomic { step = 1; round = 0 };                    /*   for (int step = 1, round = 0; */
     do
     :: step < RANKS ->                                 /*        step < size; */
        start((_pid + step) % RANKS, TAG);              /*     send = signals_.start((signals_.rank() + step) % size, tag(round)); */
        do                                              /*     while (flags_[parity_][round] != sense_) */
        :: MAY_RECEIVE(FLAG(parity, round)) ->
           receive_any(tag);                            /*       keep(signals_.receive_any()); */
           atomic { FLAG((tag / 2) % 2, tag / 4) = tag % 2; tag = 0 }
                                                        /* flags_[tag / 2 % 2][tag / 4] = tag % 2 == 1; */
        :: FLAG(parity, round) == sense -> break
        od;
        finish((_pid + step) % RANKS);                  /*     signals_.finish(send); */
        atomic { step = step << 1; round++ }            /*        step <<= 1, ++round) { */
     :: else -> break
     od;
     atomic {
#ifdef NO_PARITY
       sense = !sense;
#else
#ifndef SAME_SENSE
       if
       :: parity == 1 -> sense = !sense                 /*   if (parity_ == 1) sense_ = !sense_; */
       :: else
       fi;
#endif
       parity = 1 - parity;                             /*   parity_ = 1 - parity_; */
#endif
       step = 0; round = 0
     };
     leave()                                            /* } */
  od
}
