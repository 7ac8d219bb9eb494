/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * engine/sync/tournament_mcs.cpp, statement by statement; the margin has its C++, word for word.
 *
 * Deliberate errors: with -DSAME_SENSE sense never changes; with -DNO_WAKE_UP losers do not wait for their winner. With
 * -DNO_PARITY one set of flags serves all episodes, and sense changes with each of them: that is correct even with
 * -DEAGER, since in a tournament no rank signals in an episode before it was released from the previous one.
 */
#include "ranks.pml"

#define ARRIVED 0
#define AWAKE 1
#define FLAG(parity, kind, round) flags[((parity) * 2 + (kind)) * ROUNDS + (round)]
#define TAG(kind) (((round * 2 + kind) * 2 + parity) * 2 + sense)
                                                        /* ((round * 2 + kind) * 2 + parity_) * 2 + (sense_ ? 1 : 0) */
inline until(kind) {                                    /* void wait_for_flag(int kind, int round) { */
  do                                                    /*   while (flags_[parity_][kind][round] != sense_) */
  :: MAY_RECEIVE(FLAG(parity, kind, round)) ->
     receive_any(tag);                                  /*     keep(signals_.receive_any()); */
     atomic { FLAG((tag / 2) % 2, (tag / 4) % 2, tag / 8) = tag % 2; tag = 0 }
                                                        /* flags_[tag / 2 % 2][tag / 4 % 2][tag / 8] = tag % 2 == 1; */
  :: FLAG(parity, kind, round) == sense -> break
  od
}

/* Signals::send is MPI_Send, or MPI_Isend and its completion. */
inline send(to, tag) {
  start(to, tag);
  finish(to)
}

active [RANKS] proctype rank() {
  bool flags[4 * ROUNDS];                               /* flags_{}; */
  bit parity = 0;                                       /* parity_ = 0; */
  bit sense = 1;                                        /* sense_ = true; */
  byte step, round, tag, other;

  do
  :: enter();                                           /* void wait() override { */
     atomic { step = 1; round = 0 };                    /*   int step = 1, round = 0; */
     do
     :: step < RANKS && !(_pid & step) ->               /*   for (; step < size && !(rank & step); */
        if
        :: _pid + step < RANKS -> until(ARRIVED)        /*     if (rank + step < size) wait_for_flag(arrived, round); */
        :: else
        fi;
        atomic { step = step << 1; round++ }            /*        step <<= 1, ++round) */
     :: else -> break
     od;
     if
     :: step < RANKS ->                                 /*   if (step < size) { */
        send(_pid - step, TAG(ARRIVED));                /*     signals_.send(rank - step, tag(arrived, round)); */
#ifndef NO_WAKE_UP
        until(AWAKE)                                    /*     wait_for_flag(awake, round); */
#endif
     :: else
     fi;
     do
     :: step > 1 ->                                     /*   while (step >>= 1) { */
        atomic { step = step >> 1; round-- };           /*     --round; */
        if
        :: _pid + step < RANKS ->                       /*     if (rank + step < size) */
           send(_pid + step, TAG(AWAKE))                /*       signals_.send(rank + step, tag(awake, round)); */
        :: else
        fi
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
