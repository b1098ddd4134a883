// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/row_identity.hpp>

#include <string>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace row_identity_test {

using namespace posgeo;
using namespace posgeo::test;

std::string said(const row_identity& rows, const row_identity& other) {
  violations found;
  rows.expect(other, "column", found);
  REQUIRE(codes(found) == std::vector{errc::row_identity});
  return found.front().message;
}

TEST_CASE("an identity names every row of a call by sequence and position", "[row_identity]") {
  for (const position_call& call : random_calls(301)) {
    const row_identity keys = row_identity::of(call.key_space());
    CHECK(keys.entries() == call.batch());
    CHECK(keys.rows() == call.keys());
    for (const batch_index b : indices<batch_index>(call.batch())) {
      for (const key_index j : indices<key_index>(call.keys())) {
        const row_name& name = keys.name(b.value(), j.value());
        CHECK(name.active == call.active(b, j));
        CHECK(name.position == call.at(b, j).value());
        CHECK((!name.active || name.sequence == call.sequence(b, j)));
      }
    }
    CHECK(keys == row_identity::of(call.key_space()));
  }
}

TEST_CASE("all padding is alike and nothing else is", "[row_identity]") {
  CHECK(row_name{3, 8, false} == row_name{1, 5, false});
  CHECK(row_name{3, 8, false} != row_name{3, 8, true});
  CHECK(row_name{3, 8, true} != row_name{3, 9, true});
  CHECK(row_name{2, 8, true} != row_name{3, 8, true});
}

TEST_CASE("the first row that differs is named", "[row_identity]") {
  const row_identity rows(2, 2, {{0, 5}, {0, 2}, {1, 7}, {0, 0, false}});
  CHECK(said(rows, row_identity(2, 2, {{0, 5}, {0, 2}, {1, 8}, {0, 0, false}})) ==
        "column, row 0 of entry 1: expected position 7 of sequence 1, got position 8 of sequence 1");
  CHECK(said(rows, row_identity(2, 2, {{0, 5}, {0, 0, false}, {1, 8}, {0, 0, false}})) ==
        "column, row 1 of entry 0: expected position 2 of sequence 0, got padding");
  CHECK(said(rows, row_identity(1, 4, {{0, 5}, {0, 2}, {1, 7}, {0, 0, false}})) ==
        "column, rows: expected 2 entries x 2 rows, got 1 x 4");
  CHECK(said(rows, row_identity(2, 2, {{0, 5}, {0, 2}, {1, 7}, {0, 0, false}}, coordinate_frame("source"))) ==
        "column, coordinate frame: expected sequence, got source");
}

TEST_CASE("a column belongs to the rows of a call in their order", "[row_identity]") {
  const row_column<double> column(row_identity::of(call_at({4, 9, 6}).key_space()), {0.25, -1.5, 3.0});
  CHECK(column.at(0, 1) == -1.5);
  const auto fits = [&](const position_call& call) {
    violations found;
    column.expect_of(call.key_space(), "column", found);
    return codes(found);
  };
  CHECK(fits(call_at({4}, {4, 9, 6})).empty());
  CHECK(fits(call_at({4}, {9, 4, 6})) == std::vector{errc::row_identity});
  CHECK(fits(call_at({4}, {4, 9})) == std::vector{errc::row_identity});
  CHECK(fits(call_at({4}, {5, 10, 7})) == std::vector{errc::row_identity});
}

TEST_CASE("renamed rows remember their first names and a call does not", "[row_identity]") {
  const row_identity rows(1, 2, {{0, 5}, {0, 7}});
  const row_identity others(1, 2, {{0, 5}, {0, 8}});
  const std::vector<row_name> from_zero{{0, 0}, {0, 1}};
  CHECK(rows.renamed(from_zero) == rows.renamed({{0, 3}, {0, 4}}).renamed(from_zero));
  CHECK(rows.renamed(from_zero).renamed({{0, 5}, {0, 7}}) == rows);
  CHECK_FALSE(rows.renamed(from_zero) == rows);
  CHECK(said(rows.renamed(from_zero), others.renamed(from_zero)) ==
        "column, row 1 of entry 0, before it was renumbered: expected position 7 of sequence 0, got position 8 of "
        "sequence 0");
  violations found;
  rows.renamed(from_zero).expect_of(call_at({0, 1}).query_space(), "rows", found);
  CHECK(found.empty());
  rows.expect_of(call_at({0, 1}).query_space(), "rows", found);
  CHECK(codes(found) == std::vector{errc::row_identity});
  CHECK(refusal([&] { return rows.renamed({{0, 0}}); }).code() == errc::row_count);
}

TEST_CASE("identities and columns refuse another number of names or values", "[row_identity]") {
  CHECK(refusal([] { return row_identity(2, 3, std::vector<row_name>(5)); }).code() == errc::row_count);
  CHECK(refusal([] { return row_identity(-1, 0, {}); }).code() == errc::row_count);
  CHECK(refusal([] { return row_identity(index_t{1} << 33, index_t{1} << 33, {}); }).code() == errc::row_count);
  const row_identity rows(2, 3, std::vector<row_name>(6));
  CHECK(refusal([&] { return row_column<int>(rows, std::vector<int>(7)); }).code() == errc::row_count);
}

}  // namespace row_identity_test
