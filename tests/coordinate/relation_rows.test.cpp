// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/relation_rows.hpp>

#include <algorithm>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace relation_rows_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::clipped;
using coordinate::relation_rows;

TEST_CASE("each pair reads the row of its clipped offset from its head's table", "[relation_rows]") {
  const auto stacked = random_table(2 * 5, 3, 551);
  const relation_rows<double> relations(head_tables<double>::stacked(stacked, 2), clipped::symmetric(2), "relations");
  const auto call = call_at({7}, {4, 6, 7, 8, 12});
  const std::vector<index_t> classes{0, 1, 2, 3, 4};  // offsets -3, -1, 0, 1, 5
  for (const head_index h : indices<head_index>(2)) {
    for (const key_index j : indices<key_index>(5)) {
      const auto row = relations.row(call, batch_index{0}, h, query_index{0}, j);
      const auto expected = stacked.row(5 * h.value() + classes[static_cast<std::size_t>(j.value())]);
      CHECK(std::equal(row.begin(), row.end(), expected.begin(), expected.end()));
    }
  }
  violations found;
  relations.check(call, 3, 4, "relations", found);
  CHECK(codes(found) == std::vector{errc::head_count, errc::shape_mismatch});
}

TEST_CASE("relation rows need a row for each class", "[relation_rows]") {
  const auto rows = head_tables<double>::shared(random_table(4, 3, 552));
  CHECK(refusal([&] { return relation_rows<double>(rows, clipped::symmetric(2), "relations"); }).code() ==
        errc::table_rows);
}

}  // namespace relation_rows_test
