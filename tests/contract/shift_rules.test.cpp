// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/contract/shift_rules.hpp>
#include <posgeo/frequency/dynamic_ntk.hpp>

#include "contract/family_models.hpp"
#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"

namespace shift_rules_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;

/// The largest change of any score or output when all positions of a call move on.
template <class Model>
double moved_by_shift(const Model& model) {
  const auto at = [&](index_t shift) {
    std::vector<index_t> queries{2, 5, 3};
    std::vector<index_t> keys{0, 4, 1, 2, 7, 5};
    for (index_t& p : queries) p += shift;
    for (index_t& p : keys) p += shift;
    const auto call = call_at(queries, keys);
    const attention_inputs<double> in(model.layout(), call, 4, 40);
    return attend(eager{}, model.template compile<double>(call), in.view(), also::everything);
  };
  const auto here = at(0);
  const auto there = at(9);
  return std::max(largest_difference(here.scores.values(), there.scores.values()),
                  largest_difference(here.output.values(), there.output.values()));
}

template <class Model>
void expect_moves_freely(const Model& model) {
  CAPTURE(model.describe().back().name(), why_not_shifted(model.describe()).value_or("it may"));
  CHECK_FALSE(why_not_shifted(model.describe()));
  CHECK(moved_by_shift(model) < 1e-12);
}
template <class Model>
void expect_stays(const Model& model, const std::string& reason) {
  CAPTURE(reason);
  CHECK(why_not_shifted(model.describe()) == reason);
  CHECK(moved_by_shift(model) > 1e-3);
}

TEST_CASE("mechanisms of differences may move and nothing changes", "[shift_rules]") {
  expect_moves_freely(seen_by_all());
  expect_moves_freely(seen_by_all(small_t5()));
  expect_moves_freely(seen_by_all(small_alibi()));
  expect_moves_freely(seen_by_all(small_learned()));
  expect_moves_freely(seen_by_all(small_shaw_key()));
  expect_moves_freely(seen_by_all(small_shaw_value()));
  expect_moves_freely(seen_by_all(small_transformer_xl()));
  expect_moves_freely(seen_by_all(small_deberta(content::deberta_terms::c2p())));
  expect_moves_freely(seen_by_all(small_rotary()));
  expect_moves_freely(seen_by_all(visible::causal{}));
  expect_moves_freely(seen_by_all(visible::window{.behind = 2, .ahead = 1}));
  expect_moves_freely(seen_by_all(visible::any_of(visible::causal{}, visible::window{.behind = 1, .ahead = 2})));
  expect_moves_freely(
      seen_by_all(scale::sink({0.5, -1.0}), scale::softcap({.cap = 3.0, .place = scale::softcap_place::after_bias})));
}

TEST_CASE("mechanisms that read where rows stand may not move", "[shift_rules]") {
  expect_stays(seen_by_all(small_tupe(content::tupe_cls::untouched())), "tupe, which reads where rows stand");
  expect_stays(seen_by_all(small_tupe_relative()), "tupe_relative with a rule for one position");
  const bias::alibi_key_position by_key(bias::alibi_slopes::reference(two_heads.query), 0);
  expect_stays(seen_by_all(by_key, visible::causal{}), "alibi_key_position, which reads where rows stand");
}

TEST_CASE("a method is judged by all of its parts", "[shift_rules]") {
  const auto why = [](const description& one) { return why_not_shifted(std::vector<description>{one}); };
  const description rotary = small_rotary().describe();
  CHECK_FALSE(why(rotary));
  CHECK(why(description("somebody's")) == "somebody's, which reads where rows stand");
  CHECK(why(description("t5").with("rule", description("grid"))) == "grid, which reads where rows stand");
  CHECK(why(description("any_of").with("parts", std::vector<description>{rotary, description("custom")})) ==
        "custom, which reads where rows stand");
  CHECK(why(description("rotary").with("sequence_length", 8)) == "rotary of one sequence_length");
  CHECK_FALSE(why(description("rotary").with("sequence_length", std::optional<index_t>())));
  CHECK(why_not_shifted(std::vector<description>{rotary, description("tupe")}) == "tupe, which reads where rows stand");
  // A scale has no positions, whatever it is called.
  CHECK_FALSE(why(description("a scale of somebody").with("family", "score_scale")));
  CHECK(why(description("a scale of somebody").with("family", "score_bias")));
}

TEST_CASE("frequencies made for one length may not move", "[shift_rules]") {
  const auto turning = [](const auto& frequencies) {
    return transform::rotary(frequencies, {.pairs = transform::pairing::adjacent}).describe();
  };
  CHECK(why_not_shifted(turning(frequency::dynamic_ntk(
      {.base = 100.0, .rotary_dim = 4, .factor = 2.0, .original_max_position = 4, .sequence_length = 8}))));
  CHECK_FALSE(why_not_shifted(turning(frequency::geometric({.base = 100.0, .rotary_dim = 4}))));
}

TEST_CASE("only a method that hides what comes after shows no later rows", "[shift_rules]") {
  const auto alone = [](const auto& policy) { return sees_no_later_rows(seen_by_all(policy).describe()); };
  CHECK(alone(visible::causal{}));
  CHECK(alone(visible::window{.behind = 4, .ahead = 0}));
  CHECK_FALSE(alone(visible::window{.behind = 4, .ahead = 1}));
  CHECK_FALSE(alone(visible::window{.behind = 4, .ahead = visible::window::unbounded}));
  CHECK_FALSE(alone(small_alibi()));
  CHECK_FALSE(alone(visible::any_of(visible::causal{}, visible::window{.behind = 1, .ahead = 2})));
}

}  // namespace shift_rules_test
