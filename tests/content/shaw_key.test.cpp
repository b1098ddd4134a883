// SPDX-License-Identifier: MIT
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include "support/score_error.hpp"
#include "support/uneven_call.hpp"

namespace shaw_key_test {

using namespace posgeo;
using namespace posgeo::test;
using content::shaw_key;
using coordinate::clipped;

static_assert(content_term<shaw_key<float>, float> && content_term<shaw_key<float>, double>);

constexpr heads grouped{.query = 4, .key_value = 2, .dim = 3};
const double scale_of_three = 1.0 / std::sqrt(3.0);

table<double> numbers(index_t rows, index_t columns) { return random_table(rows, columns, 81); }

TEST_CASE("shaw adds the query times the relation of its class, inside the scale", "[shaw_key]") {
  const auto call = uneven_call();
  const attention_inputs<double> in(grouped, call, 5, 82);
  const auto flat = numbers(6, 3);
  const clipped classes(
      {.behind = 3, .ahead = 2, .sign = offset_sign::key_minus_query, .beyond = coordinate::beyond_ends::clipped});
  const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{},
                        shaw_key<double>(head_tables<double>::shared(flat), classes)};
  const auto by_hand = [&](batch_index b, head_index, query_index i, key_index j, auto q, auto) {
    const index_t offset = call.at(b, j).value() - call.at(b, i).value();
    return dot(q, flat.row(std::min<index_t>(std::max<index_t>(offset, -3), 2) + 3));
  };
  CHECK(score_error(model, call, in, scale_of_three, by_hand) < 1e-13);
}

TEST_CASE("shaw tables of their own follow the query head", "[shaw_key]") {
  const auto call = uneven_call();
  const attention_inputs<double> in(grouped, call, 5, 83);
  const auto flat = numbers(4 * 3, 3);
  const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{},
                        shaw_key<double>(head_tables<double>::stacked(flat, 4), clipped::symmetric(1))};
  const auto by_hand = [&](batch_index b, head_index h, query_index i, key_index j, auto q, auto) {
    const index_t offset = call.at(b, j).value() - call.at(b, i).value();
    const index_t side = offset < 0 ? 0 : offset == 0 ? 1 : 2;
    return dot(q, flat.row(3 * h.value() + side));
  };
  CHECK(score_error(model, call, in, scale_of_three, by_hand) < 1e-13);
}

TEST_CASE("shaw is the same wherever both rows stand and not when they swap", "[shaw_key]") {
  const heads one{.query = 1, .key_value = 1, .dim = 3};
  const shaw_key<double> policy(head_tables<double>::shared(numbers(7, 3)), clipped::symmetric(3));
  const auto q = random_values<double>(3, 84);
  const auto at = [&](index_t query, index_t key) {
    return policy.compile<double>(call_at({query}, {key}), one)(batch_index{0}, head_index{0}, query_index{0},
                                                                key_index{0}, q, q);
  };
  for (const index_t by : {index_t{1}, index_t{-300}, index_t{1} << 40}) CHECK(at(8 + by, 6 + by) == at(8, 6));
  CHECK(at(8, 6) != at(6, 8));
  CHECK(at(8, 5) == at(8, 4));  // both are clipped to 3 behind
  CHECK(at(8, 6) != at(8, 5));
}

TEST_CASE("shaw refuses tables that do not fit", "[shaw_key]") {
  const auto built = [](index_t rows) {
    return refusal(
               [&] { return shaw_key<double>(head_tables<double>::shared(numbers(rows, 3)), clipped::symmetric(3)); })
        .code();
  };
  CHECK(built(6) == errc::table_rows);
  CHECK(built(8) == errc::table_rows);
  const auto compiled = [](const head_tables<double>& rows) {
    const shaw_key<double> policy(rows, clipped::symmetric(1));
    return refusal([&] { return policy.compile<double>(uneven_call(), grouped); }).code();
  };
  CHECK(compiled(head_tables<double>::stacked(numbers(2 * 3, 3), 2)) == errc::head_count);  // the key heads
  CHECK(compiled(head_tables<double>::shared(numbers(3, 4))) == errc::shape_mismatch);
}

TEST_CASE("shaw rows for the past alone need an attention that hides the future", "[shaw_key]") {
  const auto listed = [](coordinate::beyond_ends beyond, const auto& see) {
    const clipped past({.behind = 3, .ahead = 0, .sign = offset_sign::key_minus_query, .beyond = beyond});
    const shaw_key<double> policy(head_tables<double>::shared(numbers(4, 3)), past);
    return codes(attention{grouped, scale::inverse_sqrt_head_dim{}, see, policy}.check(call_at({4, 5, 7})));
  };
  for (const auto beyond : {coordinate::beyond_ends::clipped, coordinate::beyond_ends::refused}) {
    CHECK(listed(beyond, visible::everything{}) == std::vector{errc::future_visible});
    CHECK(listed(beyond, visible::causal{}).empty());
  }
}

TEST_CASE("shaw refuses two frames and what the type of the plan cannot hold", "[shaw_key]") {
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  const shaw_key<double> fits(head_tables<double>::shared(numbers(3, 3)), clipped::symmetric(1));
  CHECK(refusal([&] { return fits.compile<float>(cross, grouped); }).code() == errc::frame_mismatch);
  const std::vector<double> large{0.0, 1e39, 0.0};
  const shaw_key<double> policy(head_tables<double>::shared(table<double>(large, 3, 1)), clipped::symmetric(1));
  CHECK(refusal([&] { return policy.compile<float>(call_at({0}), heads{}); }).code() == errc::non_finite);
  CHECK_NOTHROW(policy.compile<double>(call_at({0}), heads{}));
}

}  // namespace shaw_key_test
