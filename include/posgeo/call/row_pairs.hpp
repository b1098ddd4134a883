// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_identity.hpp>

namespace posgeo {

/// One typed value for each pair of rows of an entry, tied to both rows by their identity: distances, paths, masks.
/// Shapes: [entries, rows, rows], first the row asked for, then the other; pairs with padding are never read.
/// Throws: errc::row_count if there is not one value for each pair.
template <class Value>
requires(!std::same_as<Value, bool>) class row_pairs {
 public:
  row_pairs(row_identity rows, std::vector<Value> values) : rows_(std::move(rows)) {
    const auto each = static_cast<std::size_t>(rows_.rows());
    const std::size_t expected = static_cast<std::size_t>(rows_.entries()) * each * each;
    require(values.size() == expected, errc::row_count, "row pairs", "values",
            text("{} entries x {} rows x {} rows", rows_.entries(), rows_.rows(), rows_.rows()), values.size());
    values_ = std::make_shared<const std::vector<Value>>(std::move(values));
  }

  [[nodiscard]] const row_identity& rows() const noexcept { return rows_; }
  [[nodiscard]] const std::vector<Value>& values() const noexcept { return *values_; }
  [[nodiscard]] const Value& at(index_t b, index_t row, index_t other) const noexcept {
    return (*values_)[static_cast<std::size_t>((b * rows_.rows() + row) * rows_.rows() + other)];
  }

  /// Refuses a side of a call whose rows are not those of the pairs, in their order.
  void expect_of(const row_space& space, std::string_view object, violations& found) const {
    rows_.expect_of(space, object, found);
  }

 private:
  row_identity rows_;
  std::shared_ptr<const std::vector<Value>> values_;
};

}  // namespace posgeo
