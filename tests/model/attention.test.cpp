// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/packed_batch.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include <cmath>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/refusal.hpp"
#include "support/toy_policies.hpp"

namespace {

using namespace posgeo;
using namespace posgeo::test;
using scale::softcap;
using scale::softcap_place;

static_assert(qk_transform<toy_transform> && content_term<toy_content> && value_term<toy_value>);

constexpr heads one_head{.query = 1, .key_value = 1, .dim = 2};

/// One query and two keys under every family. Turned, the query is (1, 2) and the keys (3, -1) and (2, 1), so their
/// products are 1 and 4, and with the content terms -9 and 14; half of that is -4.5 and 7.
template <class... More>
attention_result<double> tiny(const More&... more) {
  const std::vector<double> query{2, 1};
  const std::vector<double> keys{3, 1, 2, -1};
  const std::vector<double> values{1, 3};
  const attention model{
      one_head, scale::constant{0.5}, visible::everything{}, toy_value{}, toy_content{}, toy_transform{}, more...};
  const auto plan = model.template compile<double>(call_at({0}, {0, 1}));
  return attend(eager{}, plan,
                {heads_first(query.data(), 1, 1, 1, 2), heads_first(keys.data(), 1, 1, 2, 2),
                 heads_first(values.data(), 1, 1, 2, 1)},
                also::everything);
}

void expect_scores(const attention_result<double>& out, double first, double second) {
  CHECK_THAT(out.scores(0, 0, 0, 0), WithinAbs(first, 1e-14));
  CHECK_THAT(out.scores(0, 0, 0, 1), WithinAbs(second, 1e-14));
  CHECK_THAT(out.log_sum_exp(0, 0, 0), WithinAbs(std::log(std::exp(first) + std::exp(second)), 1e-14));
  const double weight = 1 / (1 + std::exp(second - first));
  CHECK_THAT(out.probabilities(0, 0, 0, 0), WithinAbs(weight, 1e-15));
  CHECK_THAT(out.output(0, 0, 0, 0), WithinAbs(weight * (1 + 10) + (1 - weight) * (3 + 20), 1e-13));
}

TEST_CASE("the score order is the documented one", "[attention]") {
  tensor<double, 4> bias({1, 1, 1, 2});
  bias(0, 0, 0, 0) = 2;
  bias(0, 0, 0, 1) = -3;
  const bias::pair<double> add(bias.view());
  expect_scores(tiny(), -4.5, 7);
  expect_scores(tiny(add), -4.5 + 2, 7 - 3);
  expect_scores(tiny(add, add), -4.5 + 4, 7 - 6);
  const softcap before({.cap = 5, .place = softcap_place::before_bias});
  const softcap after({.cap = 5, .place = softcap_place::after_bias});
  expect_scores(tiny(add, before), 5 * std::tanh(-4.5 / 5) + 2, 5 * std::tanh(7.0 / 5) - 3);
  expect_scores(tiny(add, after), 5 * std::tanh((-4.5 + 2) / 5), 5 * std::tanh((7.0 - 3) / 5));
  expect_scores(tiny(after), 5 * std::tanh(-4.5 / 5), 5 * std::tanh(7.0 / 5));
}

TEST_CASE("the order in which policies are named does not matter", "[attention]") {
  const auto call = call_at({3, 5, 0}, {0, 1, 3, 4, 5});
  const heads layout{.query = 2, .key_value = 1, .dim = 3};
  const attention_inputs<double> in(layout, call, 2, 131);
  const auto values = random_tensor<double, 4>({1, 2, 3, 5}, 132);
  const bias::pair<double> add(values.view());
  const softcap cap({.cap = 2, .place = softcap_place::before_bias});
  const attention one{layout, scale::constant{0.7}, visible::causal{}, cap, add, toy_content{}, toy_transform{}};
  const attention other{layout, toy_transform{}, add, toy_content{}, cap, visible::causal{}, scale::constant{0.7}};
  const auto a = attend(eager{}, one.compile<double>(call), in.view(), also::scores);
  const auto b = attend(eager{}, other.compile<double>(call), in.view(), also::scores);
  CHECK(largest_difference(a.scores.values(), b.scores.values()) == 0.0);
  CHECK(largest_difference(a.output.values(), b.output.values()) == 0.0);
}

TEST_CASE("several visibilities must all show a key", "[attention]") {
  const auto call = call_at({4, 2}, {0, 1, 2, 3, 4, 5});
  const attention model{one_head, scale::none{}, visible::window{.behind = 2, .ahead = 1}, visible::causal{}};
  CHECK(model.hidden() == (hides::future | hides::distant));
  const auto plan = model.compile<float>(call);
  for (const query_index i : indices<query_index>(2)) {
    for (const key_index j : indices<key_index>(6)) {
      const index_t back = -call.offset(batch_index{0}, i, j).value();
      CHECK(plan.visible(batch_index{0}, i, j) == (back >= 0 && back <= 2));
    }
  }
  CHECK(plan.keys(batch_index{0}, query_index{1}).begin <= key_index{0});
  CHECK(plan.keys(batch_index{0}, query_index{1}).end >= key_index{3});
}

TEST_CASE("padding must be hidden", "[attention]") {
  const std::vector<index_t> lengths{2, 3};
  const auto padded = call::padded_batch({.lengths = lengths,
                                          .rows = 3,
                                          .side = call::padding_side::right,
                                          .positions = call::padded_positions::contiguous()});
  const attention open{one_head, scale::none{}, visible::everything{}};
  CHECK(codes(open.check(padded)) == std::vector{errc::padding_visible});
  CHECK(refusal([&] { return open.compile<float>(padded); }).code() == errc::padding_visible);
  CHECK(attention{one_head, scale::none{}, visible::active{}}.check(padded).empty());
  CHECK(attention{one_head, scale::none{}, visible::segments{}}.check(padded).empty());
  const std::vector<index_t> full{3, 3};
  CHECK(open.check(call::padded_batch({.lengths = full,
                                       .rows = 3,
                                       .side = call::padding_side::right,
                                       .positions = call::padded_positions::contiguous()}))
            .empty());
}

TEST_CASE("packed sequences must be isolated", "[attention]") {
  const std::vector<index_t> two{2, 3};
  const std::vector<index_t> one{5};
  const attention open{one_head, scale::none{}, visible::active{}, visible::causal{}};
  CHECK(codes(open.check(call::packed_batch({.lengths = two, .positions = call::packed_positions::restart}))) ==
        std::vector{errc::segment_isolation});
  CHECK(open.check(call::packed_batch({.lengths = one, .positions = call::packed_positions::restart})).empty());
  const attention isolating{one_head, scale::none{}, visible::causal{}, visible::segments{}};
  CHECK(isolating.check(call::packed_batch({.lengths = two, .positions = call::packed_positions::restart})).empty());
}

TEST_CASE("a check lists everything that is wrong", "[attention]") {
  const std::vector<index_t> positions{0, 1, 0, 7};
  const std::vector<index_t> sequences{0, 0, 1, 1};
  const std::vector<std::uint8_t> active{1, 1, 1, 0};
  const call::explicit_side side{.positions = positions, .sequences = sequences, .active = active, .rows = 4};
  const auto call = call::explicit_positions({.query = side, .key = side});
  const bias::alibi backward(bias::alibi_slopes::reference(5), bias::alibi_direction::causal);
  const attention model{one_head, scale::none{}, visible::everything{}, backward};
  CHECK(codes(model.check(call)) ==
        std::vector{errc::slope_count, errc::padding_visible, errc::segment_isolation, errc::future_visible});
  const error all = refusal([&] { return model.compile<float>(call); });
  CHECK(all.code() == errc::slope_count);
  for (const violation& broken : model.check(call)) {
    CHECK(std::string(all.what()).find(broken.message) != std::string::npos);
  }
}

TEST_CASE("every policy is asked whether it fits the call", "[attention]") {
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  const bias::alibi slopes(bias::alibi_slopes::reference(1), bias::alibi_direction::symmetric);
  const attention model{one_head, scale::none{}, visible::causal{}, slopes};
  CHECK(codes(model.check(cross)) == std::vector{errc::frame_mismatch, errc::frame_mismatch});
  const attention plain{one_head, scale::none{}, visible::everything{}};
  CHECK(plain.check(cross).empty());
}

TEST_CASE("an impossible head layout is refused when the attention is built", "[attention]") {
  const auto refused = [](const heads& layout) {
    return refusal([&] { return attention{layout, scale::none{}, visible::everything{}}; }).code();
  };
  CHECK(refused({.query = 3, .key_value = 2, .dim = 4}) == errc::head_count);
  CHECK(refused({.query = 0, .key_value = 1, .dim = 4}) == errc::head_count);
  CHECK(refused({.query = 2, .key_value = 2, .dim = 0}) == errc::shape_mismatch);
}

TEST_CASE("a scale, a cap and parameters that the type of the plan cannot hold are refused", "[attention]") {
  const auto call = call_at({2}, {0, 1, 2});
  const auto refused = [&](const auto& model) {
    CHECK_NOTHROW(model.template compile<double>(call));
    return refusal([&] { return model.template compile<float>(call); }).code();
  };
  const auto with = [](const auto&... policies) { return attention{one_head, visible::causal{}, policies...}; };
  for (const double value : {1e300, 1e-300}) {
    CHECK(refused(with(scale::constant{value})) == errc::scale_settings);
    for (const auto place : {scale::softcap_place::before_bias, scale::softcap_place::after_bias}) {
      CHECK(refused(with(scale::none{}, softcap{{.cap = value, .place = place}})) == errc::scale_settings);
    }
  }
  const double large[1] = {-1e300};
  CHECK(refused(with(scale::none{}, bias::pair<double>(tensor_view<const double, 4>(large, {1, 1, 1, 1})))) ==
        errc::non_finite);
}

TEST_CASE("a query may not see another sequence, whichever side names it", "[attention]") {
  const std::vector<index_t> queries{5, 6};
  const std::vector<index_t> keys{0, 1};
  const std::vector<index_t> two{0, 1};
  const auto call = call::explicit_positions(
      {.query = {.positions = queries, .sequences = two, .rows = 2}, .key = {.positions = keys, .rows = 2}});
  CHECK(codes(attention{one_head, scale::none{}, visible::everything{}}.check(call)) ==
        std::vector{errc::segment_isolation});
  CHECK(attention{one_head, scale::none{}, visible::segments{}}.check(call).empty());
}

/// Two rows of two ones for every head.
head_tables<double> ones() { return head_tables<double>::shared({std::vector<double>{1, 1, 1, 1}, 2, 2}); }

content::deberta<double> deberta(const content::deberta_terms& terms) {
  content::deberta_tables<double> tables;
  if (terms.has_c2p()) tables.position_keys = ones();
  if (terms.has_p2c()) tables.position_queries = ones();
  return {terms, coordinate::deberta_span::exact(1), tables};
}

TEST_CASE("an attention counts the dot products that its content terms count", "[attention]") {
  using content::deberta_terms;
  constexpr auto index = content::p2c_index::released_code;
  const content::tupe<double> tupe({.queries = ones(), .keys = ones()}, content::tupe_cls::untouched());
  const auto call = call_at({0, 1});
  const auto check = [&](index_t expected, const auto&... contents) {
    const attention model{one_head, scale::inverse_sqrt_terms{}, visible::everything{}, contents...};
    CHECK(model.dot_products() == expected);
    CHECK_THAT(model.template compile<double>(call).scale(),
               WithinRel(1.0 / std::sqrt(2.0 * static_cast<double>(expected)), 1e-15));
  };
  check(1);
  check(1, toy_content{});  // says nothing about dot products
  check(2, tupe);
  check(2, deberta(deberta_terms::c2p()));
  check(2, deberta(deberta_terms::p2c(index)), toy_content{});
  check(3, deberta(deberta_terms::both(index)));
  check(4, tupe, deberta(deberta_terms::both(index)));
}

TEST_CASE("a scale that counts one dot product is refused for more", "[attention]") {
  using content::deberta_terms;
  constexpr auto index = content::p2c_index::released_code;
  const auto call = call_at({0, 1});
  const auto found = [&](const auto& scale, const auto&... contents) {
    return codes(attention{one_head, scale, visible::everything{}, contents...}.check(call));
  };
  const content::tupe<double> tupe({.queries = ones(), .keys = ones()}, content::tupe_cls::untouched());
  const std::vector refused{errc::scale_settings};
  CHECK(found(scale::inverse_sqrt_head_dim{}, deberta(deberta_terms::c2p())) == refused);
  CHECK(found(scale::inverse_sqrt_head_dim{}, deberta(deberta_terms::both(index))) == refused);
  CHECK(found(scale::inverse_sqrt_head_dim{}, tupe) == refused);
  CHECK(found(scale::inverse_sqrt_head_dim{}, toy_content{}).empty());
  CHECK(found(scale::inverse_sqrt_terms{}, deberta(deberta_terms::both(index))).empty());
  CHECK(found(scale::constant{0.25}, tupe).empty());  // a number of the model's own
}

}  // namespace
