! SPDX-FileCopyrightText: The hockney authors
! SPDX-License-Identifier: Apache-2.0
!
! Calls of MPI from Fortran: with DIALECT 77 by mpif.h, 90 by `use mpi`, 2008 by `use mpi_f08` and without error codes.
! Every rank sends to the next one; rank 0 prints sums of what was received, and the numbers of calls that vary.
#if DIALECT == 2008
#define END_
#define COMMUNICATOR type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#define WINDOW type(MPI_Win)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status) :: statuses(n)
#define FIELD(s, name) s%name
#else
#define END_ , ierror
#define COMMUNICATOR integer
#define DATATYPE integer
#define REQUEST integer
#define WINDOW integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer :: statuses(MPI_STATUS_SIZE, n)
#define FIELD(s, name) s(name)
#endif
program calls
#if DIALECT == 2008
  use mpi_f08
  implicit none
#elif DIALECT == 90
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer, parameter :: many = 6
  integer :: rank, ranks, right, left, k, ierror, place, done, total, got, somes
  integer :: out(16, many), in(16, many), places(2*many)
  real(kind=8) :: memory(8), put(2)
  COMMUNICATOR :: twin, half
  DATATYPE :: column
  REQUEST :: requests(2*many), open_one
  WINDOW :: window_
  STATUS :: state
  STATUSES(2*many)
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  integer :: provided

  ierror = 77
#if DIALECT == 77
  call MPI_Init(ierror)
#elif DIALECT == 90
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
#else
  call MPI_Init()
#endif
  provided = 0
  call MPI_Comm_rank(MPI_COMM_WORLD, rank END_)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks END_)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  got = 0
  in = 0
  out = rank + 1

  ! 5 messages of 40 bytes, 1 of them without a status
  do k = 1, 4
    call MPI_Sendrecv(out, 10, MPI_INTEGER, right, 1, in, 16, MPI_INTEGER, left, 1, MPI_COMM_WORLD, state END_)
    call MPI_Get_count(state, MPI_INTEGER, total END_)
    got = got + total + FIELD(state, MPI_SOURCE) + sum(in(1:10, 1))
  end do
  call MPI_Sendrecv(out, 10, MPI_INTEGER, right, 1, in, 10, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE END_)

  ! many messages of 4, 8, ... bytes, each of which is completed in one call of another kind
  do k = 1, many
    call MPI_Irecv(in(1, k), 16, MPI_INTEGER, MPI_ANY_SOURCE, 10 + k, MPI_COMM_WORLD, requests(k) END_)
  end do
  do k = 1, many
    call MPI_Isend(out(1, k), k, MPI_INTEGER, right, 10 + k, MPI_COMM_WORLD, requests(many + k) END_)
  end do
  ! MPICH 4.0 counts places from 0 in `mpi_f08`
  do k = 1, 2*many
    call MPI_Waitany(2*many, requests, place, state END_)
    if (place >= 1 .and. place <= many) got = got + FIELD(state, MPI_TAG)*place
  end do
  call MPI_Waitany(2*many, requests, place, state END_)

  do k = 1, many
    call MPI_Irecv(in(1, k), 16, MPI_INTEGER, left, 20, MPI_COMM_WORLD, requests(k) END_)
    call MPI_Isend(out(1, k), k, MPI_INTEGER, right, 20, MPI_COMM_WORLD, requests(many + k) END_)
  end do
  call MPI_Waitall(2*many, requests, statuses END_)
  got = got + sum(in)

  do k = 1, many
    call MPI_Irecv(in(1, k), k, MPI_INTEGER, left, 21, MPI_COMM_WORLD, requests(k) END_)
    call MPI_Isend(out(1, k), k, MPI_INTEGER, right, 21, MPI_COMM_WORLD, requests(many + k) END_)
  end do
  total = 0
  somes = 0
  do while (total < 2*many)
    call MPI_Waitsome(2*many, requests, done, places, statuses END_)
    somes = somes + 1
    total = total + done
  end do
  do k = 1, many
    call MPI_Irecv(in(1, k), k, MPI_INTEGER, left, 22, MPI_COMM_WORLD, requests(k) END_)
    call MPI_Isend(out(1, k), k, MPI_INTEGER, right, 22, MPI_COMM_WORLD, requests(many + k) END_)
  end do
  call MPI_Waitall(2*many, requests, MPI_STATUSES_IGNORE END_)

  ! persistent ones
  call MPI_Send_init(out, 2, MPI_INTEGER, right, 30, MPI_COMM_WORLD, requests(1) END_)
  call MPI_Recv_init(in, 2, MPI_INTEGER, left, 30, MPI_COMM_WORLD, requests(2) END_)
  do k = 1, 3
    call MPI_Startall(2, requests, ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE END_)
  end do
  call MPI_Request_free(requests(1) END_)
  call MPI_Request_free(requests(2) END_)

  ! a type that is freed while it is used, and a probe
  call MPI_Type_vector(4, 1, 16, MPI_INTEGER, column END_)
  call MPI_Type_commit(column END_)
  call MPI_Isend(out, 1, column, right, 40, MPI_COMM_WORLD, open_one END_)
  call MPI_Type_free(column END_)
  call MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, state END_)
  call MPI_Recv(in, 16, MPI_INTEGER, left, FIELD(state, MPI_TAG), MPI_COMM_WORLD, state END_)
  call MPI_Wait(open_one, MPI_STATUS_IGNORE END_)
  got = got + sum(in)

  ! collective operations
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD END_)
  if (rank == 0) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INTEGER, 0, MPI_COMM_WORLD END_)
  else
    call MPI_Gather(out, 2, MPI_INTEGER, in, 0, MPI_INTEGER, 0, MPI_COMM_WORLD END_)
  end if
  call MPI_Bcast(out, 16, MPI_INTEGER, 0, MPI_COMM_WORLD END_)
  call MPI_Comm_dup(MPI_COMM_WORLD, twin END_)
  call MPI_Comm_set_name(twin, 'twin of world' END_)
  call MPI_Comm_split(twin, mod(rank, 2), rank, half END_)
  call MPI_Barrier(half END_)
  call MPI_Sendrecv(out, 1, MPI_INTEGER, right, 1, in, 16, MPI_INTEGER, left, 1, twin, state END_)
  call MPI_Comm_free(half END_)
  call MPI_Comm_free(twin END_)

  ! not recorded
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD END_)
  call MPI_Pcontrol(1)

  ! a window
  memory = 0
  put = rank
  bytes = 64
  call MPI_Win_create(memory, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window_ END_)
  call MPI_Win_fence(0, window_ END_)
  bytes = 1
  call MPI_Put(put, 2, MPI_DOUBLE_PRECISION, right, bytes, 2, MPI_DOUBLE_PRECISION, window_ END_)
  call MPI_Win_fence(0, window_ END_)
  call MPI_Win_free(window_ END_)
  got = got + int(memory(2))

  call MPI_Reduce(got, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD END_)
  call MPI_Gather(somes, 1, MPI_INTEGER, in, 1, MPI_INTEGER, 0, MPI_COMM_WORLD END_)
  if (rank == 0) print '(a, i0, a, 8(1x, i0))', 'sum ', total, ' somes', in(1:ranks, 1)
  call MPI_Finalize(ierror)
  if (ierror /= 0) stop 3
end program
