// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/everything.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include "golden/golden_case.hpp"

namespace posgeo::golden {

/// The call of rows [entries, rows] that stand at the case's position ids, repeated ones included.
[[nodiscard]] inline position_call at_position_ids(const golden_case& c) {
  const auto ids = c.values<index_t>("position_ids");
  const call::explicit_side side{.positions = ids, .rows = c.shape("position_ids")[1]};
  return call::explicit_positions(
      {.entries = c.shape("position_ids")[0], .query = side, .key = side, .reuse = position_reuse::intended});
}

/// Turns query rows and key rows in place, as the plan of an attention does.
template <class T, class Transform>
void turn(const Transform& transform, const position_call& call, const heads& layout, heads_view<T> query,
          heads_view<T> key) {
  const auto plan =
      attention{layout, scale::inverse_sqrt_head_dim{}, transform, visible::everything{}}.template compile<T>(call);
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const head_index h : indices<head_index>(layout.query)) {
      for (const query_index i : indices<query_index>(call.queries())) {
        plan.transform_query(b, h, i, query.row(b.value(), h.value(), i.value()));
      }
    }
    for (const head_index h : indices<head_index>(layout.key_value)) {
      for (const key_index j : indices<key_index>(call.keys())) {
        plan.transform_key(b, h, j, key.row(b.value(), h.value(), j.value()));
      }
    }
  }
}

/// Llama: the whole head turns, partners half a head apart. Adds cosines, sines and the turned rows.
template <class T, class Transform>
void turn_as_llama(const Transform& transform, const position_call& call, const heads& layout, const golden_case& c,
                   outputs<T>& out) {
  // A row (1, ..., 1, 0, ..., 0) turns into (cosines, sines); the reference stores each angle twice.
  const auto half = static_cast<std::size_t>(layout.dim / 2);
  std::vector<T> cosines;
  std::vector<T> sines;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      std::vector<T> row(2 * half);
      std::fill_n(row.begin(), half, T{1});
      transform.rotate(call.at(b, i), std::span<T>(row));
      const auto middle = row.begin() + static_cast<std::ptrdiff_t>(half);
      for (int twice = 0; twice < 2; ++twice) {
        cosines.insert(cosines.end(), row.begin(), middle);
        sines.insert(sines.end(), middle, row.end());
      }
    }
  }
  out.add("cos", cosines);
  out.add("sin", sines);

  auto query = c.values<T>("q");
  auto key = c.values<T>("k");
  turn(transform, call, layout, heads_first(query.data(), call.batch(), layout.query, call.queries(), layout.dim),
       heads_first(key.data(), call.batch(), layout.key_value, call.keys(), layout.dim));
  out.add("q_rot", query);
  out.add("k_rot", key);
}

}  // namespace posgeo::golden
