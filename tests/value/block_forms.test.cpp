// SPDX-License-Identifier: MIT
#include "support/block_forms.hpp"

#include <posgeo/value/shaw_value.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"

namespace value_block_forms_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::beyond_ends;
using coordinate::clipped;
using value::shaw_value;

constexpr heads layout{.query = 4, .key_value = 2, .dim = 3};
constexpr index_t width = 5;  // of the values, which need not be head_dim

static_assert(class_values<compiled_t<shaw_value<float>, double>, double>);

/// Adds its weight, whatever the pair.
struct no_classes {
  void accumulate(batch_index, head_index, query_index, key_index, float, std::span<float>) const noexcept {}
};
static_assert(!class_values<no_classes, float>);

TEMPLATE_TEST_CASE("shaw's values are the weight times the row of the class", "[block_forms]", float, double) {
  for (const auto sign : {offset_sign::key_minus_query, offset_sign::query_minus_key}) {
    for (const index_t tables : {index_t{1}, layout.query}) {
      const auto all = random_table(tables * 8, width, 971);
      const shaw_value<double> policy(
          tables == 1 ? head_tables<double>::shared(all) : head_tables<double>::stacked(all, tables),
          clipped({.behind = 5, .ahead = 2, .sign = sign, .beyond = beyond_ends::clipped}));
      for (const position_call& call : random_calls(972)) {
        const auto term = policy.template compile<TestType>(call, layout);
        const auto side = term.classes_of_value();
        REQUIRE(side.has_value());
        REQUIRE(side->classes() == 8);
        for_each_place(call, layout.query, [&](batch_index b, head_index h, query_index i, key_index j) {
          const auto weight = static_cast<TestType>(0.37 + 0.11 * static_cast<double>(j.value()));
          std::vector<TestType> out(width);
          term.accumulate(b, h, i, j, weight, std::span<TestType>(out));
          std::vector<TestType> row(width);
          side->row(h, side->of(call.offset(b, i, j)), std::span<TestType>(row));
          std::vector<TestType> shifted = row;
          side->shift(h, std::span<TestType>(shifted));
          REQUIRE(shifted == row);
          for (TestType& x : row) x *= weight;
          REQUIRE(out == row);
        });
      }
      const auto term = policy.template compile<TestType>(random_calls(973).front(), layout);
      const auto side = term.classes_of_value();
      check_constant_beyond(side->constant_beyond(), [&](relative_offset o) { return side->of(o); });
    }
  }
}

}  // namespace value_block_forms_test
