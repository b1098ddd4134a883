// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace posgeo::test {

/// Memory for at least `count` elements that ends where a page begins that nobody may touch.
template <class T>
class page_end {
 public:
  explicit page_end(std::size_t count) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    bytes_ = (count * sizeof(T) + page_ - 1) / page_ * page_;
    memory_ = mmap(nullptr, bytes_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED || mprotect(bytes() + bytes_, page_, PROT_NONE) != 0) throw std::runtime_error("mmap");
  }
  page_end(const page_end&) = delete;
  page_end& operator=(const page_end&) = delete;
  ~page_end() { munmap(memory_, bytes_ + page_); }

  /// The last `count` elements before the forbidden page.
  [[nodiscard]] T* last(std::size_t count) noexcept { return reinterpret_cast<T*>(bytes() + bytes_) - count; }

 private:
  [[nodiscard]] std::byte* bytes() noexcept { return static_cast<std::byte*>(memory_); }

  std::size_t page_;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
};

}  // namespace posgeo::test
