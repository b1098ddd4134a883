// SPDX-License-Identifier: MIT
#include <posgeo/coordinate/attribute_rows.hpp>

#include <limits>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace attribute_rows_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::edge_attribute_rows;
using coordinate::node_attribute_rows;

TEST_CASE("each attribute has a block of rows and the variants differ in the first", "[attribute_rows]") {
  const edge_attribute_rows rows{.first = 5, .stride = 7};
  CHECK(rows(0, 0) == 5);
  CHECK(rows(2, 3) == 5 + 14 + 3);
  CHECK(node_attribute_rows::graphormer()(1, 4) == 518);
  CHECK(node_attribute_rows::transformers()(1, 4) == 519);
  CHECK(edge_attribute_rows::graphormer()(1, 3) == 518);
}

// A row meant for nodes is one off for edges, so the two do not convert.
static_assert(!std::is_convertible_v<node_attribute_rows, edge_attribute_rows>);

TEST_CASE("values that would read other rows are refused", "[attribute_rows]") {
  const edge_attribute_rows rows{.first = 2, .stride = 4};
  const auto found_in = [&](const std::vector<index_t>& values, index_t table_rows) {
    violations found;
    rows.check(values, table_rows, "edges", found);
    return codes(found);
  };
  CHECK(found_in({3, 0}, 7).empty());
  CHECK(found_in({3, 1}, 7) == std::vector{errc::graph_structure});  // row 7 of 7
  CHECK(found_in({4, 0}, 99) == std::vector{errc::graph_structure});
  CHECK(found_in({0, -1}, 99) == std::vector{errc::graph_structure});
  CHECK(found_in({std::numeric_limits<index_t>::max(), 0}, 99) == std::vector{errc::graph_structure});

  for (const edge_attribute_rows& far : {edge_attribute_rows{.first = 0, .stride = index_t{1} << 62},
                                         edge_attribute_rows{.first = std::numeric_limits<index_t>::max(), .stride = 4},
                                         edge_attribute_rows{.first = -1, .stride = 4}}) {
    violations found;
    far.check(std::vector<index_t>{0, 1, 2, 3, 0}, 99, "edges", found);
    CHECK(codes(found) == std::vector{errc::graph_structure});
  }
}

}  // namespace attribute_rows_test
