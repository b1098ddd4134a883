// SPDX-License-Identifier: MIT
// The memory of every benchmark lies in huge pages where the system gives them to those who ask, as that of an
// inference engine should: with pages of 4 KiB, where a row of keys lands in the caches is chance, and changes from run
// to run.
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace {

constexpr std::size_t page = std::size_t{1} << 21;
constexpr std::size_t least = std::size_t{1} << 18;  ///< smaller blocks are not worth a page

void* block(std::size_t bytes) noexcept {
#ifdef __linux__
  if (bytes >= least) {
    const std::size_t whole = (bytes + page - 1) / page * page;
    void* const memory = std::aligned_alloc(page, whole);
    if (memory == nullptr) return nullptr;
    // Small pages that the block had in an earlier life go first. Both are wishes: without them all is well, but
    // slower.
    (void)madvise(memory, whole, MADV_DONTNEED);
    (void)madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
  }
#endif
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = block(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
