// SPDX-License-Identifier: MIT
#include <posgeo/call/same_geometry.hpp>

#include <functional>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"

namespace same_geometry_test {

using namespace posgeo;
using namespace posgeo::test;

explicit_rows spelled(const std::vector<index_t>& positions) {
  return {positions, std::vector<index_t>(positions.size(), 3), std::vector<std::uint8_t>(positions.size(), 1)};
}

TEST_CASE("a call equals itself and its copies made again", "[same_geometry]") {
  dice roll(1);
  const auto once = random_calls(31);
  const auto again = random_calls(31);
  for (std::size_t n = 0; n < once.size(); ++n) {
    CHECK(same_geometry(once[n], once[n]));
    CHECK(same_geometry(once[n], again[n]));
    CHECK(same_geometry(again[n], once[n]));
  }
  CHECK(same_geometry(random_cross(roll), random_cross(roll)) == false);
}

TEST_CASE("random calls are the same only if every row and cache is", "[same_geometry]") {
  const auto all = random_calls(32);
  const auto rows_agree = [](const row_space& a, const row_space& b) {
    for (index_t entry = 0; entry < a.entries(); ++entry) {
      for (index_t row = 0; row < a.rows(); ++row) {
        if (a.at(entry, row) != b.at(entry, row) || a.active(entry, row) != b.active(entry, row)) return false;
        if (a.sequence(entry, row) != b.sequence(entry, row)) return false;
      }
    }
    return true;
  };
  for (const position_call& a : all) {
    for (const position_call& b : all) {
      if (!same_geometry(a, b)) continue;
      REQUIRE((a.kind() == b.kind() && a.batch() == b.batch() && a.queries() == b.queries() && a.keys() == b.keys()));
      CHECK(rows_agree(a.query_space(), b.query_space()));
      CHECK(rows_agree(a.key_space(), b.key_space()));
      CHECK(a.same_frame() == b.same_frame());
      for (const batch_index entry : indices<batch_index>(a.batch())) {
        CHECK(a.committed_length(entry) == b.committed_length(entry));
        CHECK(a.past_length(entry) == b.past_length(entry));
      }
    }
  }
}

TEST_CASE("a change of any one part makes another call", "[same_geometry]") {
  const auto query = [](coordinate_frame frame, stream origin, affine_rows entry = {7, 0, 1, 3}, index_t rows = 2,
                        std::optional<index_t> padded = 5) {
    return row_space{rows, {1, [=](index_t) { return entry; }}, frame, origin, padded};
  };
  const auto key = [](explicit_rows rows, index_t count = 3) {
    return row_space{1, count, std::move(rows), coordinate_frame{}, stream::decoder};
  };
  const auto cache = [](index_t committed, index_t past) {
    return entry_list<cache_state>{1, [=](index_t) { return cache_state{committed, past}; }};
  };
  const coordinate_frame frame;
  const call_description base{.kind = call_kind::decode_step,
                              .query = query(frame, stream::decoder),
                              .key = key(spelled({7, 2, 5})),
                              .cache = cache(7, 2)};
  const auto inactive = [](std::size_t row) {
    explicit_rows rows = spelled({7, 2, 5});
    rows.active[row] = 0;
    return rows;
  };
  const auto owned = [](index_t by) {
    explicit_rows rows = spelled({7, 2, 5});
    rows.sequences[1] = by;
    return rows;
  };
  const std::vector<std::function<void(call_description&)>> changes{
      [](auto& d) { d.kind = call_kind::prefill_chunk; },
      [&](auto& d) { d.query = query(coordinate_frame("target"), stream::decoder); },
      [&](auto& d) { d.query = query(frame, stream::shared); },
      [&](auto& d) {
        d.query = query(frame, stream::decoder, {6, 1, 2, 3});
      },
      [&](auto& d) {
        d.query = query(frame, stream::decoder, {7, 0, 1, 4});
      },
      [&](auto& d) {
        d.query = query(frame, stream::decoder, {7, 0, 2, 3});
      },
      [&](auto& d) {
        d.query = query(frame, stream::decoder, {7, 0, 1, 3}, 3);
      },
      [&](auto& d) {
        d.query = query(frame, stream::decoder, {7, 0, 1, 3}, 2, std::nullopt);
      },
      [&](auto& d) {
        d.key = key(spelled({7, 2, 4}));
      },
      [&](auto& d) {
        d.key = key(spelled({7, 2, 5, 6}), 4);
      },
      [&](auto& d) { d.key = key(inactive(2)); },
      [&](auto& d) { d.key = key(owned(4)); },
      [&](auto& d) {
        d.key = row_space{3, {1, [](index_t) { return affine_rows{5, 0, 3, 3}; }}, frame, stream::decoder};
      },
      [&](auto& d) { d.cache = cache(7, 3); },
      [&](auto& d) {
        d.query = query(frame, stream::decoder, {8, 0, 1, 3});
        d.cache = cache(8, 2);
      },
  };
  CHECK(same_geometry(position_call{base}, position_call{base}));
  for (std::size_t n = 0; n < changes.size(); ++n) {
    CAPTURE(n);
    auto other = base;
    changes[n](other);
    CHECK_FALSE(same_geometry(position_call{base}, position_call{other}));
    CHECK_FALSE(same_geometry(position_call{other}, position_call{base}));
  }
}

TEST_CASE("what a cache has seen tells two calls apart that have equal rows", "[same_geometry]") {
  const auto step = [](index_t committed, index_t past) {
    const call::decode_entry one{.committed_length = committed, .query_position = committed, .past_length = past};
    return call::decode_step({.entries = {&one, 1}, .key_rows = 9});
  };
  CHECK(same_geometry(step(8, 4), step(8, 4)));
  CHECK_FALSE(same_geometry(step(8, 4), step(9, 4)));
  CHECK_FALSE(same_geometry(call_at({0, 1}), call_at({1, 0})));
}

}  // namespace same_geometry_test
