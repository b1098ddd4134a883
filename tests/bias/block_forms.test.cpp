// SPDX-License-Identifier: MIT
#include "support/block_forms.hpp"

#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/coordinate/window_index.hpp>

#include <Eigen/Core>

#include <algorithm>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"

namespace bias_block_forms_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::beyond_ends;
using coordinate::bucket_direction;
using coordinate::clipped;
using coordinate::t5_bucket;

constexpr heads layout{.query = 3, .key_value = 3, .dim = 2};

/// Classes of a user's own, which do not say where they end.
struct halves_of_offsets {
  static index_t classes() { return 2; }
  static void check(const position_call&, std::string_view, violations&) {}
  index_t operator()(relative_offset o) const noexcept { return o.value() < 0 ? 0 : 1; }
};

template <class Policy, class T>
using term_of = compiled_t<Policy, T>;
static_assert(offset_bias<term_of<bias::alibi, float>, float> &&
              !ended_offset_bias<term_of<bias::alibi, float>, float>);
static_assert(ended_offset_bias<term_of<bias::t5<float>, double>, double>);
static_assert(ended_offset_bias<term_of<bias::learned_relative<float, clipped>, float>, float>);
static_assert(offset_bias<term_of<bias::learned_relative<float, halves_of_offsets>, float>, float>);
static_assert(!ended_offset_bias<term_of<bias::learned_relative<float, halves_of_offsets>, float>, float>);
static_assert(!offset_bias<term_of<bias::learned_relative<float, coordinate::window_index>, float>, float>);
static_assert(!offset_bias<term_of<bias::tupe_relative<float>, float>, float> &&
              cls_offset_bias<term_of<bias::tupe_relative<float>, float>, float> &&
              ended_offset_bias<term_of<bias::tupe_relative<float>, float>, float>);
static_assert(!cls_offset_bias<term_of<bias::t5<float>, float>, float>);
static_assert(!offset_bias<term_of<bias::alibi_key_position, float>, float>);
static_assert(key_bias<term_of<bias::alibi_key_position, float>, float> &&
              !key_bias<term_of<bias::alibi, float>, float>);
static_assert(line_bias<term_of<bias::pair<Eigen::half>, float>> && !line_bias<term_of<bias::t5<float>, float>>);
static_assert(!offset_bias<term_of<bias::spatial<float>, float>, float>);

/// at_offset is the scalar form at every pair of random calls, to the bit. Gives the number of different scores.
template <class T, class Policy>
void check_at_offset(const Policy& policy, unsigned seed) {
  std::vector<T> seen;
  for (const position_call& call : random_calls(seed)) {
    const auto term = policy.template compile<T>(call, layout);
    std::vector<index_t> wrong;  // offsets
    for_each_place(call, layout.query, [&](batch_index b, head_index h, query_index i, key_index j) {
      const relative_offset offset = call.offset(b, i, j);
      if (term.at_offset(h, offset) != term(b, h, i, j)) wrong.push_back(offset.value());
      seen.push_back(term(b, h, i, j));
    });
    REQUIRE(wrong == std::vector<index_t>{});
  }
  std::sort(seen.begin(), seen.end());
  CHECK(std::unique(seen.begin(), seen.end()) - seen.begin() > 5);
}

template <class T, class Policy>
void check_ends(const Policy& policy) {
  const auto term = policy.template compile<T>(random_calls(911).front(), layout);
  for (const head_index h : indices<head_index>(layout.query)) {
    check_constant_beyond(term.constant_beyond(), [&](relative_offset o) { return term.at_offset(h, o); });
  }
}

bias::t5<double> t5_of(index_t num_buckets, index_t max_distance, bucket_direction direction) {
  return {random_table(num_buckets, layout.query, 912),
          t5_bucket({.num_buckets = num_buckets, .max_distance = max_distance, .direction = direction})};
}
bias::learned_relative<double, clipped> clipped_of(index_t behind, index_t ahead, offset_sign sign) {
  return {random_table(behind + ahead + 1, layout.query, 913),
          clipped({.behind = behind, .ahead = ahead, .sign = sign, .beyond = beyond_ends::clipped})};
}

TEMPLATE_TEST_CASE("a bias of offsets is the scalar bias", "[block_forms]", float, double) {
  const auto slopes = bias::alibi_slopes::custom({0.5, -0.75, 3.1e30});
  check_at_offset<TestType>(bias::alibi(slopes, bias::alibi_direction::causal), 914);
  check_at_offset<TestType>(bias::alibi(slopes, bias::alibi_direction::symmetric), 915);
  for (const auto direction : {bucket_direction::causal, bucket_direction::bidirectional}) {
    check_at_offset<TestType>(t5_of(12, 9, direction), 916);
  }
  for (const auto sign : {offset_sign::key_minus_query, offset_sign::query_minus_key}) {
    check_at_offset<TestType>(clipped_of(4, 3, sign), 917);
  }
  check_at_offset<TestType>(
      bias::learned_relative<double, halves_of_offsets>(random_table(2, layout.query, 918), halves_of_offsets{}), 918);
}

TEMPLATE_TEST_CASE("a bias of offsets is constant beyond its ends and no sooner", "[block_forms]", float, double) {
  for (const auto direction : {bucket_direction::causal, bucket_direction::bidirectional}) {
    for (const index_t buckets : {4, 12, 32}) {
      for (const index_t furthest : {index_t{17}, index_t{128}, (index_t{1} << 31) - 1}) {
        CAPTURE(buckets, furthest);
        check_ends<TestType>(t5_of(buckets, furthest, direction));
      }
    }
  }
  check_ends<TestType>(t5_of(2, 9, bucket_direction::causal));  // without a threshold
  for (const auto sign : {offset_sign::key_minus_query, offset_sign::query_minus_key}) {
    check_ends<TestType>(clipped_of(4, 3, sign));
    check_ends<TestType>(clipped_of(6, 0, sign));
    check_ends<TestType>(clipped_of(0, 5, sign));
    check_ends<TestType>(clipped_of(0, 0, sign));
  }
}

TEMPLATE_TEST_CASE("a bias of offsets with numbers of its own for one position is the scalar bias", "[block_forms]",
                   float, double) {
  const t5_bucket bucket({.num_buckets = 12, .max_distance = 9, .direction = bucket_direction::bidirectional});
  index_t of_cls = 0;
  for (const position_call& call : random_calls(920)) {
    if (call.keys() == 0) continue;
    const position cls = call.at(batch_index{0}, key_index{call.keys() / 2});
    const bias::tupe_relative<double> policy(random_table(13, layout.query, 921), bucket, {.cls = cls});
    const auto term = policy.compile<TestType>(call, layout);
    REQUIRE(term.cls() == cls);
    for_each_place(call, layout.query, [&](batch_index b, head_index h, query_index i, key_index j) {
      const bool is_query = call.at(b, i) == cls;
      const bool is_key = call.at(b, j) == cls;
      of_cls += is_query || is_key ? 1 : 0;
      const TestType expected = is_query ? term.at_cls_query(h)
                                : is_key ? term.at_cls_key(h)
                                         : term.at_offset(h, call.offset(b, i, j));
      REQUIRE(term(b, h, i, j) == expected);
    });
    check_constant_beyond(term.constant_beyond(), [&](relative_offset o) { return term.at_offset(head_index{1}, o); });
  }
  CHECK(of_cls > 20);
}

TEMPLATE_TEST_CASE("a bias of key positions is the scalar bias", "[block_forms]", float, double) {
  const auto slopes = bias::alibi_slopes::reference(layout.query);
  for (const index_t shift : {index_t{0}, index_t{-7}, index_t{1} << 40}) {
    const bias::alibi_key_position policy(slopes, shift);
    for (const position_call& call : random_calls(919)) {
      const auto term = policy.compile<TestType>(call, layout);
      for_each_place(call, layout.query, [&](batch_index b, head_index h, query_index i, key_index j) {
        REQUIRE(term.at_key(h, call.at(b, j)) == term(b, h, i, j));
      });
    }
  }
}

TEMPLATE_TEST_CASE("a line of a pair bias has its numbers, with axes of one repeated", "[block_forms]", float, double,
                   Eigen::half, Eigen::bfloat16) {
  const std::array<index_t, 6> of_query{3, 5, 9, -2, 0, 4};
  const std::array<index_t, 10> of_key{1, 7, 2, 3, 11, 0, 5, 8, -1, 6};
  const auto call = call::explicit_positions(
      {.entries = 2, .query = {.positions = of_query, .rows = 3}, .key = {.positions = of_key, .rows = 5}});
  const std::array<index_t, 4> full{2, layout.query, 3, 5};
  for (unsigned broadcast = 0; broadcast < 16; ++broadcast) {
    CAPTURE(broadcast);
    std::array<index_t, 4> extents = full;
    for (unsigned axis = 0; axis < 4; ++axis) {
      if ((broadcast >> axis & 1U) != 0) extents[axis] = 1;
    }
    // The rows lie apart in memory, so that a stride is not an extent.
    const auto values = random_tensor<TestType, 4>({extents[0], extents[1], extents[2], extents[3] + 3}, 920);
    const tensor_view<const TestType, 4> view(values.view().data(), extents, values.view().strides());
    const auto term = bias::pair(view).template compile<float>(call, layout);
    for_each_place(call, layout.query, [&](batch_index b, head_index h, query_index i, key_index j) {
      const auto line = term.line(b, h, i);
      const TestType number = line.first[j.value() * line.step];
      const auto at = [&](std::size_t axis, index_t n) { return extents[axis] == 1 ? 0 : n; };
      REQUIRE(line.step == (extents[3] == 1 ? 0 : 1));
      REQUIRE(&line.first[j.value() * line.step] ==
              &values.view().row(at(0, b.value()), at(1, h.value()),
                                 at(2, i.value()))[static_cast<std::size_t>(at(3, j.value()))]);
      REQUIRE(static_cast<float>(number) == term(b, h, i, j));
    });
  }
}

}  // namespace bias_block_forms_test
