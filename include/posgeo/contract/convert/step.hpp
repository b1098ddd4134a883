// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/checkpoint_contract.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace posgeo::contract {

/// Numbers of a checkpoint, dense row-major. What is stored narrower is exact in double.
struct stored_tensor {
  std::vector<index_t> extents;
  std::vector<double> values;
  friend bool operator==(const stored_tensor&, const stored_tensor&) = default;
};

/// Tensors by name, or by role: what the contract's family calls them (expected_tensors).
using named_tensors = std::map<std::string, stored_tensor>;

/// Whether the scores before and after a step are formed from the same numbers in the same order.
enum class step_arithmetic { same, other_order };

/// A conversion on its way: what the tensors, by role, mean by now.
struct conversion_state {
  checkpoint_contract contract;
  named_tensors tensors;
  std::vector<std::string> identities = {};  ///< why the scores are the same, a sentence for each step taken
  step_arithmetic arithmetic = step_arithmetic::same;
};

/// Brings the state nearer to the target: where they differ in what the step is about, it moves the tensors, changes
/// the state's contract and says the identity. Anything else it leaves alone.
/// Throws: errc::conversion for numbers that the target's contract cannot hold.
using conversion_step = std::function<void(conversion_state& state, const checkpoint_contract& target)>;

namespace convert_detail {

/// The tensor whose slices along an axis are order[0], order[1], ... of the given one; -1 is a slice of zeros.
inline stored_tensor gathered(const stored_tensor& from, std::size_t axis, const std::vector<index_t>& order) {
  const auto product = [&](std::size_t begin, std::size_t end) {
    std::size_t count = 1;
    for (std::size_t n = begin; n < end; ++n) count *= static_cast<std::size_t>(from.extents[n]);
    return count;
  };
  const std::size_t outer = product(0, axis);
  const std::size_t inner = product(axis + 1, from.extents.size());
  const auto slices = static_cast<std::size_t>(from.extents[axis]);
  stored_tensor to{.extents = from.extents, .values = {}};
  to.extents[axis] = static_cast<index_t>(order.size());
  to.values.reserve(outer * inner * order.size());
  for (std::size_t n = 0; n < outer; ++n) {
    for (const index_t slice : order) {
      if (slice < 0) {
        to.values.insert(to.values.end(), inner, 0.0);
        continue;
      }
      const auto first =
          from.values.begin() + static_cast<std::ptrdiff_t>((n * slices + static_cast<std::size_t>(slice)) * inner);
      to.values.insert(to.values.end(), first, first + static_cast<std::ptrdiff_t>(inner));
    }
  }
  return to;
}

/// The axis of a table along which positions, offsets or buckets are counted.
inline std::size_t row_axis(table_layout layout) {
  return layout == table_layout::heads_by_buckets || layout == table_layout::rows_per_head ? 1 : 0;
}

/// The roles of the tables that a family has in a layout.
inline std::vector<std::string> table_roles(const checkpoint_contract& c) {
  switch (c.family) {
    case checkpoint_family::shaw_key:
      return {"key_table"};
    case checkpoint_family::shaw_key_value:
      return {"key_table", "value_table"};
    case checkpoint_family::rotary:
      return {};
    default:
      break;
  }
  if (!checkpoint_detail::of_deberta(c.family) || c.layout == stated<table_layout>(table_layout::rows_by_width)) {
    return {"table"};
  }
  std::vector<std::string> roles;
  if (c.family != checkpoint_family::deberta_p2c) roles.push_back("position_keys");
  if (c.family != checkpoint_family::deberta_c2p) roles.push_back("position_queries");
  return roles;
}

/// Gives every table the rows order[0], order[1], ... of what it has.
inline void take_rows(conversion_state& state, const std::vector<index_t>& order) {
  for (const std::string& role : table_roles(state.contract)) {
    stored_tensor& table = state.tensors.at(role);
    table = gathered(table, row_axis(*state.contract.layout.value()), order);
  }
  state.contract.rows = static_cast<index_t>(order.size());
}

/// 0, 1, ... count - 1.
inline std::vector<index_t> counted(index_t count) { return head_order::natural(count).heads(); }

/// Whether two slices of a tensor along an axis hold the same numbers.
inline bool equal_slices(const stored_tensor& tensor, std::size_t axis, index_t a, index_t b) {
  return gathered(tensor, axis, {a}).values == gathered(tensor, axis, {b}).values;
}

}  // namespace convert_detail
}  // namespace posgeo::contract
