// SPDX-License-Identifier: MIT
#include <posgeo/manifest/row_space.hpp>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/manifests.hpp"
#include "support/random_calls.hpp"

namespace row_space_record_test {

using namespace posgeo;
using namespace posgeo::test;

template <class Index>
void check_rows(const position_call& call, const manifest::row_table& table, index_t rows) {
  REQUIRE(table.storage_rows == rows);
  REQUIRE(std::cmp_equal(table.entries.size(), call.batch()));
  REQUIRE_FALSE(broken(table));
  for (index_t b = 0; b < call.batch(); ++b) {
    const manifest::row_entry& entry = table.entries[static_cast<std::size_t>(b)];
    REQUIRE(numbers_of(entry.logical_position_per_row) == positions<Index>(call, b));
    REQUIRE(values_of(entry.sequence_id_per_row) == sequences<Index>(call, b));
    std::vector<index_t> tokens;
    for (const manifest::activity one : values_of(entry.active_token_per_row)) {
      tokens.push_back(one == manifest::activity::token ? 1 : 0);
    }
    REQUIRE(tokens == active<Index>(call, b));
  }
}

TEST_CASE("a row table has the position, sequence and activity of every row", "[manifest]") {
  auto calls = random_calls(8201);
  dice roll(8202);
  for (int round = 0; round < 20; ++round) calls.push_back(random_cross(roll));
  for (const position_call& call : calls) {
    check_rows<query_index>(call, manifest::rows_of_space(call.query_space()), call.queries());
    check_rows<key_index>(call, manifest::rows_of_space(call.key_space()), call.keys());
  }
}

TEST_CASE("affine rows give the table that the same rows spelled out give", "[manifest]") {
  for (const position_call& call : random_calls(8203)) {
    const auto spelled = [&](const row_space& space) {
      explicit_rows rows;
      for (index_t b = 0; b < space.entries(); ++b) {
        for (index_t r = 0; r < space.rows(); ++r) {
          rows.positions.push_back(space.at(b, r).value());
          rows.sequences.push_back(space.sequence(b, r));
          rows.active.push_back(space.active(b, r) ? 1 : 0);
        }
      }
      return row_space{space.entries(), space.rows(), std::move(rows), space.frame(), space.origin()};
    };
    REQUIRE(manifest::rows_of_space(call.key_space()) == manifest::rows_of_space(spelled(call.key_space())));
    REQUIRE(manifest::rows_of_space(call.query_space()) == manifest::rows_of_space(spelled(call.query_space())));
  }
}

TEST_CASE("a stream is a row's own", "[manifest]") {
  dice roll(8204);
  const position_call call = random_cross(roll);
  const auto queries = manifest::rows_of_space(call.query_space());
  const auto keys = manifest::rows_of_space(call.key_space());
  CHECK(queries.entries[0].stream_per_row == manifest::runs<stream>{{call.queries(), stream::decoder}});
  CHECK(keys.entries[0].stream_per_row == manifest::runs<stream>{{call.keys(), stream::encoder}});
}

TEST_CASE("lists that do not count every row once are broken", "[manifest]") {
  const std::vector<index_t> lengths{3, 5};
  const position_call call = call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart});
  const auto whole = manifest::rows_of_space(call.key_space());
  auto table = whole;
  table.entries[0].sequence_id_per_row.pop_back();
  CHECK(broken(table)->key == "entries");
  table = whole;
  table.entries[0].stream_per_row[0].count += 1;
  CHECK(broken(table)->key == "entries");
  table = whole;
  table.entries[0].active_token_per_row.clear();
  CHECK(broken(table)->key == "entries");
  table = whole;
  table.storage_rows = -1;
  CHECK(broken(table)->key == "storage_rows");
  table = whole;
  table.entries.clear();
  CHECK(broken(table)->key == "entries");
  CHECK(broken(manifest::row_space_record{call.kind(), whole, table})->key == "key");
}

}  // namespace row_space_record_test
