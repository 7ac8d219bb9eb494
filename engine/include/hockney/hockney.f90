! SPDX-FileCopyrightText: The hockney authors
! SPDX-License-Identifier: Apache-2.0
!
! hockney's barriers and collectives for Fortran 2018. Compile this file with your program: modules belong to one
! compiler. Handles are the integers of mpif.h and of `use mpi`; of `use mpi_f08` they are %MPI_VAL. Names end with
! c_null_char, and an algorithm of c_null_char alone selects by the table in HOCKNEY_CHOICES. All functions return
! an MPI error code. hockney_in_place stands for MPI_IN_PLACE, whose address in Fortran only MPI can tell.
!
!   use hockney
!   type(c_ptr) :: barrier
!   ierror = hockney_best_barrier(MPI_COMM_WORLD, barrier)
!   call hockney_barrier_wait(barrier)
!   call hockney_barrier_free(barrier)
module hockney
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_ptr
  implicit none
  public
  integer(c_int), bind(c), target :: hockney_in_place(1)
  interface
    function hockney_best_barrier(comm, barrier) bind(c, name="hockney_best_barrier_f") result(ierror)
      import :: c_int, c_ptr
      integer(c_int), value :: comm
      type(c_ptr), intent(out) :: barrier
      integer(c_int) :: ierror
    end function
    function hockney_make_barrier(name, comm, barrier) bind(c, name="hockney_make_barrier_f") result(ierror)
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: comm
      type(c_ptr), intent(out) :: barrier
      integer(c_int) :: ierror
    end function
    subroutine hockney_barrier_wait(barrier) bind(c)
      import :: c_ptr
      type(c_ptr), value :: barrier
    end subroutine
    subroutine hockney_barrier_free(barrier) bind(c)
      import :: c_ptr
      type(c_ptr), intent(inout) :: barrier
    end subroutine
    function hockney_bcast(data, count, type, root, comm, algorithm) &
        bind(c, name="hockney_bcast_f") result(ierror)
      import :: c_char, c_int
      type(*) :: data(*)
      integer(c_int), value :: count, root, type, comm
      character(kind=c_char), intent(in) :: algorithm(*)
      integer(c_int) :: ierror
    end function
    function hockney_gather(outgoing, sent, sent_type, incoming, received, received_type, root, comm, algorithm) &
        bind(c, name="hockney_gather_f") result(ierror)
      import :: c_char, c_int
      type(*) :: outgoing(*)
      type(*) :: incoming(*)
      integer(c_int), value :: sent, received, root, sent_type, received_type, comm
      character(kind=c_char), intent(in) :: algorithm(*)
      integer(c_int) :: ierror
    end function
    function hockney_scatter(outgoing, sent, sent_type, incoming, received, received_type, root, comm, algorithm) &
        bind(c, name="hockney_scatter_f") result(ierror)
      import :: c_char, c_int
      type(*) :: outgoing(*)
      type(*) :: incoming(*)
      integer(c_int), value :: sent, received, root, sent_type, received_type, comm
      character(kind=c_char), intent(in) :: algorithm(*)
      integer(c_int) :: ierror
    end function
    function hockney_allgather(outgoing, sent, sent_type, incoming, received, received_type, comm, algorithm) &
        bind(c, name="hockney_allgather_f") result(ierror)
      import :: c_char, c_int
      type(*) :: outgoing(*)
      type(*) :: incoming(*)
      integer(c_int), value :: sent, received, sent_type, received_type, comm
      character(kind=c_char), intent(in) :: algorithm(*)
      integer(c_int) :: ierror
    end function
    function hockney_alltoall(outgoing, sent, sent_type, incoming, received, received_type, comm, algorithm) &
        bind(c, name="hockney_alltoall_f") result(ierror)
      import :: c_char, c_int
      type(*) :: outgoing(*)
      type(*) :: incoming(*)
      integer(c_int), value :: sent, received, sent_type, received_type, comm
      character(kind=c_char), intent(in) :: algorithm(*)
      integer(c_int) :: ierror
    end function
    function hockney_reduce(outgoing, incoming, count, type, op, root, comm, algorithm) &
        bind(c, name="hockney_reduce_f") result(ierror)
      import :: c_char, c_int
      type(*) :: outgoing(*)
      type(*) :: incoming(*)
      integer(c_int), value :: count, root, type, op, comm
      character(kind=c_char), intent(in) :: algorithm(*)
      integer(c_int) :: ierror
    end function
    function hockney_allreduce(outgoing, incoming, count, type, op, comm, algorithm) &
        bind(c, name="hockney_allreduce_f") result(ierror)
      import :: c_char, c_int
      type(*) :: outgoing(*)
      type(*) :: incoming(*)
      integer(c_int), value :: count, type, op, comm
      character(kind=c_char), intent(in) :: algorithm(*)
      integer(c_int) :: ierror
    end function
    function hockney_reduce_scatter_block(outgoing, incoming, received, type, op, comm, algorithm) &
        bind(c, name="hockney_reduce_scatter_block_f") result(ierror)
      import :: c_char, c_int
      type(*) :: outgoing(*)
      type(*) :: incoming(*)
      integer(c_int), value :: received, type, op, comm
      character(kind=c_char), intent(in) :: algorithm(*)
      integer(c_int) :: ierror
    end function
    function hockney_scan(outgoing, incoming, count, type, op, comm, algorithm) &
        bind(c, name="hockney_scan_f") result(ierror)
      import :: c_char, c_int
      type(*) :: outgoing(*)
      type(*) :: incoming(*)
      integer(c_int), value :: count, type, op, comm
      character(kind=c_char), intent(in) :: algorithm(*)
      integer(c_int) :: ierror
    end function
  end interface
end module
