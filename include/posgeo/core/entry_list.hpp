// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/index.hpp>

#include <array>
#include <cstddef>
#include <memory>

namespace posgeo {

/// One immutable record for each batch entry. Up to eight live in place; a longer list takes one shared block, so
/// that copies stay cheap either way.
template <class Record>
class entry_list {
 public:
  static constexpr index_t in_place = 8;

  entry_list() = default;

  /// Fills record b with make(b) for b in [0, count).
  template <class Make>
  entry_list(index_t count, const Make& make) : count_(count < 0 ? 0 : count) {
    if (count_ <= in_place) {
      for (index_t b = 0; b < count_; ++b) few_[static_cast<std::size_t>(b)] = make(b);
      return;
    }
    const auto block = std::make_shared<Record[]>(static_cast<std::size_t>(count_));
    for (index_t b = 0; b < count_; ++b) block[b] = make(b);
    many_ = block;
  }

  [[nodiscard]] index_t size() const noexcept { return count_; }
  [[nodiscard]] const Record& operator[](index_t b) const noexcept {
    return many_ ? many_[b] : few_[static_cast<std::size_t>(b)];
  }

 private:
  index_t count_ = 0;
  std::array<Record, in_place> few_{};
  std::shared_ptr<const Record[]> many_;
};

}  // namespace posgeo
