// SPDX-License-Identifier: MIT
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/call/cross_attention.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace tupe_relative_test {

using namespace posgeo;
using namespace posgeo::test;
using bias::tupe_relative;
using coordinate::bucket_direction;
using coordinate::t5_bucket;

static_assert(score_bias<tupe_relative<float>, float> && score_bias<tupe_relative<float>, double>);

constexpr heads three{.query = 3, .key_value = 1, .dim = 2};

t5_bucket buckets() {
  return t5_bucket({.num_buckets = 8, .max_distance = 4, .direction = bucket_direction::bidirectional});
}
table<double> weights_of(index_t rows, index_t columns = 3) { return random_table(rows, columns, 661); }

TEST_CASE("tupe relative rows are T5's but for CLS, whose row wins at the corner", "[tupe_relative]") {
  const tupe_relative<double> policy(weights_of(9), buckets(), {.cls = position{2}});
  const auto call = call_at({2, 5, 3}, {2, 3, 4, 5, 9});
  const auto term = policy.compile<double>(call, three);
  const auto weights = weights_of(9);
  // offsets of the second query: -3, -2, -1, 0, 4; of the third: -1, 0, 1, 2, 6
  const std::vector<index_t> expected{4, 4, 4, 4, 4, 8, 2, 1, 0, 7, 8, 0, 5, 6, 7};
  std::size_t n = 0;
  for (const query_index i : indices<query_index>(3)) {
    for (const key_index j : indices<key_index>(5)) {
      CHECK(term.row(batch_index{0}, i, j) == expected[n]);
      for (index_t h = 0; h < 3; ++h) {
        CHECK(term(batch_index{0}, head_index{h}, i, j) == weights(expected[n], h));
      }
      ++n;
    }
  }
}

TEST_CASE("no offset reads the rows of CLS", "[tupe_relative]") {
  for (index_t offset = -200; offset <= 200; ++offset) {
    const index_t bucket = buckets()(relative_offset{offset});
    CHECK(bucket != 4);
    CHECK(bucket < 8);
  }
}

TEST_CASE("a call in which no row is CLS has the bias of T5", "[tupe_relative]") {
  const auto call = call_at({7, 5, 3}, {1, 3, 4, 5, 9});
  const auto all = weights_of(9);
  const auto ours = tupe_relative<double>(all, buckets(), {.cls = position{0}}).compile<double>(call, three);
  const bias::t5<double> t5(table<double>(all.values().first(8 * 3), 8, 3), buckets());
  const auto theirs = t5.compile<double>(call, three);
  for (const query_index i : indices<query_index>(3)) {
    for (const key_index j : indices<key_index>(5)) {
      CHECK(ours(batch_index{0}, head_index{1}, i, j) == theirs(batch_index{0}, head_index{1}, i, j));
    }
  }
}

TEST_CASE("tupe relative refuses other tables, buckets, heads, frames and numbers", "[tupe_relative]") {
  const auto built = [](index_t rows, const t5_bucket& bucket) {
    return refusal([&] { return tupe_relative<double>(weights_of(rows), bucket, {.cls = position{0}}); }).code();
  };
  CHECK(built(8, buckets()) == errc::table_rows);
  CHECK(built(10, buckets()) == errc::table_rows);
  const t5_bucket causal({.num_buckets = 8, .max_distance = 20, .direction = bucket_direction::causal});
  CHECK(built(9, causal) == errc::bucket_settings);
  const auto refused = [](const table<double>& weights, const position_call& call) {
    const tupe_relative<double> policy(weights, buckets(), {.cls = position{0}});
    return refusal([&] { return policy.compile<float>(call, three); }).code();
  };
  CHECK(refused(weights_of(9, 2), call_at({0})) == errc::head_count);
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  CHECK(refused(weights_of(9), cross) == errc::frame_mismatch);
  CHECK(refused(table<double>(std::vector<double>(27, 1e39), 9, 3), call_at({0})) == errc::non_finite);
}

}  // namespace tupe_relative_test
