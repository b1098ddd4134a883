// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/toy_policies.hpp"

namespace eager_test {

using namespace posgeo;
using namespace posgeo::test;

/// Attention written a second time, pair by pair, in double: the score order of docs/conventions.md, no tensors.
template <class Plan>
attention_result<double> by_hand(const Plan& plan, const qkv<double>& in) {
  const index_t batch = plan.call().batch();
  const index_t queries = plan.call().queries();
  const index_t keys = plan.call().keys();
  const index_t width = in.value.extent(3);
  attention_result<double> out{tensor<double, 4>({batch, plan.layout().query, queries, width}),
                               tensor<double, 3>({batch, plan.layout().query, queries}),
                               {},
                               {}};
  for (const batch_index b : indices<batch_index>(batch)) {
    for (const head_index h : indices<head_index>(plan.layout().query)) {
      const index_t shared = key_head(plan.layout(), h);
      for (const query_index i : indices<query_index>(queries)) {
        std::vector<double> scores(static_cast<std::size_t>(keys), -INFINITY);
        double largest = -INFINITY;
        for (const key_index j : indices<key_index>(keys)) {
          if (!plan.visible(b, i, j)) continue;
          double dot = 0.0;
          const auto q = in.query.row(b.value(), h.value(), i.value());
          const auto k = in.key.row(b.value(), shared, j.value());
          for (std::size_t d = 0; d < q.size(); ++d) dot += q[d] * k[d];
          const double score = dot * plan.scale() + plan.bias(b, h, i, j);
          scores[static_cast<std::size_t>(j.value())] = score;
          largest = std::max(largest, score);
        }
        double sum = 0.0;
        for (const double score : scores) sum += score == -INFINITY ? 0.0 : std::exp(score - largest);
        out.log_sum_exp(b.value(), h.value(), i.value()) = sum == 0.0 ? -INFINITY : largest + std::log(sum);
        for (index_t j = 0; j < keys; ++j) {
          const double score = scores[static_cast<std::size_t>(j)];
          if (score == -INFINITY) continue;
          for (index_t d = 0; d < width; ++d) {
            out.output(b.value(), h.value(), i.value(), d) +=
                std::exp(score - largest) / sum * in.value.row(b.value(), shared, j)[static_cast<std::size_t>(d)];
          }
        }
      }
    }
  }
  return out;
}

TEST_CASE("eager agrees with attention written pair by pair", "[eager]") {
  const std::vector<index_t> lengths{3, 7, 1};
  const position_call call = call::padded_batch({.lengths = lengths,
                                                 .rows = 7,
                                                 .side = call::padding_side::right,
                                                 .positions = call::padded_positions::contiguous(5)});
  const heads layout{.query = 6, .key_value = 2, .dim = 5};
  const attention_inputs<double> in(layout, call, 3, 11);
  const auto bias = posgeo::test::random_tensor<double, 4>({1, 6, 7, 1}, 17);
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::active{}, visible::causal{},
                        bias::pair<double>{bias.view()}};
  const auto plan = model.compile<double>(call);
  const auto expected = by_hand(plan, in.view());
  const auto actual = attend(eager{}, plan, in.view(), also::log_sum_exp);
  for (std::size_t n = 0; n < expected.output.values().size(); ++n) {
    REQUIRE_THAT(actual.output.values()[n], posgeo::test::WithinAbs(expected.output.values()[n], 1e-13));
  }
  for (std::size_t n = 0; n < expected.log_sum_exp.values().size(); ++n) {
    REQUIRE_THAT(actual.log_sum_exp.values()[n], posgeo::test::WithinAbs(expected.log_sum_exp.values()[n], 1e-13));
  }
}

constexpr double infinite = std::numeric_limits<double>::infinity();

void widen(const auto& from, auto&& to) {
  std::transform(from.begin(), from.end(), to.begin(), [](auto x) { return static_cast<double>(x); });
}

TEST_CASE("eager keeps its error bounds for every size and grouping", "[eager]") {
  const double unit = std::numeric_limits<float>::epsilon() / 2.0;
  for (const auto& [query_heads, key_heads] : {std::pair<index_t, index_t>{7, 1}, {14, 2}}) {
    for (const index_t keys : {1, 15, 16, 17, 33, 129}) {
      for (const index_t dim : {1, 3, 80, 96}) {
        CAPTURE(query_heads, keys, dim);
        const heads layout{.query = query_heads, .key_value = key_heads, .dim = dim};
        const index_t queries = std::min(keys, index_t{2});
        const auto call = call::prefill_chunk(keys - queries, queries);
        const attention_inputs<float> in(layout, call, 5, 141);
        attention_inputs<double> wide(layout, call, 5, 141);
        widen(in.query.values(), wide.query.values());
        widen(in.key.values(), wide.key.values());
        widen(in.value.values(), wide.value.values());
        const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{},
                              bias::alibi(bias::alibi_slopes::reference(query_heads), bias::alibi_direction::causal)};
        const auto plan = model.compile<double>(call);
        const auto expected = by_hand(plan, wide.view());
        const auto in_double = attend(eager{}, plan, wide.view(), also::everything);
        REQUIRE(largest_difference(in_double.output.values(), expected.output.values()) < 1e-13);
        REQUIRE(largest_difference(in_double.log_sum_exp.values(), expected.log_sum_exp.values()) < 1e-13);

        const auto in_float = attend(eager{}, model.compile<float>(call), in.view(), also::everything);
        double score_bound = 0.0;  // dim + 4 roundings of the sum of magnitudes that a score is made of
        for (const head_index h : indices<head_index>(query_heads)) {
          for (const query_index i : indices<query_index>(queries)) {
            for (const key_index j : indices<key_index>(call.at(batch_index{0}, i).value() + 1)) {
              double magnitude = -plan.bias(batch_index{0}, h, i, j);
              for (index_t d = 0; d < dim; ++d) {
                magnitude += plan.scale() * std::abs(wide.query(0, h.value(), i.value(), d) *
                                                     wide.key(0, key_head(layout, h), j.value(), d));
              }
              const double bound = static_cast<double>(dim + 4) * unit * magnitude;
              REQUIRE(difference(in_float.scores(0, h.value(), i.value(), j.value()),
                                 in_double.scores(0, h.value(), i.value(), j.value())) <= bound);
              score_bound = std::max(score_bound, bound);
            }
          }
        }
        double largest_value = 0.0;
        for (const double v : wide.value.values()) largest_value = std::max(largest_value, std::abs(v));
        const double weight_bound = 2 * score_bound + static_cast<double>(2 * keys + 16) * unit;
        REQUIRE(largest_difference(in_float.output.values(), in_double.output.values()) <=
                weight_bound * largest_value);
        REQUIRE(largest_difference(in_float.log_sum_exp.values(), in_double.log_sum_exp.values()) <=
                score_bound + static_cast<double>(keys + 16) * unit);
      }
    }
  }
}

TEST_CASE("eager gives the same for rows-first and heads-first memory", "[eager]") {
  const heads layout{.query = 6, .key_value = 3, .dim = 5};
  const auto call = call::prefill_chunk(4, 3);
  const attention_inputs<float> in(layout, call, 4, 142);
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{}, toy_transform{}, toy_content{}};
  const auto plan = model.compile<float>(call);
  const auto expected = attend(eager{}, plan, in.view(), also::log_sum_exp);
  const auto swapped = [](const tensor<float, 4>& from) {
    tensor<float, 4> to({from.extent(0), from.extent(2), from.extent(1), from.extent(3)});
    for (index_t b = 0; b < from.extent(0); ++b) {
      for (index_t h = 0; h < from.extent(1); ++h) {
        for (index_t row = 0; row < from.extent(2); ++row) {
          for (index_t d = 0; d < from.extent(3); ++d) to(b, row, h, d) = from(b, h, row, d);
        }
      }
    }
    return to;
  };
  const auto as_heads = [](const tensor<float, 4>& t) {
    return rows_first(t.values().data(), t.extent(0), t.extent(1), t.extent(2), t.extent(3));
  };
  const auto query = swapped(in.query);
  const auto key = swapped(in.key);
  const auto value = swapped(in.value);
  tensor<float, 4> output({1, 3, 6, 4});
  tensor<float, 3> log_sum_exp({1, 6, 3});
  attend(eager{}, plan, {as_heads(query), as_heads(key), as_heads(value)},
         {rows_first(output.values().data(), 1, 3, 6, 4), log_sum_exp.view()});
  const auto expected_output = swapped(expected.output);
  CHECK(largest_difference(output.values(), expected_output.values()) == 0.0);
  CHECK(largest_difference(log_sum_exp.values(), expected.log_sum_exp.values()) == 0.0);
}

TEST_CASE("eager attends across streams of different lengths", "[eager]") {
  const std::vector<index_t> target{2, 4};
  const std::vector<index_t> source{7, 3};
  const auto call =
      call::cross_attention({.target_lengths = target, .source_lengths = source, .target_rows = 4, .source_rows = 7});
  const heads layout{.query = 4, .key_value = 2, .dim = 3};
  const attention_inputs<double> in(layout, call, 6, 143);
  const attention model{layout, scale::constant{0.8}, visible::active{}};
  const auto plan = model.compile<double>(call);
  const auto expected = by_hand(plan, in.view());
  const auto actual = attend(eager{}, plan, in.view(), also::log_sum_exp);
  CHECK(largest_difference(actual.output.values(), expected.output.values()) < 1e-14);
  CHECK(largest_difference(actual.log_sum_exp.values(), expected.log_sum_exp.values()) < 1e-14);
}

TEST_CASE("without keys a row is zero and without queries there is none", "[eager]") {
  const heads layout{.query = 2, .key_value = 1, .dim = 3};
  const attention model{layout, scale::none{}, visible::everything{}, toy_content{}, toy_value{}};
  const auto run = [&](const position_call& call) {
    const attention_inputs<double> in(layout, call, 4, 144);
    return attend(eager{}, model.compile<double>(call), in.view(), also::everything);
  };
  const auto no_keys = run(call_at({5, 6, 7}, {}));
  CHECK(no_keys.output.values().size() == 24);
  CHECK(all_equal(no_keys.output.values(), 0.0));
  CHECK(all_equal(no_keys.log_sum_exp.values(), -infinite));
  const auto no_queries = run(call_at({}, {5, 6, 7}));
  CHECK(no_queries.output.values().empty());
  CHECK(no_queries.log_sum_exp.values().empty());
}

TEST_CASE("one key has all the weight", "[eager]") {
  const heads layout{.query = 2, .key_value = 2, .dim = 3};
  const auto call = call_at({9, 2}, {4});
  const attention_inputs<double> in(layout, call, 4, 145);
  const attention model{layout, scale::none{}, visible::everything{}};
  const auto out = attend(eager{}, model.compile<double>(call), in.view(), also::everything);
  CHECK(all_equal(out.probabilities.values(), 1.0));
  CHECK(largest_difference(out.log_sum_exp.values(), out.scores.values()) == 0.0);
  for (index_t h = 0; h < 2; ++h) {
    for (index_t i = 0; i < 2; ++i) {
      CHECK(largest_difference(out.output.view().row(0, h, i), in.value.view().row(0, h, 0)) == 0.0);
    }
  }
}

/// Query row i sees key row j where the picture has an x.
auto drawn(const std::vector<std::string>& picture) {
  return visible::custom{[picture](const position_call&, batch_index, query_index i, key_index j) {
    return picture[static_cast<std::size_t>(i.value())][static_cast<std::size_t>(j.value())] == 'x';
  }};
}

TEST_CASE("weights and scores and log-sum-exp of eager agree", "[eager]") {
  const std::vector<std::string> picture{"x..x.xx", ".......", "xxxxxxx", "..x...."};
  const heads layout{.query = 4, .key_value = 2, .dim = 5};
  const auto call = call_at(std::vector<index_t>{3, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6});
  const attention_inputs<double> in(layout, call, 3, 146);
  const attention model{layout, scale::none{}, drawn(picture)};
  const auto out = attend(eager{}, model.compile<double>(call), in.view(), also::everything);
  for (index_t h = 0; h < 4; ++h) {
    for (index_t i = 0; i < 4; ++i) {
      const double lse = out.log_sum_exp(0, h, i);
      const bool blind = i == 1;
      double exponentials = 0.0;
      double weights = 0.0;
      std::vector<double> lowest(3, infinite);
      std::vector<double> highest(3, -infinite);
      for (index_t j = 0; j < 7; ++j) {
        const bool seen = picture[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] == 'x';
        const double score = out.scores(0, h, i, j);
        const double weight = out.probabilities(0, h, i, j);
        CHECK((score == -infinite) == !seen);
        CHECK((weight == 0.0) == !seen);
        if (!seen) continue;
        CHECK_THAT(weight, WithinAbs(std::exp(score - lse), 1e-14));
        exponentials += std::exp(score);
        weights += weight;
        for (std::size_t d = 0; d < 3; ++d) {
          lowest[d] = std::min(lowest[d], in.value.view().row(0, h / 2, j)[d]);
          highest[d] = std::max(highest[d], in.value.view().row(0, h / 2, j)[d]);
        }
      }
      CHECK(difference(lse, std::log(exponentials)) < 1e-13);
      CHECK_THAT(weights, WithinAbs(blind ? 0.0 : 1.0, 1e-14));
      for (std::size_t d = 0; d < 3; ++d) {  // an output lies among the values that its row sees
        const double x = out.output.view().row(0, h, i)[d];
        if (blind) CHECK(x == 0.0);
        if (!blind) CHECK((x >= lowest[d] - 1e-14 && x <= highest[d] + 1e-14));
      }
    }
  }
}

TEST_CASE("what a row does not see never reaches it", "[eager]") {
  // key 1 is hidden from all, key 3 from all but the last query, and query 1 sees nothing
  const std::vector<std::string> picture{"x.x.x", ".....", "x.x..", "x.xxx"};
  const heads layout{.query = 2, .key_value = 1, .dim = 9};
  const auto call = call_at(std::vector<index_t>{0, 1, 2, 3}, {0, 1, 2, 3, 4});
  const attention model{layout, scale::inverse_sqrt_head_dim{}, drawn(picture), toy_content{}, toy_value{}};
  const auto plan = model.compile<double>(call);
  attention_inputs<double> in(layout, call, 17, 147);
  const auto clean = attend(eager{}, plan, in.view(), also::everything);
  for (const double poison : {std::nan(""), infinite, -infinite}) {
    for (const index_t row : {1, 3}) {
      for (double& x : in.key.view().row(0, 0, row)) x = poison;
      for (double& x : in.value.view().row(0, 0, row)) x = poison;
    }
    const auto out = attend(eager{}, plan, in.view(), also::everything);
    for (index_t h = 0; h < 2; ++h) {
      for (index_t i = 0; i < 3; ++i) {
        CHECK(largest_difference(out.output.view().row(0, h, i), clean.output.view().row(0, h, i)) < 1e-14);
        CHECK(largest_difference(out.scores.view().row(0, h, i), clean.scores.view().row(0, h, i)) == 0.0);
        CHECK(difference(out.log_sum_exp(0, h, i), clean.log_sum_exp(0, h, i)) == 0.0);
        CHECK(out.probabilities(0, h, i, 1) == 0.0);
        CHECK(out.probabilities(0, h, i, 3) == 0.0);
      }
      CHECK_FALSE(std::isfinite(out.output(0, h, 3, 16)));  // the row that sees it is not spared
    }
  }
}

TEST_CASE("a value that is not finite reaches exactly the rows that see it", "[eager]") {
  const std::vector<std::string> picture{"xx.x", "..xx", "x..."};
  const heads layout{.query = 1, .key_value = 1, .dim = 3};
  const auto call = call_at(std::vector<index_t>{0, 1, 2}, {0, 1, 2, 3});
  const attention model{layout, scale::none{}, drawn(picture)};
  attention_inputs<float> in(layout, call, 2, 148);
  in.value(0, 0, 1, 0) = std::numeric_limits<float>::infinity();
  in.value(0, 0, 2, 1) = std::nanf("");
  const auto out = attend(eager{}, model.compile<float>(call), in.view()).output;
  CHECK(out(0, 0, 0, 0) == std::numeric_limits<float>::infinity());
  CHECK(std::isnan(out(0, 0, 1, 1)));
  for (const auto& [i, d] : {std::pair<index_t, index_t>{0, 1}, {1, 0}, {2, 0}, {2, 1}}) {
    CHECK(std::isfinite(out(0, 0, i, d)));
  }
}

TEST_CASE("scores far apart do not overflow", "[eager]") {
  const heads layout{.query = 1, .key_value = 1, .dim = 1};
  const std::vector<float> query{1.0f};
  const std::vector<float> keys{3000.0f, -2000.0f, 2999.0f};
  const attention model{layout, scale::none{}, visible::everything{}};
  const auto out = attend(eager{}, model.compile<float>(call_at({2}, {0, 1, 2})),
                          {heads_first(query.data(), 1, 1, 1, 1), heads_first(keys.data(), 1, 1, 3, 1),
                           heads_first(keys.data(), 1, 1, 3, 1)},
                          also::everything);
  CHECK_THAT(static_cast<double>(out.log_sum_exp(0, 0, 0)), WithinAbs(3000 + std::log1p(std::exp(-1.0)), 3e-4));
  CHECK_THAT(static_cast<double>(out.probabilities(0, 0, 0, 0)), WithinAbs(1 / (1 + std::exp(-1.0)), 1e-6));
  CHECK_THAT(static_cast<double>(out.probabilities(0, 0, 0, 1)), WithinAbs(0.0, 1e-30));
}

TEST_CASE("finite penalties hide no key however large their sum", "[eager]") {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  const float mask[2] = {lowest, lowest};
  const float query[1] = {1};
  const float keys[2] = {3, 3};
  const float values[2] = {1, 2};
  const bias::pair masked(tensor_view<const float, 4>(mask, {1, 1, 1, 2}));
  const bias::alibi steep(bias::alibi_slopes::custom({1e300}), bias::alibi_direction::causal);
  const attention model{heads{}, scale::none{}, visible::causal{}, masked, masked, steep};
  const auto result =
      attend(eager{}, model.compile(call::decode_step(1, 1)),
             {heads_first(query, 1, 1, 1, 1), heads_first(keys, 1, 1, 2, 1), heads_first(values, 1, 1, 2, 1)},
             also::everything);
  CHECK(result.output(0, 0, 0, 0) == 1.5F);
  CHECK(result.scores(0, 0, 0, 0) == lowest);
  CHECK(std::isfinite(result.log_sum_exp(0, 0, 0)));
}

TEST_CASE("a NaN that a query may see makes its row NaN and no other", "[eager]") {
  const auto call = call::prefill_chunk(0, 3);
  const heads layout{};
  attention_inputs<double> in(layout, call, 2, 71);
  in.key(0, 0, 1, 0) = std::nan("");
  const auto result = attend(eager{}, attention{layout, scale::none{}, visible::causal{}}.compile<double>(call),
                             in.view(), also::everything);
  CHECK(std::isfinite(result.output(0, 0, 0, 0)));
  for (const index_t i : {1, 2}) {
    CHECK(std::isnan(result.output(0, 0, i, 0)));
    CHECK(std::isnan(result.log_sum_exp(0, 0, i)));
    CHECK(std::isnan(result.probabilities(0, 0, i, 0)));
  }
}

TEST_CASE("a NaN bias poisons its row instead of hiding its key", "[eager]") {
  const auto call = call::prefill_chunk(0, 2);
  const heads layout{};
  const attention_inputs<float> in(layout, call, 1, 73);
  float bias[1] = {0};
  const attention model{layout, scale::none{}, visible::causal{},
                        bias::pair(tensor_view<const float, 4>(bias, {1, 1, 1, 1}))};
  const auto plan = model.compile(call);
  bias[0] = std::nanf("");  // after the check
  CHECK(std::isnan(attend(eager{}, plan, in.view()).output(0, 0, 0, 0)));
}

TEST_CASE("what stands in a hidden row changes no bit of any other row", "[eager]") {
  const std::vector<index_t> lengths{5, 9, 2};
  const auto call = call::padded_batch({.lengths = lengths,
                                        .rows = 9,
                                        .side = call::padding_side::left,
                                        .positions = call::padded_positions::contiguous()});
  const heads layout{.query = 2, .key_value = 1, .dim = 5};
  attention_inputs<float> in(layout, call, 7, 79);
  const auto plan = attention{layout, scale::none{}, visible::active{}}.compile(call);
  const auto before = attend(eager{}, plan, in.view(), also::log_sum_exp);
  for (const float poison : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    for (index_t d = 0; d < 7; ++d) in.value(2, 0, 1, d) = in.value(0, 0, 3, d) = poison;
    for (index_t d = 0; d < 5; ++d) in.key(2, 0, 1, d) = in.key(0, 0, 3, d) = poison;
    const auto after = attend(eager{}, plan, in.view(), also::log_sum_exp);
    CHECK(std::ranges::equal(before.output.values(), after.output.values()));
    CHECK(std::ranges::equal(before.log_sum_exp.values(), after.log_sum_exp.values()));
  }
}

}  // namespace eager_test
