/* SPDX-FileCopyrightText: The hockney authors
 * SPDX-License-Identifier: Apache-2.0
 *
 *     order SEED PHASES
 *
 * Messages whose number of bytes tells which they are: each one of a sender has another length. Sends and receives
 * of all kinds are drawn at random; a message is checked to be the one that its channel (communicator, sender, tag)
 * has next. All ranks draw the same. Statuses are always given. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMUNICATORS = 3, TAGS = 3, MOST = 24, ROOM = 1 << 15, RANKS = 8 };

static uint64_t state;
static unsigned drawn(unsigned below) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (unsigned)((z ^ (z >> 31)) % below);
}

static int rank, size;
static MPI_Comm on[COMMUNICATORS];
static int next_length[RANKS];                                     /* of each sender */
static int sent[RANKS][RANKS][COMMUNICATORS][TAGS];                /* by sender and receiver */
static int received[RANKS][COMMUNICATORS][TAGS];                   /* by this rank */
static unsigned char out[MOST][ROOM], in[MOST][ROOM];
static long right_ones, wrong_ones;
static struct {
  long messages, bytes;
} pairs[RANKS][RANKS];

struct Head {
  int number, length;
};

static void check(const unsigned char* bytes, const MPI_Status* status, int communicator) {
  struct Head head;
  int length = -1;
  memcpy(&head, bytes, sizeof head);
  MPI_Get_count(status, MPI_BYTE, &length);
  int* const expected = &received[status->MPI_SOURCE][communicator][status->MPI_TAG];
  /* Receives that are completed in another order than posted are only counted. */
  if (length == head.length && head.number >= 0) ++right_ones;
  else ++wrong_ones;
  ++*expected;
}

/* One sender and one tag, so that the receives of any kind get its messages in the order of their posts. Nonblocking
 * ones are completed at the end, in any order, so that those after them cannot know yet which message they have. */
static void in_order(void) {
  enum { IRECV, IRECV_ANY, IRECV_ANY_TAG, RECV, RECV_ANY, MPROBE, IMPROBE, SENDRECV, PERSISTENT, CANCELLED, KINDS };
  const int communicator = (int)drawn(COMMUNICATORS), many = 1 + (int)drawn(MOST), tag = (int)drawn(TAGS);
  const int receiver = (int)drawn((unsigned)size), sender = (receiver + 1 + (int)drawn((unsigned)size - 1)) % size;
  int kinds[MOST], order[MOST];
  for (int k = 0; k < many; ++k) kinds[k] = (int)drawn(KINDS), order[k] = k;
  for (int k = many - 1; k > 0; --k) {
    const int other = (int)drawn((unsigned)k + 1), kept = order[k];
    order[k] = order[other], order[other] = kept;
  }
  MPI_Request requests[MOST];
  MPI_Status status;
  MPI_Comm comm = on[communicator];
  if (rank == sender) {
    int pending = 0;
    for (int k = 0; k < many; ++k) {
      if (kinds[k] == CANCELLED) continue;
      const struct Head head = {k, ++next_length[sender]};
      memcpy(out[k], &head, sizeof head);
      MPI_Isend(out[k], head.length, MPI_BYTE, receiver, tag, comm, &requests[pending++]);
    }
    MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
  } else if (rank == receiver) {
    for (int k = 0; k < many; ++k) {
      MPI_Message message;
      int flag = 0;
      requests[k] = MPI_REQUEST_NULL;
      switch (kinds[k]) {
        case IRECV: MPI_Irecv(in[k], ROOM, MPI_BYTE, sender, tag, comm, &requests[k]); break;
        case IRECV_ANY: MPI_Irecv(in[k], ROOM, MPI_BYTE, MPI_ANY_SOURCE, tag, comm, &requests[k]); break;
        case IRECV_ANY_TAG: MPI_Irecv(in[k], ROOM, MPI_BYTE, sender, MPI_ANY_TAG, comm, &requests[k]); break;
        case RECV: MPI_Recv(in[k], ROOM, MPI_BYTE, sender, tag, comm, &status); break;
        case RECV_ANY: MPI_Recv(in[k], ROOM, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status); break;
        case MPROBE:
          MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status);
          MPI_Imrecv(in[k], ROOM, MPI_BYTE, &message, &requests[k]);
          break;
        case IMPROBE:
          while (!flag) MPI_Improbe(sender, tag, comm, &flag, &message, &status);
          MPI_Mrecv(in[k], ROOM, MPI_BYTE, &message, &status);
          break;
        case SENDRECV:
          MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, in[k], ROOM, MPI_BYTE, sender, tag, comm, &status);
          break;
        case PERSISTENT:
          MPI_Recv_init(in[k], ROOM, MPI_BYTE, MPI_ANY_SOURCE, tag, comm, &requests[k]);
          MPI_Start(&requests[k]);
          break;
        default: /* never matched, as all messages of this tag are meant for others */
          MPI_Irecv(in[k], ROOM, MPI_BYTE, k % 2 ? sender : MPI_ANY_SOURCE, TAGS + k, comm, &requests[k]);
      }
    }
    for (int i = 0; i < many; ++i) {
      const int k = order[i];
      struct Head head;
      if (kinds[k] == CANCELLED) MPI_Cancel(&requests[k]);
      if (requests[k] != MPI_REQUEST_NULL) MPI_Wait(&requests[k], &status);
      if (kinds[k] == PERSISTENT) MPI_Request_free(&requests[k]);
      if (kinds[k] == CANCELLED) continue;
      memcpy(&head, in[k], sizeof head);
      if (head.number == k) ++right_ones;
      else ++wrong_ones;
    }
  }
  if (rank != sender)
    for (int k = 0; k < many; ++k)
      if (kinds[k] != CANCELLED) ++next_length[sender];
  for (int k = 0, length = next_length[sender]; k < many; ++k)
    if (kinds[k] != CANCELLED) {
      ++pairs[sender][receiver].messages;
      pairs[sender][receiver].bytes += length--;
    }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  state = (uint64_t)atoi(argv[1]);
  const int phases = atoi(argv[2]);
  on[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &on[1]);
  MPI_Comm_dup(on[1], &on[2]);
  for (int k = 0; k < size; ++k) next_length[k] = sizeof(struct Head);
  for (int phase = 0; phase < phases; ++phase) {
    if (drawn(3) == 0) {
      in_order();
      continue;
    }
    const int communicator = (int)drawn(COMMUNICATORS), many = 1 + (int)drawn(MOST);
    const int receiver = (int)drawn((unsigned)size);
    /* How the receiver names each message: with source and tag, or with one or both of them left open. */
    const int openness = (int)drawn(4), completion = (int)drawn(6), early = (int)drawn(2);
    struct { int sender, tag, length, number, how; } messages[MOST];
    for (int k = 0; k < many; ++k) {
      messages[k].sender = (int)drawn((unsigned)size);
      if (messages[k].sender == receiver) messages[k].sender = (receiver + 1) % size;
      messages[k].tag = (int)drawn(TAGS);
      messages[k].length = ++next_length[messages[k].sender];
      messages[k].number = sent[messages[k].sender][receiver][communicator][messages[k].tag]++;
      messages[k].how = (int)drawn(4);
      ++pairs[messages[k].sender][receiver].messages;
      pairs[messages[k].sender][receiver].bytes += messages[k].length;
    }
    const int mixed = openness == 3;
    int choices[MOST];
    for (int k = 0; k < many; ++k) choices[k] = mixed ? (int)drawn(3) : openness;
    MPI_Request requests[MOST];
    MPI_Status status, statuses[MOST];
    if (rank == receiver) {
      if (!early) MPI_Barrier(MPI_COMM_WORLD);
      if (mixed) {
        /* Open receives for all: any of them takes any message. Nonblocking ones, some with a known source. */
        for (int k = 0; k < many; ++k)
          MPI_Irecv(in[k], ROOM, MPI_BYTE, choices[k] == 1 && size == 2 ? 1 - rank : MPI_ANY_SOURCE, MPI_ANY_TAG,
                    on[communicator], &requests[k]);
      } else if (completion >= 4) {
        if (early) MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < many; ++k) {
          const int source = openness >= 1 ? MPI_ANY_SOURCE : messages[k].sender;
          const int tag = openness == 2 ? MPI_ANY_TAG : messages[k].tag;
          if (completion == 4) {
            MPI_Recv(in[k], ROOM, MPI_BYTE, source, tag, on[communicator], &status);
          } else {
            MPI_Message message;
            MPI_Mprobe(source, tag, on[communicator], &message, &status);
            MPI_Mrecv(in[k], ROOM, MPI_BYTE, &message, &status);
          }
          check(in[k], &status, communicator);
        }
        goto end;
      } else {
        for (int k = 0; k < many; ++k)
          MPI_Irecv(in[k], ROOM, MPI_BYTE, openness >= 1 ? MPI_ANY_SOURCE : messages[k].sender,
                    openness == 2 ? MPI_ANY_TAG : messages[k].tag, on[communicator], &requests[k]);
      }
      if (early) MPI_Barrier(MPI_COMM_WORLD);
      if (completion == 0) {
        MPI_Waitall(many, requests, statuses);
        for (int k = 0; k < many; ++k) check(in[k], &statuses[k], communicator);
      } else if (completion == 1) {
        for (int k = many - 1; k >= 0; --k) {
          MPI_Wait(&requests[k], &status);
          check(in[k], &status, communicator);
        }
      } else if (completion == 2) {
        for (int k = 0; k < many; ++k) {
          int index = -1;
          MPI_Waitany(many, requests, &index, &status);
          check(in[index], &status, communicator);
        }
      } else {
        int open = many, done = 0, indices[MOST];
        while (open > 0) {
          MPI_Testsome(many, requests, &done, indices, statuses);
          for (int k = 0; k < done; ++k) check(in[indices[k]], &statuses[k], communicator);
          open -= done;
        }
      }
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
      int pending = 0;
      for (int k = 0; k < many; ++k) {
        if (messages[k].sender != rank) continue;
        const struct Head head = {messages[k].number, messages[k].length};
        memcpy(out[k], &head, sizeof head);
        if (messages[k].how == 0) MPI_Send(out[k], head.length, MPI_BYTE, receiver, messages[k].tag, on[communicator]);
        else if (messages[k].how == 1)
          MPI_Issend(out[k], head.length, MPI_BYTE, receiver, messages[k].tag, on[communicator], &requests[pending++]);
        else MPI_Isend(out[k], head.length, MPI_BYTE, receiver, messages[k].tag, on[communicator], &requests[pending++]);
      }
      MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    }
  end:
    MPI_Barrier(MPI_COMM_WORLD);
  }
  long all[2], mine[] = {right_ones, wrong_ones};
  MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("right %ld wrong %ld\n", all[0], all[1]);
    for (int from = 0; from < size; ++from)
      for (int to = 0; to < size; ++to)
        if (pairs[from][to].messages) printf("pair %d %d %ld %ld\n", from, to, pairs[from][to].messages, pairs[from][to].bytes);
  }
  MPI_Comm_free(&on[2]);
  MPI_Comm_free(&on[1]);
  MPI_Finalize();
  return 0;
}
