// SPDX-License-Identifier: MIT
#include <posgeo/attend/fused.hpp>
#include <posgeo/audit/examine.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>

#include <array>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace audit_examine_executors_test {

using namespace posgeo;
using namespace posgeo::audit;
using namespace posgeo::test;

constexpr heads layout{.query = 4, .key_value = 2, .dim = 6};

/// A bias, a turn, a content term and a value term at once.
auto of_four_families() {
  const coordinate::clipped classes(
      {.behind = 3, .ahead = 3, .sign = offset_sign::key_minus_query, .beyond = coordinate::beyond_ends::clipped});
  const coordinate::t5_bucket buckets(
      {.num_buckets = 8, .max_distance = 16, .direction = coordinate::bucket_direction::causal});
  const auto relations = [&](unsigned seed) { return head_tables<double>::shared(random_table(7, layout.dim, seed)); };
  return attention{
      layout,
      scale::inverse_sqrt_head_dim{},
      visible::active{},
      visible::segments{},
      visible::causal{},
      transform::rotary(frequency::geometric({.base = 100.0, .rotary_dim = 4}), {.pairs = transform::pairing::halves}),
      bias::t5<double>(random_table(8, layout.query, 41), buckets),
      content::shaw_key<double>(relations(42), classes),
      value::shaw_value<double>(relations(43), classes)};
}
position_call two_padded() {
  return call::padded_batch({.lengths = std::array<index_t, 2>{11, 5},
                             .rows = 13,
                             .side = call::padding_side::left,
                             .positions = call::padded_positions::contiguous(3)});
}

std::vector<std::string> said(const report& of, debt kind) {
  std::vector<std::string> all;
  for (const owed& one : of.debts) {
    if (one.kind == kind) all.push_back(one.because);
  }
  return all;
}

TEST_CASE("the fused executor has no fault in four families at once", "[audit]") {
  const report got = examine(as_function(fused{}), of_four_families(), two_padded(), {.name = "four families"});
  CHECK(faults(got) == 0);
  CHECK(got.from_reference > 0.0);
  CHECK(got.findings.size() == 15);
  for (const finding& one : got.findings) {
    CAPTURE(name_of(one.kind), name_of(one.expected), name_of(one.reference), name_of(one.found), one.message,
            one.from_reference, one.tolerance);
    const outcome how = outcome_of(one);
    CHECK((how == outcome::ok || how == outcome::none));
    if (one.found != verdict::invariant && one.found != verdict::changes) continue;
    CHECK(one.measured.log_sum_exp.has_value());
    CHECK(one.measured.weights.has_value());
    CHECK_FALSE(one.measured.score_differences.has_value());  // the value term hides small weights
  }

  // Rotated queries meet Shaw's rows, which nobody rotates.
  CHECK(said(got, debt::coordinate).size() == 1);
  // 11 tokens: offsets -10 .. 0. The clipped classes ahead of the query are never read.
  const std::vector<std::string> distance = said(got, debt::distance);
  const auto expect = [&distance](std::string_view words) {
    CAPTURE(words);
    CHECK(std::count(distance.begin(), distance.end(), words) == 1);
  };
  expect("the call: 11 offsets read 4 rows of shaw_key table, which cannot tell them all apart");
  expect("the call: 11 offsets read 7 rows of t5 table, which cannot tell them all apart");
  expect("the call: 11 offsets read 4 rows of shaw_value table, which cannot tell them all apart");
}

}  // namespace audit_examine_executors_test
