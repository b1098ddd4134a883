// SPDX-License-Identifier: MIT
#include <posgeo/value/shaw_value.hpp>

#include "support/described.hpp"
#include "support/random.hpp"

namespace value_describe_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::beyond_ends;
using coordinate::clipped;
using tables = head_tables<double>;

TEST_CASE("shaw values are described by their tables and classes", "[describe]") {
  const auto rows = random_table(8, 3, 4451);
  const auto made = [](const tables& of, index_t behind, index_t ahead, offset_sign sign, beyond_ends beyond) {
    return value::shaw_value<double>(of, clipped({.behind = behind, .ahead = ahead, .sign = sign, .beyond = beyond}))
        .describe();
  };
  std::vector<double> changed(rows.values().begin(), rows.values().end());
  changed[22] = -changed[22];
  constexpr auto forward = offset_sign::key_minus_query;
  constexpr auto share = beyond_ends::clipped;
  const auto stacked = tables::stacked(rows, 2);
  check_described(
      made(stacked, 2, 1, forward, share), made(tables::stacked(random_table(8, 3, 4451), 2), 2, 1, forward, share),
      {{{"table"}, made(tables::stacked(table<double>(changed, 8, 3), 2), 2, 1, forward, share)},
       {{"table"}, made(tables::shared(random_table(4, 3, 4451)), 2, 1, forward, share)},
       {{"table", "table_axes"}, made(tables::by_column(table<double>(rows.values(), 4, 6), 2), 2, 1, forward, share)},
       {{"rule.behind", "rule.ahead"}, made(stacked, 3, 0, forward, share)},
       {{"rule.sign"}, made(stacked, 2, 1, offset_sign::query_minus_key, share)},
       {{"rule.beyond"}, made(stacked, 2, 1, forward, beyond_ends::refused)}});
}

}  // namespace value_describe_test
