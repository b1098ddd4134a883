// SPDX-License-Identifier: MIT
#include <posgeo/bias/pair.hpp>
#include <posgeo/contract/admission.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/scale/softcap.hpp>

#include <algorithm>
#include <set>
#include <string>

#include "contract/family_models.hpp"
#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace admission_test {
namespace {

using namespace posgeo;
using namespace posgeo::test;
using contract::admission_request;
using contract::capabilities_of;
using contract::capability;
using contract::capability_set;
using contract::reference_fallback;
using contract::term_form;

const admission_request plain{
    .elements = precision::binary32, .output = precision::binary32, .value_dim = two_heads.dim};

/// A backend that takes q, k and v, a scale and one additive mask, as scaled dot product attention does.
contract::declared_executor additive_mask_only() {
  return {"additive mask only",
          {capability::state_addition, capability::additive_score_bias, capability::stated_scale,
           capability::ruled_visibility, capability::computes_in_float, capability::binary32_elements,
           capability::bfloat16_elements},
          contract::relation_memory::materialised};
}

position_call short_call() { return call::prefill_chunk(0, 5); }

/// What keeps the additive mask from running a model.
template <class... Policies>
capability_set missing(const attention<Policies...>& model, capability_set beside = {}) {
  auto request = plain;
  request.beside = beside;
  const auto how = contract::admit(model, short_call(), request, reference_fallback::allowed, additive_mask_only());
  if (how.place) return {};
  CHECK(how.executor == "eager");
  return how.others.front().missing;
}

/// A user's own bias, of which an executor knows nothing but its scalar form.
struct bias_without_block_form {
  using family = posgeo::family::score_bias;
  template <class T>
  struct term {
    T operator()(batch_index, head_index, query_index i, key_index j) const noexcept {
      return static_cast<T>(i.value() - 2 * j.value());
    }
  };
  template <class T>
  [[nodiscard]] term<T> compile(const position_call&, const heads&) const {
    return {};
  }
};

TEST_CASE("an additive mask runs what the table says it runs", "[admission]") {
  const auto nothing = seen_by_all();
  const encode::learned_absolute<float> learned(floats(9, 6, 1), {.row_offset = 0});
  CHECK(missing(nothing, capabilities_of(learned)).empty());
  CHECK(missing(seen_by_all(small_t5())).empty());
  CHECK(missing(seen_by_all(small_alibi())).empty());
  const bias::alibi_key_position by_key(bias::alibi_slopes::reference(2), 0);
  CHECK(missing(attention{two_heads, scale::inverse_sqrt_head_dim{}, visible::causal{}, by_key}).empty());
  CHECK(missing(seen_by_all(small_learned())).empty());
  const auto numbers = random_tensor<float, 4>({1, 2, 5, 5}, 3);
  CHECK(missing(seen_by_all(bias::pair(numbers.view()))).empty());
  CHECK(missing(attention{two_heads, scale::none{}, visible::causal{}, small_t5()}).empty());
}

TEST_CASE("an additive mask does not run what needs more, and the reason has its name", "[admission]") {
  using enum capability;
  CHECK(missing(seen_by_all(small_shaw_key())) == capability_set{query_relation_scores});
  CHECK(missing(seen_by_all(small_shaw_value())) == capability_set{value_aggregation});
  CHECK(missing(seen_by_all(small_shaw_key(), small_shaw_value())) ==
        capability_set{query_relation_scores, value_aggregation});
  CHECK(missing(seen_by_all(small_transformer_xl())) == capability_set{query_relation_scores, global_content_bias});
  using content::deberta_terms;
  using content::p2c_index;
  CHECK(missing(seen_by_all(small_deberta(deberta_terms::c2p()))) == capability_set{query_relation_scores});
  CHECK(missing(seen_by_all(small_deberta(deberta_terms::p2c(p2c_index::paper)))) ==
        capability_set{key_relation_scores});
  CHECK(missing(seen_by_all(small_deberta(deberta_terms::both(p2c_index::paper)))) ==
        capability_set{query_relation_scores, key_relation_scores});
  CHECK(missing(seen_by_all(content::relative_key_query<float>(floats(9, 4, 2), 5))) ==
        capability_set{query_relation_scores, key_relation_scores});
  CHECK(missing(seen_by_all(small_tupe(content::tupe_cls::untouched()))) == capability_set{appended_dimensions});
  CHECK(missing(seen_by_all(small_tupe(content::tupe_cls::released(position{0})))) ==
        capability_set{appended_dimensions, special_rows});
  CHECK(missing(seen_by_all(small_tupe_relative())) == capability_set{special_rows});
  CHECK(missing(seen_by_all(small_rotary())) == capability_set{query_key_transform});
  CHECK(missing(seen_by_all(scale::sink::off_by_one(two_heads))) == capability_set{softmax_sink});
  for (const auto place : {scale::softcap_place::before_bias, scale::softcap_place::after_bias}) {
    CHECK(missing(seen_by_all(scale::softcap({.cap = 2.0, .place = place}))) ==
          capability_set{place == scale::softcap_place::before_bias ? softcap_before_bias : softcap_after_bias});
  }
  const auto odd = [](const position_call&, batch_index, query_index, key_index j) { return j.value() % 2 == 1; };
  CHECK(missing(attention{two_heads, scale::inverse_sqrt_head_dim{}, visible::custom(odd)}) ==
        capability_set{pairwise_visibility});
  CHECK(missing(attention{heads{.query = 4, .key_value = 2, .dim = 4}, scale::inverse_sqrt_head_dim{},
                          visible::everything{}}) == capability_set{grouped_heads});
}

TEST_CASE("what each plan needs is part of what its type may need", "[admission]") {
  const auto check = [](const auto& model) {
    for (const position_call& call : random_calls(3)) {
      if (!model.check(call).empty()) continue;
      const auto plan = model.template compile<double>(call);
      const capability_set needed = capabilities_of(plan);
      CHECK(contract::may_need<std::remove_cvref_t<decltype(plan)>>.includes(needed));
      CHECK(needed.contains(capability::computes_in_double));
      CHECK(needed.includes(capabilities_of(call)));
    }
  };
  const visible::segments apart;
  check(attention{two_heads, scale::inverse_sqrt_terms{}, apart, small_t5(), small_shaw_value()});
  check(attention{two_heads, scale::inverse_sqrt_terms{}, apart, small_tupe_relative(), small_shaw_key()});
  check(attention{two_heads, scale::inverse_sqrt_terms{}, apart,
                  small_deberta(content::deberta_terms::p2c(content::p2c_index::paper))});
  using plain_plan = decltype(seen_by_all().compile<float>(short_call()));
  STATIC_REQUIRE(!contract::may_need<plain_plan>.contains(capability::value_aggregation));
  STATIC_REQUIRE(!contract::may_need<plain_plan>.contains(capability::additive_score_bias));
  using shaw_plan = decltype(seen_by_all(small_shaw_value()).compile<float>(short_call()));
  STATIC_REQUIRE(contract::may_need<shaw_plan>.contains(capability::value_aggregation));
}

TEST_CASE("memory of earlier calls and irregular positions are needs of the call", "[admission]") {
  CHECK(capabilities_of(call::prefill_chunk(0, 4)).empty());
  CHECK(capabilities_of(call::prefill_chunk(3, 4)) == capability_set{capability::extended_memory});
  CHECK(capabilities_of(call_at({4, 9, 11})) == capability_set{capability::irregular_positions});
  const std::vector<index_t> lengths{2, 3};
  const auto fixed = call::padded_batch({.lengths = lengths,
                                         .rows = 3,
                                         .side = call::padding_side::right,
                                         .positions = call::padded_positions::fixed(4, 1)});
  CHECK(capabilities_of(fixed) == capability_set{capability::irregular_positions});
}

TEST_CASE("scale and grouping are needs only where they differ from the plain ones", "[admission]") {
  const auto needs = [](const auto& model) { return capabilities_of(model.template compile<float>(short_call())); };
  const heads layout{.query = 3, .key_value = 3, .dim = 7};
  CHECK(!needs(attention{layout, scale::inverse_sqrt_head_dim{}, visible::everything{}})
             .contains(capability::stated_scale));
  CHECK(needs(attention{layout, scale::none{}, visible::everything{}}).contains(capability::stated_scale));
  CHECK(!needs(attention{layout, scale::none{}, visible::everything{}}).contains(capability::ruled_visibility));
  CHECK(needs(attention{layout, scale::none{}, visible::causal{}}).contains(capability::ruled_visibility));
}

TEST_CASE("the first executor that can do everything is chosen, and the others have their reasons", "[admission]") {
  const auto model = seen_by_all(small_t5(), small_shaw_value());
  const auto how =
      contract::admit(model, short_call(), plain, reference_fallback::refused, additive_mask_only(), fused{}, eager{});
  CHECK(how.executor == "fused");
  CHECK(how.place == std::size_t{1});
  REQUIRE(how.others.size() == 2);
  CHECK(how.others[0].executor == "additive mask only");
  CHECK(how.others[0].missing == capability_set{capability::value_aggregation});
  CHECK(how.others[1].executor == "eager");
  CHECK(how.others[1].missing.empty());
  CHECK(how.fallback_reason() == "additive mask only lacks value_aggregation");

  auto with_scores = plain;
  with_scores.wanted = also::scores | also::log_sum_exp;
  const auto slow = contract::admit(model, short_call(), with_scores, reference_fallback::allowed, fused{});
  CHECK(slow.executor == "eager");
  CHECK(!slow.place);
  CHECK(slow.fallback_reason() == "fused lacks returns_scores");
  CHECK(contract::admit(model, short_call(), plain, reference_fallback::refused, fused{}).fallback_reason().empty());
}

TEST_CASE("a refused fallback names every missing capability of every executor", "[admission]") {
  const auto model = seen_by_all(small_shaw_key(), small_shaw_value());
  auto with_scores = plain;
  with_scores.wanted = also::scores;
  const error thrown = refusal([&] {
    (void)contract::admit(model, short_call(), with_scores, reference_fallback::refused, additive_mask_only(), fused{});
  });
  CHECK(thrown.code() == errc::admission);
  CHECK(std::string(thrown.what()) ==
        "additive mask only, capabilities: expected also query_relation_scores, value_aggregation, returns_scores, got "
        "an executor without; fused, capabilities: expected also returns_scores, got an executor without");
  CHECK(refusal([&] { (void)contract::admit(model, short_call(), plain, reference_fallback::refused); }).code() ==
        errc::admission);
  CHECK(contract::admit(model, short_call(), plain, reference_fallback::allowed).executor == "eager");
  auto negative = plain;
  negative.value_dim = -1;
  CHECK(refusal([&] { (void)contract::admit(model, short_call(), negative, reference_fallback::allowed); }).code() ==
        errc::shape_mismatch);
}

TEST_CASE("what one executor refuses it would refuse when run", "[admission]") {
  const auto model = seen_by_all(small_t5());
  const auto plan = model.compile<float>(short_call());
  const attention_inputs<float> inputs(two_heads, plan.call(), two_heads.dim, 9);
  for (const also wanted : {also::nothing, also::log_sum_exp, also::scores, also::probabilities, also::everything}) {
    auto request = plain;
    request.wanted = wanted;
    const auto how = contract::admit(plan, request, reference_fallback::allowed, fused{});
    if (how.executor == "fused") {
      CHECK_NOTHROW(attend(fused{}, plan, inputs.view(), wanted));
    } else {
      CHECK(refusal([&] { (void)attend(fused{}, plan, inputs.view(), wanted); }).code() == errc::executor_refusal);
    }
    CHECK_NOTHROW(attend(eager{}, plan, inputs.view(), wanted));
  }
}

TEST_CASE("element types are needs, and each format has one of its own", "[admission]") {
  const auto model = seen_by_all();
  auto request = plain;
  request.elements = precision::binary16;
  const auto how = contract::admit(model, short_call(), request, reference_fallback::allowed, additive_mask_only());
  CHECK(how.executor == "eager");
  CHECK(how.others.front().missing == capabilities_of(precision::binary16));
  request.elements = precision::bfloat16;
  CHECK(contract::admit(model, short_call(), request, reference_fallback::allowed, additive_mask_only()).place);
  request.elements = precision::binary64;
  request.output = precision::binary64;
  CHECK(contract::admit<double>(model, short_call(), request, reference_fallback::allowed, additive_mask_only())
            .others.front()
            .missing == capability_set{capability::computes_in_double, capability::binary64_elements});
}

TEST_CASE("elements and outputs that attend would not take are not admitted", "[admission]") {
  const attention model{two_heads, scale::inverse_sqrt_head_dim{}, visible::causal{}};
  const auto call = call::prefill_chunk(0, 5);
  const contract::declared_executor other{"other", capability_set::everything(), contract::relation_memory::tiles};
  const auto is_refused = [&](const auto& plan, const admission_request& request) {
    for (const auto fallback : {reference_fallback::allowed, reference_fallback::refused}) {
      const error e = refusal([&] { return contract::admit(plan, request, fallback, eager{}, fused{}); });
      CHECK(e.code() == errc::admission);
      CHECK(std::string(e.what()).find("fused, capabilities: expected also binary") != std::string::npos);
    }
    CHECK(contract::admit(plan, request, reference_fallback::allowed, fused{}, other).executor == "other");
  };
  auto request = plain;
  request.elements = precision::binary64;
  is_refused(model.compile<float>(call), request);
  request.elements = precision::binary32;
  request.output = precision::binary64;
  is_refused(model.compile<double>(call), request);

  request = plain;
  request.output = precision::bfloat16;
  const error e =
      refusal([&] { return contract::admit(model.compile<float>(call), request, reference_fallback::allowed, other); });
  CHECK(e.code() == errc::admission);
  CHECK(std::string(e.what()).find("output: expected binary32") != std::string::npos);
  request.elements = precision::bfloat16;
  CHECK(contract::admit(model.compile<float>(call), request, reference_fallback::refused, fused{}).executor == "fused");
}

TEST_CASE("an admission says which terms run by a block form", "[admission]") {
  const auto odd = [](const position_call&, batch_index, query_index, key_index j) { return j.value() != 1; };
  const auto numbers = random_tensor<float, 4>({1, 1, 5, 5}, 3);
  const attention model{two_heads,
                        scale::inverse_sqrt_terms{},
                        visible::custom(odd),
                        visible::causal{},
                        small_rotary(),
                        small_transformer_xl(),
                        small_deberta(content::deberta_terms::p2c(content::p2c_index::paper)),
                        small_tupe(content::tupe_cls::released(position{0})),
                        small_t5(),
                        bias::alibi_key_position(bias::alibi_slopes::reference(2), 0),
                        bias::pair(numbers.view()),
                        small_tupe_relative(),
                        bias_without_block_form(),
                        small_shaw_value()};
  const auto how = contract::admit(model, short_call(), plain, reference_fallback::refused, fused{});
  const auto form_of = [&how](std::string_view family, index_t number) {
    for (const contract::term_run& term : how.terms) {
      if (term.family == family && term.number == number) return term.forms;
    }
    return std::vector<term_form>{};
  };
  using forms = std::vector<term_form>;
  CHECK(form_of("qk_transform", 0) == forms{term_form::turned_rows});
  CHECK(form_of("content_term", 0) == forms{term_form::query_class_scores, term_form::added_to_query});
  CHECK(form_of("content_term", 1) == forms{term_form::key_class_scores});
  CHECK(form_of("content_term", 2) == forms{term_form::appended_dimensions});
  CHECK(form_of("score_bias", 0) == forms{term_form::offset_line});
  CHECK(form_of("score_bias", 1) == forms{term_form::key_line});
  CHECK(form_of("score_bias", 2) == forms{term_form::caller_line});
  CHECK(form_of("score_bias", 3) == forms{term_form::offset_line});
  CHECK(form_of("score_bias", 4) == forms{term_form::pair_by_pair});
  CHECK(form_of("value_term", 0) == forms{term_form::class_mass});
  CHECK(form_of("visibility", 0) == forms{term_form::pair_by_pair});
  CHECK(form_of("visibility", 1) == forms{term_form::rule});
  CHECK(how.terms.size() == 12);
  const auto plain_path = contract::admit(model, short_call(), plain, reference_fallback::refused, eager{});
  REQUIRE(plain_path.terms.size() == 12);
  for (const auto& term : plain_path.terms) CHECK(term.forms == forms{term_form::pair_by_pair});
}

TEST_CASE("bytes are those of the tensors, of the workspace and of what is materialised", "[admission]") {
  const heads layout{.query = 6, .key_value = 2, .dim = 4};
  const attention model{layout, scale::inverse_sqrt_head_dim{}, visible::causal{},
                        bias::alibi(bias::alibi_slopes::reference(6), bias::alibi_direction::causal)};
  const auto plan = model.compile<float>(call::prefill_chunk(7, 3));
  const auto call = plan.call();
  const attention_inputs<float> inputs(layout, call, 5, 1);
  const auto bytes_in = [](const auto& t) { return static_cast<index_t>(t.values().size_bytes()); };
  auto request = plain;
  request.value_dim = 5;
  request.wanted = also::everything;
  const auto how = contract::admit(plan, request, reference_fallback::refused, eager{});
  CHECK(how.bytes.inputs == bytes_in(inputs.query) + bytes_in(inputs.key) + bytes_in(inputs.value));
  const auto result = attend(eager{}, plan, inputs.view(), also::everything);
  CHECK(how.bytes.outputs == bytes_in(result.output) + bytes_in(result.log_sum_exp) + bytes_in(result.scores) +
                                 bytes_in(result.probabilities));
  CHECK(how.bytes.bias_materialized == 0);
  REQUIRE(how.bytes.workspace);
  CHECK(*how.bytes.workspace >= 4 * 4 * 3 * 10);

  request.wanted = also::nothing;
  const auto fast = contract::admit(plan, request, reference_fallback::refused, fused{});
  CHECK(fast.bytes.workspace == static_cast<index_t>(fused{}.workspace_bytes(plan, 5)));
  CHECK(fast.bytes.relation_materialized == 0);
  const contract::declared_executor all{"all", capability_set::everything(), contract::relation_memory::materialised};
  const auto outside = contract::admit(plan, request, reference_fallback::refused, all);
  CHECK(!outside.bytes.workspace);
  CHECK(outside.bytes.bias_materialized == bytes_in(tensor<float, 4>({1, 6, 3, 10})));
  CHECK(outside.terms.empty());
  const auto shaw = contract::admit(seen_by_all(small_shaw_key(), small_shaw_value()), call, request,
                                    reference_fallback::refused, all);
  CHECK(shaw.bytes.bias_materialized == 0);
  CHECK(shaw.bytes.relation_materialized ==
        bytes_in(tensor<float, 3>({3, 10, 4})) + bytes_in(tensor<float, 3>({3, 10, 5})));
}

TEST_CASE("flops are those of every visible pair and of every class that a row meets", "[admission]") {
  const auto shaw = small_shaw_key();
  const auto tupe = small_tupe(content::tupe_cls::released(position{0}));
  const attention model{
      two_heads,          scale::inverse_sqrt_terms{}, visible::window{.behind = 4, .ahead = 6}, shaw, tupe,
      small_shaw_value(), bias_without_block_form()};
  for (const position_call& call : {short_call(), call::prefill_chunk(6, 9), call::decode_step(11, 11)}) {
    const auto plan = model.compile<double>(call);
    double pairs = 0;
    double score_classes = 0;
    double value_classes = 0;
    for (const query_index i : indices<query_index>(call.queries())) {
      std::set<index_t> of_scores;
      std::set<index_t> of_values;
      for (const key_index j : indices<key_index>(call.keys())) {
        const index_t offset = call.at(batch_index{0}, j).value() - call.at(batch_index{0}, i).value();
        if (offset < -4 || offset > 6) continue;
        ++pairs;
        of_scores.insert(std::clamp<index_t>(offset, -3, 3));
        of_values.insert(std::clamp<index_t>(offset, -2, 2));
      }
      score_classes += static_cast<double>(of_scores.size());
      value_classes += static_cast<double>(of_values.size());
    }
    const auto work = contract::work_of(plan, 5);
    CHECK(work.visible_pairs == 2 * pairs);
    CHECK(work.attention() == 2 * pairs * (2 * 4 + 2 * 5));
    CHECK(work.class_scores == 2 * score_classes * 2 * 4);
    CHECK(work.class_values == 2 * value_classes * 2 * 5);
    CHECK(work.appended == 2 * pairs * 2 * (4 + 2));  // head_dim and two numbers for [CLS]
    CHECK(work.pairwise == 2 * pairs);                // the bias
    CHECK(work.flops() == work.attention() + work.class_scores + work.class_values + work.appended);
  }
}

TEST_CASE("capabilities have names of their own, and sets are sets", "[admission]") {
  std::set<std::string_view> names;
  capability_set::everything().each([&names](capability c) { names.insert(name_of(c)); });
  CHECK(names.size() == contract::capability_count);
  CHECK(names.count("") == 0);
  CHECK(name_of(capability::returns_probabilities) == "returns_probabilities");
  CHECK(name_of(capability::special_rows) == "special_rows");
  CHECK(name_of(capability::bfloat16_elements) == "bfloat16_elements");
  constexpr capability_set a{capability::softmax_sink, capability::special_rows};
  constexpr capability_set b{capability::special_rows};
  STATIC_REQUIRE(a.includes(b));
  STATIC_REQUIRE(!b.includes(a));
  STATIC_REQUIRE((a - b) == capability_set{capability::softmax_sink});
  STATIC_REQUIRE((a | b) == a);
  STATIC_REQUIRE(capability_set{}.empty());
  CHECK(a.names() == "special_rows, softmax_sink");
}

}  // namespace
}  // namespace admission_test
