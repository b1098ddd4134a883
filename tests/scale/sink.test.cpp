// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/scale/softcap.hpp>
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
#include "support/refusal.hpp"
#include "support/toy_policies.hpp"

namespace sink_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr heads layout{.query = 4, .key_value = 2, .dim = 5};
constexpr index_t value_dim = 3;
constexpr double infinite = std::numeric_limits<double>::infinity();
const std::vector<double> logits{0.7, -1.3, 2.9, 0.0};

/// Two entries of three queries and five keys, in no order. Query 1 of entry 0 stands before all keys.
const position_call the_call =
    call::explicit_positions({.entries = 2,
                              .query = {.positions = std::vector<index_t>{6, 0, 4, 9, 3, 5}, .rows = 3},
                              .key = {.positions = std::vector<index_t>{4, 2, 7, 1, 3, 8, 0, 5, 6, 2}, .rows = 5}});

template <class... More>
auto plan_of(const More&... more) {
  return attention{layout, scale::inverse_sqrt_head_dim{}, visible::causal{}, more...}.template compile<double>(
      the_call);
}
/// For each row what it sees of the_call: key rows.
bool sees(index_t b, index_t i, index_t j) {
  return the_call.offset(batch_index{b}, query_index{i}, key_index{j}).value() <= 0;
}

template <class Visit>
void each_row(const Visit& visit) {
  for (index_t b = 0; b < 2; ++b) {
    for (index_t h = 0; h < 4; ++h) {
      for (index_t i = 0; i < 3; ++i) visit(b, h, i);
    }
  }
}

TEST_CASE("a sink takes its share of every row and has no value", "[sink]") {
  const attention_inputs<double> in(layout, the_call, value_dim, 401);
  const auto plain = attend(eager{}, plan_of(), in.view(), also::everything);
  const auto out = attend(eager{}, plan_of(scale::sink(logits)), in.view(), also::everything);
  CHECK(largest_difference(out.scores.values(), plain.scores.values()) == 0.0);
  each_row([&](index_t b, index_t h, index_t i) {
    const double sink = logits[static_cast<std::size_t>(h)];
    double denominator = std::exp(sink);
    for (index_t j = 0; j < 5; ++j) denominator += sees(b, i, j) ? std::exp(plain.scores(b, h, i, j)) : 0.0;
    CHECK_THAT(out.log_sum_exp(b, h, i), WithinAbs(std::log(denominator), 1e-14));
    const double kept = 1.0 - std::exp(sink) / denominator;
    double weights = 0.0;
    for (index_t j = 0; j < 5; ++j) {
      weights += out.probabilities(b, h, i, j);
      const double expected = sees(b, i, j) ? std::exp(plain.scores(b, h, i, j)) / denominator : 0.0;
      CHECK_THAT(out.probabilities(b, h, i, j), WithinAbs(expected, 1e-15));
    }
    CHECK_THAT(weights, WithinAbs(kept, 1e-14));
    for (index_t d = 0; d < value_dim; ++d) {
      CHECK_THAT(out.output(b, h, i, d), WithinAbs(kept * plain.output(b, h, i, d), 1e-14));
    }
  });
}

TEST_CASE("a sink is one more key of that score whose value is zero", "[sink]") {
  const auto longer = call::explicit_positions(
      {.entries = 2,
       .query = {.positions = std::vector<index_t>{6, 0, 4, 9, 3, 5}, .rows = 3},
       .key = {.positions = std::vector<index_t>{4, 2, 7, 1, 3, 20, 8, 0, 5, 6, 2, 20}, .rows = 6}});
  const attention_inputs<double> in(layout, the_call, value_dim, 402);
  attention_inputs<double> with_key(layout, longer, value_dim, 403);
  std::copy(in.query.values().begin(), in.query.values().end(), with_key.query.values().begin());
  tensor<double, 4> added({1, 4, 1, 6});
  for (index_t h = 0; h < 4; ++h) added(0, h, 0, 5) = logits[static_cast<std::size_t>(h)];
  for (index_t b = 0; b < 2; ++b) {
    for (index_t h = 0; h < 2; ++h) {
      for (index_t j = 0; j < 6; ++j) {
        for (index_t d = 0; d < 5; ++d) with_key.key(b, h, j, d) = j < 5 ? in.key(b, h, j, d) : 0.0;
        for (index_t d = 0; d < 3; ++d) with_key.value(b, h, j, d) = j < 5 ? in.value(b, h, j, d) : 0.0;
      }
    }
  }
  const attention model{layout, scale::inverse_sqrt_head_dim{}, bias::pair<double>{added.view()},
                        visible::custom{[](const position_call& call, batch_index b, query_index i, key_index j) {
                          return j.value() == 5 || call.offset(b, i, j).value() <= 0;
                        }}};
  const auto expected = attend(eager{}, model.compile<double>(longer), with_key.view(), also::log_sum_exp);
  const auto actual = attend(eager{}, plan_of(scale::sink(logits)), in.view(), also::log_sum_exp);
  CHECK(largest_difference(actual.output.values(), expected.output.values()) < 1e-14);
  CHECK(largest_difference(actual.log_sum_exp.values(), expected.log_sum_exp.values()) < 1e-14);
}

TEST_CASE("a very negative sink is none where a key is seen", "[sink]") {
  const attention_inputs<double> in(layout, the_call, value_dim, 404);
  const auto plain = attend(eager{}, plan_of(toy_value{}), in.view(), also::everything);
  for (const double low : {-1e4, -1e300, std::numeric_limits<double>::lowest()}) {
    const scale::sink sink(std::vector<double>(4, low));
    const auto out = attend(eager{}, plan_of(sink, toy_value{}), in.view(), also::everything);
    CHECK(largest_difference(out.output.values(), plain.output.values()) == 0.0);
    CHECK(largest_difference(out.probabilities.values(), plain.probabilities.values()) == 0.0);
    each_row([&](index_t b, index_t h, index_t i) {
      const bool blind = plain.log_sum_exp(b, h, i) == -infinite;
      CHECK(blind == (b == 0 && i == 1));
      CHECK(out.log_sum_exp(b, h, i) == (blind ? low : plain.log_sum_exp(b, h, i)));
    });
  }
}

TEST_CASE("a row that sees nothing has output zero and the log-sum-exp of its sink", "[sink]") {
  const attention_inputs<double> in(layout, the_call, value_dim, 405);
  const auto out = attend(eager{}, plan_of(scale::sink(logits), toy_value{}), in.view(), also::everything);
  const auto no_keys = call_at({5, 6, 7}, {});
  const attention_inputs<double> empty(layout, no_keys, value_dim, 406);
  const attention model{layout, scale::none{}, visible::everything{}, scale::sink(logits)};
  const auto of_none = attend(eager{}, model.compile<double>(no_keys), empty.view(), also::log_sum_exp);
  CHECK(all_equal(of_none.output.values(), 0.0));
  for (index_t h = 0; h < 4; ++h) {
    CHECK(out.log_sum_exp(0, h, 1) == logits[static_cast<std::size_t>(h)]);
    CHECK(all_equal(out.output.view().row(0, h, 1), 0.0));
    CHECK(all_equal(out.probabilities.view().row(0, h, 1), 0.0));
    CHECK(all_equal(out.scores.view().row(0, h, 1), -infinite));
    CHECK(all_equal(of_none.log_sum_exp.view().row(0, h), logits[static_cast<std::size_t>(h)]));
  }
}

TEST_CASE("a sink far above every score takes all and nothing overflows", "[sink]") {
  const attention_inputs<float> in(layout, the_call, value_dim, 407);
  for (const double high : {200.0, 1e5, static_cast<double>(std::numeric_limits<float>::max())}) {
    const attention model{layout, scale::none{}, visible::causal{}, scale::sink(std::vector<double>(4, high))};
    const auto out = attend(eager{}, model.compile<float>(the_call), in.view(), also::everything);
    CHECK(all_equal(out.output.values(), 0.0f));
    CHECK(all_equal(out.probabilities.values(), 0.0f));
    CHECK(all_equal(out.log_sum_exp.values(), static_cast<float>(high)));
  }
}

TEST_CASE("a sink is neither scaled nor capped nor biased", "[sink]") {
  const attention_inputs<double> in(layout, the_call, value_dim, 408);
  const auto bias = random_tensor<double, 4>({2, 4, 3, 5}, 409);
  const scale::sink sink(std::vector<double>{7.5, -7.5, 4.0, 6.0});  // beyond the cap
  for (const auto place : {scale::softcap_place::before_bias, scale::softcap_place::after_bias}) {
    const attention model{layout,
                          scale::constant{0.3},
                          scale::softcap{{.cap = 1.5, .place = place}},
                          bias::pair<double>{bias.view()},
                          visible::causal{},
                          sink};
    const auto out = attend(eager{}, model.compile<double>(the_call), in.view(), also::everything);
    each_row([&](index_t b, index_t h, index_t i) {
      double sum = std::exp(sink.logits()[static_cast<std::size_t>(h)]);
      for (const double score : out.scores.view().row(b, h, i)) sum += score == -infinite ? 0.0 : std::exp(score);
      CHECK_THAT(out.log_sum_exp(b, h, i), WithinAbs(std::log(sum), 1e-13));
    });
  }
}

TEST_CASE("only scores and sinks that move together leave the output", "[sink]") {
  const attention_inputs<double> in(layout, the_call, value_dim, 410);
  const tensor<double, 4> by = [] {
    tensor<double, 4> all({1, 4, 1, 1});
    for (index_t h = 0; h < 4; ++h) all(0, h, 0, 0) = 0.5 + static_cast<double>(h * h);
    return all;
  }();
  std::vector<double> moved = logits;
  for (std::size_t h = 0; h < 4; ++h) moved[h] += by.values()[h];
  const bias::pair<double> shift{by.view()};
  const auto before = attend(eager{}, plan_of(scale::sink(logits)), in.view(), also::log_sum_exp);
  const auto both = attend(eager{}, plan_of(shift, scale::sink(moved)), in.view(), also::log_sum_exp);
  const auto one = attend(eager{}, plan_of(shift, scale::sink(logits)), in.view());
  CHECK(largest_difference(both.output.values(), before.output.values()) < 1e-14);
  CHECK(largest_difference(one.output.values(), before.output.values()) > 0.05);
  each_row([&](index_t b, index_t h, index_t i) {
    CHECK_THAT(both.log_sum_exp(b, h, i) - before.log_sum_exp(b, h, i), WithinAbs(by(0, h, 0, 0), 1e-13));
  });
}

TEST_CASE("softmax off by one is a sink of zero", "[sink]") {
  const auto sink = scale::sink::off_by_one(layout);
  CHECK(sink.logits() == std::vector<double>(4, 0.0));
  CHECK(refusal([] { return scale::sink::off_by_one({.query = 0, .key_value = 1, .dim = 1}); }).code() ==
        errc::head_count);
}

TEST_CASE("a plan knows its sink", "[sink]") {
  const auto with = attention{layout, scale::none{}, visible::causal{}, scale::sink(logits)}.compile<float>(the_call);
  const auto without = plan_of();
  static_assert(decltype(with)::has_sink && !decltype(without)::has_sink);
  for (const head_index h : indices<head_index>(4)) {
    CHECK(with.sink(h) == static_cast<float>(logits[static_cast<std::size_t>(h.value())]));
    CHECK_FALSE(without.sink(h).has_value());
  }
}

TEST_CASE("a sink refuses the wrong head count and what is no number of the plan", "[sink]") {
  for (const double bad : {infinite, -infinite, std::nan("")}) {
    const error thrown = refusal([&] { return scale::sink({0.0, bad, 1.0}); });
    CHECK(thrown.code() == errc::non_finite);
    CHECK(std::string(thrown.what()).rfind("softmax sink, logit of head 1: expected a finite number", 0) == 0);
  }
  for (const std::size_t count : {0u, 2u, 3u, 5u}) {
    const attention model{layout, scale::none{}, visible::causal{}, scale::sink(std::vector<double>(count))};
    CHECK(codes(model.check(the_call)) == std::vector{errc::head_count});
    CHECK(refusal([&] { return model.compile<float>(the_call); }).code() == errc::head_count);
    CHECK(refusal([&] { return scale::sink(std::vector<double>(count)).compile<float>(the_call, layout); }).code() ==
          errc::head_count);
  }
  const attention large{layout, scale::none{}, visible::causal{}, scale::sink({0.0, 1e39, 0.0, 0.0})};
  CHECK_NOTHROW(large.compile<double>(the_call));
  CHECK(refusal([&] { return large.compile<float>(the_call); }).code() == errc::non_finite);
}

}  // namespace sink_test
