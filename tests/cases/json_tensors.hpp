// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/model/attention.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <vector>

#include "cases/judge.hpp"
#include "cases/operations.hpp"

namespace posgeo::cases {

using nlohmann::json;

/// Nested lists as a tensor of four axes; an axis that an empty list leaves unknown has the extent of `otherwise`.
[[nodiscard]] inline tensor<double, 4> read_tensor(const json& nested, std::array<index_t, 4> otherwise = {}) {
  std::array<index_t, 4> extents = otherwise;
  const json* level = &nested;
  for (index_t& extent : extents) {
    extent = static_cast<index_t>(level->size());
    if (level->empty()) break;
    level = &level->front();
  }
  tensor<double, 4> out(extents);
  auto to = out.values().begin();
  const auto copy = [&](const auto& self, const json& part) -> void {
    if (!part.is_array()) *to++ = number(part);
    if (part.is_array()) {
      for (const json& element : part) self(self, element);
    }
  };
  copy(copy, nested);
  return out;
}

/// A tensor as nested lists.
template <class T, std::size_t Rank>
[[nodiscard]] json nested(const tensor<T, Rank>& values, std::size_t axis = 0, std::size_t first = 0) {
  if (axis == Rank) return values.values()[first];
  json out = json::array();
  for (index_t n = 0; n < values.extent(axis); ++n) {
    out.push_back(
        nested(values, axis + 1, first * static_cast<std::size_t>(values.extent(axis)) + static_cast<std::size_t>(n)));
  }
  return out;
}

/// A tensor of one head: a row for each inner list.
[[nodiscard]] inline tensor<double, 4> one_head(const json& rows) {
  return read_tensor(json::array({json::array({rows})}));
}

/// Column vectors of one head: rows of one number each.
[[nodiscard]] inline tensor<double, 4> column(const std::vector<double>& numbers) {
  tensor<double, 4> out({1, 1, static_cast<index_t>(numbers.size()), 1});
  std::copy(numbers.begin(), numbers.end(), out.values().begin());
  return out;
}

/// The list [first, last).
[[nodiscard]] inline std::vector<index_t> counting(index_t first, index_t last) {
  std::vector<index_t> out;
  for (index_t n = first; n < last; ++n) out.push_back(n);
  return out;
}

/// Queries and keys that stand at the given positions, in every entry.
[[nodiscard]] inline position_call call_at(const std::vector<index_t>& queries, const std::vector<index_t>& keys,
                                           index_t entries = 1) {
  const auto repeated = [entries](const std::vector<index_t>& one) {
    std::vector<index_t> all;
    for (index_t b = 0; b < entries; ++b) all.insert(all.end(), one.begin(), one.end());
    return all;
  };
  const auto q = repeated(queries);
  const auto k = repeated(keys);
  return call::explicit_positions({.entries = entries,
                                   .query = {.positions = q, .rows = static_cast<index_t>(queries.size())},
                                   .key = {.positions = k, .rows = static_cast<index_t>(keys.size())},
                                   .reuse = position_reuse::intended});
}
[[nodiscard]] inline position_call call_at(const json& input) {
  return call_at(input.at("q_positions").get<std::vector<index_t>>(),
                 input.at("k_positions").get<std::vector<index_t>>());
}

/// Runs a model over a call in double and returns everything.
template <class... Policies>
[[nodiscard]] attention_result<double> run(const attention<Policies...>& model, const position_call& call,
                                           const tensor<double, 4>& q, const tensor<double, 4>& k,
                                           const tensor<double, 4>& v) {
  return attend(eager{}, model.template compile<double>(call), {q.view(), k.view(), v.view()}, also::everything);
}

/// As run, with queries and keys of zeros: what positions do on their own. One head; values [keys] or none.
template <class... Policies>
[[nodiscard]] attention_result<double> run_without_content(const attention<Policies...>& model,
                                                           const position_call& call, std::vector<double> values = {}) {
  values.resize(static_cast<std::size_t>(call.keys()));
  return run(model, call, tensor<double, 4>({1, 1, call.queries(), 1}), tensor<double, 4>({1, 1, call.keys(), 1}),
             column(values));
}

/// {"error": whether posgeo refused}.
template <class Build>
[[nodiscard]] json refusal(const Build& build) {
  try {
    build();
  } catch (const error&) {
    return {{"error", true}};
  }
  return {{"error", false}};
}

/// Throws not_supported unless the input's entry is the value named, which is all that the operation knows.
inline void expect(const json& input, const char* key, const json& only) {
  if (input.at(key) != only) throw not_supported(std::string("input ") + key + " " + input.at(key).dump());
}

}  // namespace posgeo::cases
