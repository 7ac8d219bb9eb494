// SPDX-FileCopyrightText: The hockney authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/call_sites.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "profile/call.hpp"
#include "profile/threads.hpp"

namespace hockney::profile {
namespace {

constexpr int most_frames = sizeof(Site::frame) / sizeof(std::uint64_t);

// The part of Python's C interface that names the innermost frame, if the program is a Python interpreter.
struct Python {
  int (*is_initialized)();
  int (*is_finalizing)();
  void* (*this_thread)();
  int (*acquire)();
  void (*release)(int);
  void* (*frame)();
  void* (*code)(void*);
  int (*last_instruction)(void*);
  int (*line)(void*);
  void (*forget)(void*);
  void* (*attribute)(void*, const char*);
  const char* (*utf8)(void*);
  void (*clear_error)();

  template <class T>
  static void look_up(T*& function, const char* name) {
    function = reinterpret_cast<T*>(dlsym(RTLD_DEFAULT, name));
  }
  Python() {
    look_up(is_initialized, "Py_IsInitialized");
    look_up(is_finalizing, "Py_IsFinalizing");
    if (!is_finalizing) look_up(is_finalizing, "_Py_IsFinalizing");
    look_up(this_thread, "PyGILState_GetThisThreadState");
    look_up(acquire, "PyGILState_Ensure");
    look_up(release, "PyGILState_Release");
    look_up(frame, "PyEval_GetFrame");
    look_up(code, "PyFrame_GetCode");
    look_up(last_instruction, "PyFrame_GetLasti");
    look_up(line, "PyFrame_GetLineNumber");
    look_up(forget, "Py_DecRef");
    look_up(attribute, "PyObject_GetAttrString");
    look_up(utf8, "PyUnicode_AsUTF8");
    look_up(clear_error, "PyErr_Clear");
  }
  bool runs() const {
    return is_initialized && this_thread && acquire && release && frame && code && line && forget &&
           attribute && utf8 && clear_error && is_initialized() && !(is_finalizing && is_finalizing()) &&
           this_thread();
  }
};

bool in_python = false;  // the process has an interpreter

const Python& python() {
  static const Python interpreter;
  return interpreter;
}

// A number for the innermost Python instruction, 0 outside of Python; with `text`, its place in the source.
[[gnu::cold, gnu::noinline]] std::uint64_t python_instruction(char* text, std::size_t size) {
  const Python& interpreter = python();
  if (!interpreter.runs()) return 0;
  std::uint64_t key = 0;
  // The MPI functions are called without the interpreter's lock.
  const int state = interpreter.acquire();
  if (void* const frame = interpreter.frame()) {
    void* const code = interpreter.code(frame);
    const int place =
        interpreter.last_instruction ? interpreter.last_instruction(frame) : interpreter.line(frame);
    key = reinterpret_cast<std::uint64_t>(code) * 31 + static_cast<std::uint64_t>(place) + 1;
    if (text) {
      void* const file = interpreter.attribute(code, "co_filename");
      void* function = interpreter.attribute(code, "co_qualname");
      if (!function) {
        interpreter.clear_error();
        function = interpreter.attribute(code, "co_name");
      }
      const char* const file_text = file ? interpreter.utf8(file) : nullptr;
      const char* const function_text = function ? interpreter.utf8(function) : nullptr;
      if (file_text) {
        char place_text[64];
        const int added = snprintf(place_text, sizeof place_text, ":%d %.40s", interpreter.line(frame),
                                   function_text ? function_text : "");
        // The end of a long path tells more than its beginning.
        const std::size_t room = size - static_cast<std::size_t>(added) - 1, length = strlen(file_text);
        snprintf(text, size, "%s%s", length > room ? file_text + (length - room) : file_text, place_text);
      }
      if (file) interpreter.forget(file);
      if (function) interpreter.forget(function);
      interpreter.clear_error();
    }
    interpreter.forget(code);
  }
  interpreter.release(state);
  return key;
}

struct Found {
  std::uint64_t address;
  Module* module;
};

int describe_module(dl_phdr_info* object, std::size_t, void* found_) {
  auto& found = *static_cast<Found*>(found_);
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  bool inside = false;
  for (int k = 0; k < object->dlpi_phnum; ++k) {
    const auto& part = object->dlpi_phdr[k];
    if (part.p_type != PT_LOAD) continue;
    const std::uint64_t from = object->dlpi_addr + part.p_vaddr, to = from + part.p_memsz;
    if (from < begin) begin = from;
    if (to > end) end = to;
    if (found.address >= from && found.address < to) inside = true;
  }
  if (!inside) return 0;
  const char* const name = object->dlpi_name && *object->dlpi_name ? object->dlpi_name : header->program;
  *found.module = {begin, end, object->dlpi_addr, {}};
  snprintf(found.module->path, sizeof found.module->path, "%s", name);
  return 1;
}

void record_module(ThreadState& thread, std::uint64_t address) {
  for (std::uint32_t k = 0; k < thread.modules; ++k)
    if (address >= thread.module_begin[k] && address < thread.module_end[k]) return;
  if (thread.modules == ThreadState::most_modules) return;
  Module module{};
  Found found{address, &module};
  if (!dl_iterate_phdr(describe_module, &found)) return;
  if (Module* const record = thread.module_pages.add(thread.id)) {
    *record = module;
    thread.module_pages.finish();
    thread.module_begin[thread.modules] = module.begin;
    thread.module_end[thread.modules++] = module.end;
  }
}

// Return addresses from the caller of the MPI function on.
[[gnu::cold, gnu::noinline]] int unwind(const Call& call, std::uint64_t* frames) {
  void* all[most_frames + 8];
  const int count = backtrace(all, most_frames + 8);
  int first = 0;
  while (first < count && reinterpret_cast<std::uint64_t>(all[first]) != call.return_address) ++first;
  int kept = 0;
  if (first == count) frames[kept++] = call.return_address;  // nothing to unwind with
  for (; first < count && kept < most_frames; ++first)
    frames[kept++] = reinterpret_cast<std::uint64_t>(all[first]);
  return kept;
}

SiteState& place_of(ThreadState& thread, std::uint64_t key) {
  std::uint32_t k = static_cast<std::uint32_t>(key >> 40) % most_sites;
  while (thread.sites[k].record && thread.sites[k].key != key) k = (k + 1) % most_sites;
  return thread.sites[k];
}

// `rough` is a key for calls from the same instruction, whatever the stack. Once there are many sites, as in
// a deep recursion, calls from one instruction share a site.
[[gnu::cold, gnu::noinline]] SiteState* new_site(ThreadState& thread, const Call& call, std::uint64_t key,
                                                 std::uint64_t rough, bool of_python) {
  SiteState* site = &place_of(thread, key);
  if (site->record) return site;
  const bool many = thread.used_sites >= most_sites * 3 / 4;
  if (many) {
    site = &place_of(thread, key = rough);
    if (site->record) return site;
    if (thread.used_sites >= most_sites * 15 / 16) return &thread.lost_site;
  }
  Site* const record = thread.site_pages.add(thread.id);
  if (!record) return &thread.lost_site;
  record->id = __atomic_add_fetch(&last_site, 1, __ATOMIC_RELAXED);
  record->frames = static_cast<std::uint16_t>(unwind(call, record->frame));
  record->ambiguous = many;
  if (of_python) python_instruction(record->python, sizeof record->python);
  for (int frame = 0; frame < record->frames; ++frame) record_module(thread, record->frame[frame]);
  thread.site_pages.finish();
  ++thread.used_sites;
  site->key = key;
  site->record = record;
  return site;
}

}  // namespace

std::uint32_t last_site = 0;

void prepare_call_sites() {
  void* frame[2];
  backtrace(frame, 2);
  in_python = dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr;
}

SiteState* site_of(ThreadState& thread, const Call& call) {
  const std::uint64_t instruction = in_python ? python_instruction(nullptr, 0) : 0;
  const std::uint64_t key = (call.return_address * 0x9e3779b97f4a7c15ULL) ^
                            (reinterpret_cast<std::uint64_t>(call.stack) * 0xff51afd7ed558ccdULL) ^
                            (instruction * 0xc4ceb9fe1a85ec53ULL);
  SiteState*& recent = thread.recent_sites[(key >> 32) % ThreadState::recent];
  if (!recent || recent->key != key) {
    const std::uint64_t rough =
        (call.return_address * 0x9e3779b97f4a7c15ULL) ^ (instruction * 0xc4ceb9fe1a85ec53ULL) ^ 1;
    recent = new_site(thread, call, key, rough, instruction != 0);
    if (!recent->record) {
      SiteState* const lost = recent;
      recent = nullptr;
      return lost;
    }
  }
  SiteState& site = *recent;
  // Different stacks may have equal keys. Some calls are checked, and the site is marked.
  if ((++site.calls & 1023) == 0 && !site.record->ambiguous) {
    std::uint64_t frames[most_frames];
    const int count = unwind(call, frames);
    if (count != site.record->frames ||
        memcmp(frames, site.record->frame, sizeof(std::uint64_t) * count) != 0)
      site.record->ambiguous = 1;
  }
  return &site;
}

}  // namespace hockney::profile
