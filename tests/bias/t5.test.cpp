// SPDX-License-Identifier: MIT
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace t5_test {

using namespace posgeo;
using namespace posgeo::test;
using bias::t5;
using coordinate::bucket_direction;
using coordinate::t5_bucket;

static_assert(score_bias<t5<float>, float> && score_bias<t5<float>, double> && looks_back_only<t5<double>>);

constexpr heads three{.query = 3, .key_value = 3, .dim = 2};

table<double> weights_of(index_t buckets, index_t columns) { return random_table(buckets, columns, 111); }

/// The bias of head h for a query at 0 and a key at each offset.
std::vector<double> biases(const t5<double>& policy, index_t h, const std::vector<index_t>& offsets) {
  const auto term = policy.compile<double>(call_at({0}, offsets), three);
  std::vector<double> out;
  for (const key_index j : indices<key_index>(static_cast<index_t>(offsets.size()))) {
    out.push_back(term(batch_index{0}, head_index{h}, query_index{0}, j));
  }
  return out;
}

std::vector<double> table_values(const table<double>& weights, index_t h, const std::vector<index_t>& buckets) {
  std::vector<double> out;
  for (const index_t bucket : buckets) out.push_back(weights(bucket, h));
  return out;
}

TEST_CASE("t5 reads the row of the bucket and the column of the head", "[t5]") {
  // 2 exact distances in each direction, then thresholds 2, 2 sqrt 2 -> 3 (never more than bucket 3)
  const t5_bucket bucket({.num_buckets = 8, .max_distance = 4, .direction = bucket_direction::bidirectional});
  const auto weights = weights_of(8, 3);
  for (index_t h = 0; h < 3; ++h) {
    CHECK(biases({weights, bucket}, h, {0, -1, -2, -3, -4, -900, 1, 2, 3, 900}) ==
          table_values(weights, h, {0, 1, 2, 3, 3, 3, 5, 6, 7, 7}));
  }
}

TEST_CASE("causal t5 spends every bucket on the past", "[t5]") {
  // exact below 10, then every power of two times 10 starts its own even bucket: (n / 10)^10 = 32^(2 m)
  const t5_bucket bucket({.num_buckets = 20, .max_distance = 320, .direction = bucket_direction::causal});
  const auto weights = weights_of(20, 3);
  CHECK(biases({weights, bucket}, 1, {7, 0, -9, -10, -19, -20, -39, -40, -79, -80, -159, -160, -319, -320, -9999}) ==
        table_values(weights, 1, {0, 0, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 19, 19}));
}

TEST_CASE("t5 is the same wherever both rows stand and not when they swap", "[t5]") {
  const t5_bucket bucket({.num_buckets = 12, .max_distance = 40, .direction = bucket_direction::bidirectional});
  const auto weights = weights_of(12, 3);
  const t5<double> policy(weights, bucket);
  const auto at = [&](index_t query, index_t key) {
    return policy.compile<double>(call_at({query}, {key}), three)(batch_index{0}, head_index{2}, query_index{0},
                                                                  key_index{0});
  };
  for (const index_t by : {index_t{1}, index_t{-300}, index_t{1} << 40}) CHECK(at(8 + by, 3 + by) == at(8, 3));
  CHECK(at(8, 3) != at(3, 8));
}

TEST_CASE("t5 refuses tables that do not fit and two frames", "[t5]") {
  const t5_bucket bucket({.num_buckets = 8, .max_distance = 20, .direction = bucket_direction::bidirectional});
  for (const index_t rows : {7, 9}) {
    CHECK(refusal([&] { return t5<double>(weights_of(rows, 3), bucket); }).code() == errc::table_rows);
  }
  const t5<double> narrow(weights_of(8, 2), bucket);
  CHECK(refusal([&] { return narrow.compile<float>(call_at({0}), three); }).code() == errc::head_count);

  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  const t5<double> fits(weights_of(8, 3), bucket);
  CHECK(refusal([&] { return fits.compile<float>(cross, three); }).code() == errc::frame_mismatch);
}

TEST_CASE("causal t5 needs an attention that hides the future", "[t5]") {
  const t5_bucket bucket({.num_buckets = 8, .max_distance = 20, .direction = bucket_direction::causal});
  const attention open{three, scale::none{}, visible::everything{}, t5<double>(weights_of(8, 3), bucket)};
  CHECK(codes(open.check(call::prefill_chunk(0, 3))) == std::vector{errc::future_visible});
}

TEST_CASE("t5 refuses a weight that the type of the plan cannot hold", "[t5]") {
  const std::vector<double> weights{0.0, 1e39};
  const coordinate::t5_bucket bucket(
      {.num_buckets = 2, .max_distance = 4, .direction = coordinate::bucket_direction::causal});
  const bias::t5<double> policy(table<double>(weights, 2, 1), bucket);
  const auto call = call_at({1}, {0, 1});
  CHECK(refusal([&] { return policy.compile<float>(call, heads{}); }).code() == errc::non_finite);
  CHECK_NOTHROW(policy.compile<double>(call, heads{}));
}

}  // namespace t5_test
