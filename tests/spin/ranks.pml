/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the models of barriers: RANKS processes, and MPI's messages between them.
 *
 * Options (-D):
 *   RANKS=2..5    processes
 *   SYNCHRONOUS   a send completes only when its message is received, as MPI may do with any send; otherwise at once
 *   EAGER         a rank receives messages as they arrive, like flags in shared memory, not only those it waits for
 *   WHO=r         the claim that rank r leaves every episode that it enters, for a search for cycles
 */
#ifndef RANKS
#define RANKS 3
#endif
#if RANKS > 4
#define ROUNDS 3
#elif RANKS > 2
#define ROUNDS 2
#else
#define ROUNDS 1
#endif

/* From rank f to rank t: net[f * RANKS + t]. Messages from one rank to another do not overtake one another. Two are enough
 * for every model here, which each send checks: no rank is more than an episode ahead. */
chan net[RANKS * RANKS] = [2] of { byte };

inline start(to, tag) {
  assert(nfull(net[_pid * RANKS + to]));
  net[_pid * RANKS + to]!tag
}

/* MPI_Wait on a send: its message is the last one in flight, because the next one is only sent afterwards. */
inline finish(to) {
#ifdef SYNCHRONOUS
  empty(net[_pid * RANKS + to])
#else
  skip
#endif
}

/* MPI_ANY_SOURCE, MPI_ANY_TAG: the oldest message of any one rank. */
inline receive_any(tag) {
  if
  :: net[0 * RANKS + _pid]?tag
  :: net[1 * RANKS + _pid]?tag
#if RANKS > 2
  :: net[2 * RANKS + _pid]?tag
#endif
#if RANKS > 3
  :: net[3 * RANKS + _pid]?tag
#endif
#if RANKS > 4
  :: net[4 * RANKS + _pid]?tag
#endif
  fi
}

/* Whether a rank receives a message: while it waits for a flag, or (EAGER) whenever there is one. */
#ifdef EAGER
#define CAME(from) nempty(net[((from) % RANKS) * RANKS + _pid])
#define MAY_RECEIVE(flag) (CAME(0) || CAME(1) || CAME(2) || CAME(3) || CAME(4))
#else
#define MAY_RECEIVE(flag) (flag != sense)
#endif

/* How many episodes each rank has entered, modulo 4, so that the model is finite although its episodes never end. */
byte entered[RANKS];
bool inside[RANKS];

inline enter() {
  atomic {
    entered[_pid] = (entered[_pid] + 1) % 4;
    inside[_pid] = true
  }
}

/* When a rank leaves an episode, every other rank has entered it, and none is further than the next one. */
inline leave() {
  atomic {
    other = 0;
    do
    :: other < RANKS ->
       assert((entered[other] - entered[_pid] + 4) % 4 <= 1);
       other++
    :: else -> break
    od;
    other = 0;
    inside[_pid] = false
  }
}

#ifdef WHO
ltl leaves { [] (inside[WHO] -> <> !inside[WHO]) }
#endif
