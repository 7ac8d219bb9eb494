// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/mpi_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hockney::profile {

MpiLibrary mpi;

namespace {

template <class T>
void look_up(T*& function, const char* name) {
  function = reinterpret_cast<T*>(dlsym(mpi.library, name));
}

// The library that an address belongs to.
void* library_at(const void* address) {
  Dl_info where;
  if (!dladdr(address, &where) || !where.dli_fname) return nullptr;
  return dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

int count_library(dl_phdr_info* object, std::size_t, void* count) {
  const char* const name = object->dlpi_name;
  if (!name || !*name) return 0;
  const char* const base = std::strrchr(name, '/') ? std::strrchr(name, '/') + 1 : name;
  if (std::strncmp(base, "libmpi", 6) != 0) return 0;
  void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return 0;
  void* const function = dlsym(library, "PMPI_Init");
  Dl_info where;
  if (function && dladdr(function, &where) && where.dli_fname) {
    void* const defines = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (defines == library) ++*static_cast<int*>(count);
    if (defines) dlclose(defines);
  }
  dlclose(library);
  return 0;
}

// The address of a predefined object. That of the program comes first: the linker may have copied the object
// into it, and then the library uses the copy as well.
Handle predefined(const char* name) {
  const void* const global = dlsym(RTLD_DEFAULT, name);
  return reinterpret_cast<Handle>(global ? global : dlsym(mpi.library, name));
}

// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE of Fortran are addresses of variables: `names` are theirs, or of
// pointers to them, which are set by the first call from Fortran.
void look_up_fortran(const char* const* names, bool indirect) {
  int k = 0;
  mpi.fortran_indirect = indirect;
  for (; *names && k < 8; ++names)
    // Anywhere, as the variables may be in another library.
    if (const void* const variable = dlsym(RTLD_DEFAULT, *names))
      mpi.fortran_status_ignore[k++] = reinterpret_cast<std::uintptr_t>(variable);
}

}  // namespace

bool MpiLibrary::ignored(const void* status, bool fortran) const {
  const auto address = reinterpret_cast<std::uintptr_t>(status);
  if (address == 0 || address == status_ignore) return true;
  if (!fortran) return false;
  for (const std::uintptr_t each : fortran_status_ignore)
    if (each && (fortran_indirect ? *reinterpret_cast<const std::uintptr_t*>(each) : each) == address)
      return true;
  return false;
}

[[gnu::cold, gnu::noinline]] void* next(std::uint32_t symbol, std::uint64_t from) {
  if (void* const known = __atomic_load_n(&real[symbol], __ATOMIC_ACQUIRE)) return known;
  const char* const name = symbols[symbol].name;
  void* found = dlsym(RTLD_NEXT, name);
  if (!found) {
    // Libraries loaded with dlopen are visible to what depends on them only.
    if (void* const caller = library_at(reinterpret_cast<const void*>(from))) found = dlsym(caller, name);
    if ((!found || found == symbols[symbol].own) && mpi.library) found = dlsym(mpi.library, name);
  }
  if (!found || found == symbols[symbol].own) {
    std::fprintf(stderr, "hockney profile: %s is called, but no loaded library has it\n", name);
    std::abort();
  }
  __atomic_store_n(&real[symbol], found, __ATOMIC_RELEASE);
  return found;
}

namespace {

// The library of PMPI_Init: `function` may belong to another tool between the program and MPI.
void* mpi_library_behind(const void* function) {
  const void* init = dlsym(RTLD_NEXT, "PMPI_Init");
  void* const library = library_at(function);
  if (!init && library) init = dlsym(library, "PMPI_Init");
  void* const defines = init ? library_at(init) : nullptr;
  return defines ? defines : library;
}

}  // namespace

[[gnu::cold, gnu::noinline]] bool is_covered() {
  for (std::uint32_t k = 0; k < symbol_count; ++k) {
    void* const first = dlsym(RTLD_DEFAULT, symbols[k].name);
    if (!first || first == symbols[k].own) continue;
    Dl_info where;
    void* entry = nullptr;
    if (!dladdr1(first, &where, &entry, RTLD_DL_SYMENT)) continue;
    // A program that takes the address of a function has an undefined symbol with that address.
    const auto* const symbol = static_cast<const ElfW(Sym)*>(entry);
    if (symbol && symbol->st_shndx != SHN_UNDEF) return true;
  }
  return false;
}

[[gnu::cold, gnu::noinline]] bool recognize(void* function) {
  if (mpi.library) return mpi.abi != Abi::unknown;
  void* const defines = mpi_library_behind(function);
  if (!defines) return false;
  mpi.library = defines;
  mpi.handle_bytes = 8;
  mpi.source_at = 0;
  mpi.tag_at = 4;
  mpi.undefined = -32766;
  if (dlsym(defines, "ompi_mpi_comm_world")) {
    mpi.abi = Abi::open_mpi;
    mpi.world = predefined("ompi_mpi_comm_world");
    mpi.self = predefined("ompi_mpi_comm_self");
    mpi.communicator_null = predefined("ompi_mpi_comm_null");
    mpi.request_null = predefined("ompi_request_null");
    mpi.type_null = predefined("ompi_mpi_datatype_null");
    mpi.byte = predefined("ompi_mpi_byte");
    mpi.any_source = -1;
    mpi.proc_null = -2;
    mpi.root = -4;
    mpi.any_tag = -1;
    mpi.status_bytes = 24;
    static const char* const ignored[] = {"mpi_fortran_status_ignore_",    "mpi_fortran_status_ignore",
                                          "mpi_fortran_status_ignore__",   "MPI_FORTRAN_STATUS_IGNORE",
                                          "mpi_fortran_statuses_ignore_",  "mpi_fortran_statuses_ignore",
                                          "mpi_fortran_statuses_ignore__", nullptr};
    look_up_fortran(ignored, false);
  } else if (dlsym(defines, "MPI_Abi_get_version") && !dlsym(defines, "MPI_F_STATUS_IGNORE")) {
    mpi.abi = Abi::standard;
    mpi.world = 0x101;
    mpi.self = 0x102;
    mpi.communicator_null = 0x100;
    mpi.request_null = 0x180;
    mpi.type_null = 0x200;
    mpi.byte = 0x247;
    mpi.any_source = -1;
    mpi.any_tag = -2;
    mpi.proc_null = -3;
    mpi.root = -4;
    mpi.status_bytes = 32;
  } else if (dlsym(defines, "MPI_F_STATUS_IGNORE") || dlsym(defines, "MPIR_Err_create_code")) {
    mpi.abi = Abi::mpich;
    mpi.handle_bytes = 4;
    mpi.world = 0x44000000;
    mpi.self = 0x44000001;
    mpi.communicator_null = 0x04000000;
    mpi.request_null = 0x2c000000;
    mpi.type_null = 0x0c000000;
    mpi.byte = 0x4c00010d;
    mpi.any_source = -2;
    mpi.any_tag = -1;
    mpi.proc_null = -1;
    mpi.root = -3;
    mpi.status_ignore = 1;
    mpi.source_at = 8;
    mpi.tag_at = 12;
    mpi.status_bytes = 20;
    static const char* const ignored[] = {"MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE",
                                          "MPI_F08_STATUS_IGNORE", "MPI_F08_STATUSES_IGNORE", nullptr};
    look_up_fortran(ignored, true);
  } else {
    return false;
  }
  int libraries = 0;
  dl_iterate_phdr(count_library, &libraries);
  mpi.several = libraries > 1;
  look_up(mpi.wtime, "PMPI_Wtime");
  look_up(mpi.comm_rank, "PMPI_Comm_rank");
  look_up(mpi.comm_size, "PMPI_Comm_size");
  look_up(mpi.comm_remote_size, "PMPI_Comm_remote_size");
  look_up(mpi.comm_test_inter, "PMPI_Comm_test_inter");
  look_up(mpi.comm_group, "PMPI_Comm_group");
  look_up(mpi.comm_remote_group, "PMPI_Comm_remote_group");
  look_up(mpi.group_free, "PMPI_Group_free");
  look_up(mpi.group_translate, "PMPI_Group_translate_ranks");
  look_up(mpi.type_size, "PMPI_Type_size");
  look_up(mpi.type_size_c, "PMPI_Type_size_c");
  look_up(mpi.error_class, "PMPI_Error_class");
  look_up(mpi.test_cancelled, "PMPI_Test_cancelled");
  look_up(mpi.get_count_c, "PMPI_Get_count_c");
  look_up(mpi.allgather, "PMPI_Allgather");
  look_up(mpi.comm_split, "PMPI_Comm_split");
  look_up(mpi.comm_free, "PMPI_Comm_free");
  look_up(mpi.recv, "PMPI_Recv");
  look_up(mpi.query_thread, "PMPI_Query_thread");
  look_up(mpi.comm_get_parent, "PMPI_Comm_get_parent");
  look_up(mpi.initialized, "PMPI_Initialized");
  look_up(mpi.send, "PMPI_Send");
  look_up(mpi.isend, "PMPI_Isend");
  look_up(mpi.wait, "PMPI_Wait");
  // In MPICH a Fortran handle is the C handle, and the functions are macros.
  look_up(mpi.comm_f2c, "PMPI_Comm_f2c");
  look_up(mpi.type_f2c, "PMPI_Type_f2c");
  look_up(mpi.request_f2c, "PMPI_Request_f2c");
  look_up(mpi.win_f2c, "PMPI_Win_f2c");
  look_up(mpi.file_f2c, "PMPI_File_f2c");
  return mpi.comm_rank && mpi.comm_size && mpi.comm_test_inter && mpi.comm_group && mpi.group_free &&
         mpi.group_translate && mpi.type_size && mpi.allgather && mpi.query_thread;
}

namespace {

Handle converted(std::int32_t fortran, Handle (*convert)(std::int32_t)) {
  if (mpi.handle_bytes == 4 || !convert) return static_cast<std::uint32_t>(fortran);
  return convert(fortran);
}

Handle handle_of(const Call& call, Parameter which, Handle (*convert)(std::int32_t)) {
  if (call.fortran()) return converted(*static_cast<const std::int32_t*>(call.pointer(which)), convert);
  return mpi.mask(call.raw(which));
}

}  // namespace

Handle communicator_of(const Call& call, Parameter which) {
  // A new communicator is behind a pointer in C as well.
  if (which == new_communicator_ && !call.fortran())
    return mpi.handle_bytes == 4 ? *static_cast<const std::uint32_t*>(call.pointer(which))
                                 : *static_cast<const std::uint64_t*>(call.pointer(which));
  return handle_of(call, which, mpi.comm_f2c);
}

Handle communicator_at(const void* place, bool fortran) {
  if (fortran) return converted(*static_cast<const std::int32_t*>(place), mpi.comm_f2c);
  if (mpi.handle_bytes == 4) return *static_cast<const std::uint32_t*>(place);
  return *static_cast<const std::uint64_t*>(place);
}

Handle type_of(const Call& call, Parameter which) {
  return handle_of(call, which, mpi.type_f2c);
}

Handle request_at(const Call& call, const void* array, std::int64_t k) {
  if (call.fortran()) return converted(static_cast<const std::int32_t*>(array)[k], mpi.request_f2c);
  if (mpi.handle_bytes == 4) return static_cast<const std::uint32_t*>(array)[k];
  return static_cast<const std::uint64_t*>(array)[k];
}

Handle window_of(const Call& call) {
  return handle_of(call, window_, mpi.win_f2c);
}

Handle file_of(const Call& call) {
  // An int in ROMIO's Fortran handles, a pointer in C for all MPIs.
  if (call.fortran())
    return static_cast<std::uint32_t>(*static_cast<const std::int32_t*>(call.pointer(file_)));
  return call.raw(file_);
}

}  // namespace hockney::profile
