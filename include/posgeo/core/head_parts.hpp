// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/head_slice.hpp>
#include <posgeo/core/head_tables.hpp>
#include <posgeo/core/policy.hpp>

#include <type_traits>
#include <vector>

namespace posgeo {

/// The numbers of a part, one for each of its query heads.
[[nodiscard]] inline std::vector<double> numbers_of(std::span<const double> whole, const head_slice& slice,
                                                    std::string_view object) {
  slice.require_of(static_cast<index_t>(whole.size()), object);
  std::vector<double> part;
  for (const index_t head : slice.query_heads()) part.push_back(whole[static_cast<std::size_t>(head)]);
  return part;
}

/// The columns of a part. Shapes: [rows, query heads] -> [rows, query heads of the part].
template <class T>
[[nodiscard]] table<T> columns_of(const table<T>& whole, const head_slice& slice, std::string_view object) {
  slice.require_of(whole.columns(), object);
  std::vector<T> part;
  for (index_t row = 0; row < whole.rows(); ++row) {
    for (const index_t head : slice.query_heads()) part.push_back(whole(row, head));
  }
  return {part, whole.rows(), slice.layout().query};
}

/// The rows of a part, `each` for every head. Shapes: [query heads * each, columns] -> the same for the part's heads.
template <class T>
[[nodiscard]] table<T> rows_of(const table<T>& whole, index_t each, const head_slice& slice, std::string_view object) {
  require(each > 0 && whole.rows() % each == 0, errc::head_partition, object, "rows", text("whole heads of {}", each),
          whole.rows());
  slice.require_of(whole.rows() / each, object);
  std::vector<T> part;
  for (const index_t head : slice.query_heads()) {
    for (index_t row = 0; row < each; ++row) {
      const auto from = whole.row(head * each + row);
      part.insert(part.end(), from.begin(), from.end());
    }
  }
  return {part, slice.layout().query * each, whole.columns()};
}

/// The tables of a part, laid out as those of the whole: its heads', or the one that all heads share.
template <class T>
[[nodiscard]] head_tables<T> tables_of(const head_tables<T>& whole, const head_slice& slice, std::string_view object) {
  if (whole.tables() == 1) return whole;
  slice.require_of(whole.tables(), object);
  const index_t count = slice.layout().query;
  if (whole.by_row()) return head_tables<T>::stacked(rows_of(whole.all(), whole.rows(), slice, object), count);
  std::vector<T> part;
  for (index_t r = 0; r < whole.rows(); ++r) {
    for (const index_t head : slice.query_heads()) {
      const auto from = whole.row(head_index{head}, r);
      part.insert(part.end(), from.begin(), from.end());
    }
  }
  return head_tables<T>::by_column(table<T>(part, whole.rows(), count * whole.dim()), count);
}

/// A policy that says what the heads of a slice read of it.
template <class P>
concept parted_by_head = requires(const P& policy, const head_slice& slice) {
  { policy.part(slice) } -> std::same_as<P>;
};

/// A policy of a family whose terms are never told which head they compute, so that every part has all of it.
template <class P>
concept blind_to_heads = member_of<P, family::state_encoder> || member_of<P, family::visibility> ||
    member_of<P, family::score_scale> || member_of<P, family::softcap>;

/// The policy for the heads of a slice. One that might hold numbers of each head and does not say what a part of them
/// is does not compile.
/// Throws: errc::head_partition for a policy of another number of heads than the slice's whole.
template <class P>
[[nodiscard]] P part_of(const P& policy, [[maybe_unused]] const head_slice& slice) {
  static_assert(parted_by_head<P> || blind_to_heads<P>,
                "part_of: terms of this family are told their head, so the policy must say part(const head_slice&)");
  if constexpr (parted_by_head<P>) {
    return policy.part(slice);
  } else {
    return policy;
  }
}

}  // namespace posgeo
