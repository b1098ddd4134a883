// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/contract/head_partition.hpp>

#include <algorithm>
#include <span>
#include <type_traits>

namespace posgeo::contract {

namespace detail {

template <class T>
[[nodiscard]] tensor<std::remove_const_t<T>, 4> heads_of(const heads_view<T>& whole, index_t expected,
                                                         const std::vector<index_t>& wanted, std::string_view object) {
  require(whole.extent(1) == expected, errc::head_partition, object, "heads", text("{} of the whole", expected),
          whole.extent(1));
  tensor<std::remove_const_t<T>, 4> part(
      {whole.extent(0), static_cast<index_t>(wanted.size()), whole.extent(2), whole.extent(3)});
  for (index_t b = 0; b < whole.extent(0); ++b) {
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      for (index_t row = 0; row < whole.extent(2); ++row) {
        const auto from = whole.row(b, wanted[n], row);
        std::copy(from.begin(), from.end(), part.view().row(b, static_cast<index_t>(n), row).begin());
      }
    }
  }
  return part;
}

}  // namespace detail

/// The queries of a part, in its order. Shapes: [batch, query heads, rows, dim] -> the part's query heads.
/// Throws: errc::head_partition for other heads than the whole's.
template <class T>
[[nodiscard]] auto query_heads_of(const heads_view<T>& whole, const head_slice& slice) {
  return detail::heads_of(whole, slice.whole().query, slice.query_heads(), "queries");
}
/// The keys or values of a part, in its order. Shapes: [batch, key heads, rows, dim] -> the part's key heads.
/// Throws: errc::head_partition for other heads than the whole's.
template <class T>
[[nodiscard]] auto key_heads_of(const heads_view<T>& whole, const head_slice& slice) {
  return detail::heads_of(whole, slice.whole().key_value, slice.key_heads(), "keys or values");
}

/// What one part computed, and the heads that it computed it for.
template <class T>
struct part_result {
  head_slice heads;
  heads_view<const T> output;
  tensor_view<const T, 3> log_sum_exp;
};

/// The output and log-sum-exp of the whole: every head at its global place.
/// Shapes: of each part output [batch, its query heads, queries, value dim] and log_sum_exp [batch, its query heads,
///         queries]; the parts in the order of the partition.
/// Throws: errc::head_partition for parts missing, or whose heads are not the partition's in its order;
///         errc::shape_mismatch for results of two calls.
template <class T>
[[nodiscard]] attention_result<T> joined(const head_partition& partition, std::span<const part_result<T>> parts) {
  require(std::cmp_equal(parts.size(), partition.size()), errc::head_partition, "joined parts", "parts",
          partition.size(), parts.size());
  violations found;
  const auto& first = parts.front().output;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const part_result<T>& part = parts[p];
    require_same_heads(part.heads, partition.part(static_cast<index_t>(p)), fmt::format("part {}", p));
    const index_t heads = part.heads.layout().query;
    const auto expect = [&](index_t actual, index_t expected, std::string_view axis) {
      found.expect(actual == expected, errc::shape_mismatch, "joined parts", text("{} of part {}", axis, p), expected,
                   actual);
    };
    expect(part.output.extent(0), first.extent(0), "batch");
    expect(part.output.extent(1), heads, "heads");
    expect(part.output.extent(2), first.extent(2), "rows");
    expect(part.output.extent(3), first.extent(3), "value dim");
    expect(part.log_sum_exp.extent(0), first.extent(0), "batch of the log_sum_exp");
    expect(part.log_sum_exp.extent(1), heads, "heads of the log_sum_exp");
    expect(part.log_sum_exp.extent(2), first.extent(2), "rows of the log_sum_exp");
  }
  found.throw_if_any();
  attention_result<T> whole;
  whole.output = tensor<T, 4>({first.extent(0), partition.whole().query, first.extent(2), first.extent(3)});
  whole.log_sum_exp = tensor<T, 3>({first.extent(0), partition.whole().query, first.extent(2)});
  for (const part_result<T>& part : parts) {
    for (index_t b = 0; b < first.extent(0); ++b) {
      for (index_t n = 0; n < part.heads.layout().query; ++n) {
        const index_t head = part.heads.global(head_index{n});
        const auto lse = part.log_sum_exp.row(b, n);
        std::copy(lse.begin(), lse.end(), whole.log_sum_exp.view().row(b, head).begin());
        for (index_t row = 0; row < first.extent(2); ++row) {
          const auto from = part.output.row(b, n, row);
          std::copy(from.begin(), from.end(), whole.output.view().row(b, head, row).begin());
        }
      }
    }
  }
  return whole;
}

}  // namespace posgeo::contract
