// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"
#include "support/uneven_call.hpp"

namespace shaw_value_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::clipped;
using value::shaw_value;

static_assert(value_term<shaw_value<float>, float> && value_term<shaw_value<float>, double>);

constexpr heads grouped{.query = 4, .key_value = 2, .dim = 3};

table<double> numbers(index_t rows, index_t columns) { return random_table(rows, columns, 101); }

/// The largest difference between the model's output and sum_j p_ij (v_j + relation(h, offset)).
template <class Relation>
double output_error(const shaw_value<double>& policy, const Relation& relation) {
  const auto call = uneven_call();
  const attention_inputs<double> in(grouped, call, 5, 102);
  const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{}, policy};
  const auto got = attend(eager{}, model.compile<double>(call), in.view(), also::probabilities);
  double largest = 0.0;
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const head_index h : indices<head_index>(grouped.query)) {
      for (const query_index i : indices<query_index>(call.queries())) {
        if (!call.active(b, i)) continue;
        std::vector<double> expected(5);
        for (const key_index j : indices<key_index>(call.keys())) {
          if (!call.active(b, j)) continue;
          const double p = got.probabilities(b.value(), h.value(), i.value(), j.value());
          const auto v = in.value.view().row(b.value(), key_head(grouped, h), j.value());
          const auto r = relation(h, call.at(b, j).value() - call.at(b, i).value());
          for (std::size_t d = 0; d < 5; ++d) expected[d] += p * (v[d] + r[d]);
        }
        largest =
            std::max(largest, largest_difference(got.output.view().row(b.value(), h.value(), i.value()), expected));
      }
    }
  }
  return largest;
}

TEST_CASE("shaw values add the relation of each pair by its weight", "[shaw_value]") {
  const auto flat = numbers(6, 5);
  const clipped classes(
      {.behind = 1, .ahead = 4, .sign = offset_sign::query_minus_key, .beyond = coordinate::beyond_ends::clipped});
  CHECK(output_error({head_tables<double>::shared(flat), classes}, [&](head_index, index_t offset) {
          return flat.row(std::min<index_t>(std::max<index_t>(-offset, -4), 1) + 4);
        }) < 1e-13);
}

TEST_CASE("shaw value tables of their own follow the query head", "[shaw_value]") {
  const auto flat = numbers(4 * 5, 5);
  CHECK(output_error({head_tables<double>::stacked(flat, 4), clipped::symmetric(2)}, [&](head_index h, index_t offset) {
          return flat.row(5 * h.value() + std::min<index_t>(std::max<index_t>(offset, -2), 2) + 2);
        }) < 1e-13);
}

TEST_CASE("no scalar bias gives what a relation in the values gives", "[shaw_value]") {
  // Two keys with one value. Whatever the weights, their mixture is that value; the relations move it off.
  const heads one{.query = 1, .key_value = 1, .dim = 2};
  const auto call = call_at({5}, {3, 6});
  attention_inputs<double> in(one, call, 3, 103);
  const auto value = random_values<double>(3, 104);
  for (index_t j = 0; j < 2; ++j) std::copy(value.begin(), value.end(), in.value.view().row(0, 0, j).begin());
  const auto rows = numbers(3, 3);
  const auto run = [&](const auto&... more) {
    const attention model{one, scale::inverse_sqrt_head_dim{}, visible::everything{}, more...};
    return attend(eager{}, model.template compile<double>(call), in.view(), also::probabilities);
  };
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto scores = random_tensor<double, 4>({1, 1, 1, 2}, 200 + seed);
    const bias::pair<double> any(scores.view());
    const auto biased = run(any);
    CHECK(largest_difference(biased.output.values(), value) < 1e-14);
    const auto moved = run(any, shaw_value<double>(head_tables<double>::shared(rows), clipped::symmetric(1)));
    // The difference is p_0 R_0 + p_1 R_2.
    for (std::size_t d = 0; d < 3; ++d) {
      const auto column = static_cast<index_t>(d);
      const double expected = value[d] + moved.probabilities(0, 0, 0, 0) * rows(0, column) +
                              moved.probabilities(0, 0, 0, 1) * rows(2, column);
      CHECK(difference(moved.output(0, 0, 0, column), expected) < 1e-14);
    }
    CHECK(largest_difference(moved.output.values(), value) > 0.01);
  }
}

TEST_CASE("values of another width than the relations are refused", "[shaw_value]") {
  const auto call = uneven_call();
  const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{},
                        shaw_value<double>(head_tables<double>::shared(numbers(3, 5)), clipped::symmetric(1))};
  const auto plan = model.compile<double>(call);
  const attention_inputs<double> fits(grouped, call, 5, 105);
  const attention_inputs<double> narrow(grouped, call, 4, 105);
  CHECK_NOTHROW(attend(eager{}, plan, fits.view()));
  CHECK(refusal([&] { (void)attend(eager{}, plan, narrow.view()); }).code() == errc::shape_mismatch);
}

TEST_CASE("shaw values for the past alone need an attention that hides the future", "[shaw_value]") {
  const clipped past(
      {.behind = 3, .ahead = 0, .sign = offset_sign::key_minus_query, .beyond = coordinate::beyond_ends::refused});
  const shaw_value<double> policy(head_tables<double>::shared(numbers(4, 5)), past);
  const auto listed = [&](const auto& see) {
    return codes(attention{grouped, scale::inverse_sqrt_head_dim{}, see, policy}.check(call_at({4, 5, 7})));
  };
  CHECK(listed(visible::everything{}) == std::vector{errc::future_visible});
  CHECK(listed(visible::causal{}).empty());
}

TEST_CASE("shaw values refuse tables and calls that do not fit", "[shaw_value]") {
  CHECK(refusal([] {
          return shaw_value<double>(head_tables<double>::shared(numbers(4, 5)), clipped::symmetric(1));
        }).code() == errc::table_rows);
  const shaw_value<double> of_key_heads(head_tables<double>::stacked(numbers(6, 5), 2), clipped::symmetric(1));
  CHECK(refusal([&] { return of_key_heads.compile<double>(uneven_call(), grouped); }).code() == errc::head_count);

  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  const shaw_value<double> policy(head_tables<double>::shared(numbers(3, 5)), clipped::symmetric(1));
  CHECK(refusal([&] { return policy.compile<double>(cross, grouped); }).code() == errc::frame_mismatch);

  const shaw_value<double> unclipped(
      head_tables<double>::shared(numbers(3, 5)),
      clipped(
          {.behind = 1, .ahead = 1, .sign = offset_sign::key_minus_query, .beyond = coordinate::beyond_ends::refused}));
  CHECK(refusal([&] { return unclipped.compile<double>(call_at({5}, {3}), grouped); }).code() ==
        errc::offset_out_of_table);

  const std::vector<double> large{0.0, -1e39, 0.0};
  const shaw_value<double> wide(head_tables<double>::shared(table<double>(large, 3, 1)), clipped::symmetric(1));
  CHECK(refusal([&] { return wide.compile<float>(call_at({0}), heads{}); }).code() == errc::non_finite);
}

}  // namespace shaw_value_test
