// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/coordinate/offset_bounds.hpp>

#include "support/catch.hpp"

namespace posgeo::test {

/// Calls visit(b, h, i, j) for every pair of a call, padding included, and every query head.
template <class Visit>
void for_each_place(const position_call& call, index_t query_heads, const Visit& visit) {
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const head_index h : indices<head_index>(query_heads)) {
      for (const query_index i : indices<query_index>(call.queries())) {
        for (const key_index j : indices<key_index>(call.keys())) visit(b, h, i, j);
      }
    }
  }
}

/// at(offset) changes inside of the ends, next to them, and stays what it is beyond them.
template <class At>
void check_constant_beyond(const coordinate::offset_bounds& ends, const At& at) {
  REQUIRE(ends.lowest <= ends.highest);
  for (const index_t further : {index_t{1}, index_t{2}, index_t{17}, index_t{1} << 33, position_limit}) {
    CAPTURE(ends.lowest.value(), ends.highest.value(), further);
    CHECK(at(relative_offset{ends.lowest.value() - further}) == at(ends.lowest));
    CHECK(at(relative_offset{ends.highest.value() + further}) == at(ends.highest));
  }
  if (ends.lowest == ends.highest) return;
  CHECK(at(relative_offset{ends.lowest.value() + 1}) != at(ends.lowest));
  CHECK(at(relative_offset{ends.highest.value() - 1}) != at(ends.highest));
}

}  // namespace posgeo::test
