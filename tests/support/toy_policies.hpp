// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

#include <span>

// Policies that are small enough to compute by hand.
namespace posgeo::test {

/// Swaps the first two numbers of a query and turns the sign of a key's second one.
struct toy_transform {
  using family = posgeo::family::qk_transform;
  template <class T>
  struct term {
    void query(batch_index, head_index, query_index, std::span<T> row) const noexcept { std::swap(row[0], row[1]); }
    void key(batch_index, head_index, key_index, std::span<T> row) const noexcept { row[1] = -row[1]; }
  };
  template <class T>
  [[nodiscard]] term<T> compile(const position_call&, const heads&) const {
    return {};
  }
};

/// Ten times the first number of the query times the second of the key.
struct toy_content {
  using family = posgeo::family::content_term;
  template <class T>
  struct term {
    T operator()(batch_index, head_index, query_index, key_index, std::span<const T> query,
                 std::span<const T> key) const noexcept {
      return T{10} * query[0] * key[1];
    }
  };
  template <class T>
  [[nodiscard]] term<T> compile(const position_call&, const heads&) const {
    return {};
  }
};

/// Adds weight * 10 * (key row + 1) to the first number of the output.
struct toy_value {
  using family = posgeo::family::value_term;
  template <class T>
  struct term {
    void accumulate(batch_index, head_index, query_index, key_index j, T weight, std::span<T> out_row) const noexcept {
      out_row[0] += weight * static_cast<T>(10 * (j.value() + 1));
    }
  };
  template <class T>
  [[nodiscard]] term<T> compile(const position_call&, const heads&) const {
    return {};
  }
};

}  // namespace posgeo::test
