// SPDX-License-Identifier: MIT
#include <posgeo/audit/examine.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/hand_alibi.hpp"
#include "support/refusal.hpp"
#include "support/uneven_call.hpp"

namespace audit_examine_test {

using namespace posgeo;
using namespace posgeo::audit;
using namespace posgeo::test;

attention<scale::inverse_sqrt_head_dim, visible::active, visible::causal, bias::alibi> causal_alibi() {
  return attention{heads{.query = 4, .key_value = 2, .dim = 6}, scale::inverse_sqrt_head_dim{}, visible::active{},
                   visible::causal{}, bias::alibi(bias::alibi_slopes::reference(4), bias::alibi_direction::causal)};
}

/// The uneven call moved as a whole, its queries moved alone, and one that cannot be.
std::vector<edit> three_edits() {
  const std::vector<edited_call> same{unedited(uneven_call())};
  edit moved{intervention::shift_all, "all positions + 17", same, edited_mask::kept};
  moved.calls[0].call = uneven_call(17).described();
  edit queries{intervention::shift_queries, "queries + 2", same, edited_mask::kept};
  queries.calls[0].call.query = uneven_call(2).query_space();
  queries.calls[0].call.kind = call_kind::explicit_positions;
  queries.calls[0].call.cache = {};
  return {moved, queries, {intervention::pack, "nothing to pack with", {}, edited_mask::kept}};
}

report examined(const hand_alibi& kernel, padding_content padding = padding_content::not_a_number) {
  return examine(kernel, causal_alibi(), uneven_call(),
                 {.name = "by hand", .edits = three_edits(), .padding = padding});
}
std::vector<outcome> outcomes(const report& of) {
  std::vector<outcome> all;
  for (const finding& one : of.findings) all.push_back(outcome_of(one));
  return all;
}
using all = std::vector<outcome>;

TEST_CASE("a right kernel has no fault and its changes are measured", "[audit]") {
  const report got = examined({});
  CHECK(faults(got) == 0);
  CHECK(got.from_reference <= got.tolerance);
  CHECK(got.from_reference > 0.0);
  CHECK(outcomes(got) == all{outcome::ok, outcome::ok, outcome::none});
  const finding& moved = got.findings[0];
  CHECK(moved.found == verdict::invariant);
  CHECK(largest(moved.measured) <= moved.tolerance);
  const finding& queries = got.findings[1];
  CHECK(queries.found == verdict::changes);
  // Two tokens further on, head 0, of slope 1/4, gives every key that stays 2/4 less.
  REQUIRE(queries.measured.log_sum_exp.has_value());
  CHECK(*queries.measured.log_sum_exp > 2.0 / 256.0);
  REQUIRE(queries.measured.score_differences.has_value());
  CHECK(*queries.measured.score_differences <= queries.tolerance);
  CHECK(*queries.measured.weights > queries.tolerance);
}

TEST_CASE("every intervention leaves a right kernel without fault and as declared", "[audit]") {
  const report got = examine(hand_alibi{}, causal_alibi(), uneven_call(), {.name = "by hand"});
  CHECK(got.findings.size() == 15);
  for (const finding& one : got.findings) {
    CAPTURE(name_of(one.kind), name_of(one.expected), name_of(one.reference), name_of(one.found), one.message);
    const outcome how = outcome_of(one);
    CHECK((how == outcome::ok || how == outcome::none));
  }
  CHECK(faults(got) == 0);
}

TEST_CASE("a query restarted at 0 is a fault wherever its positions moved", "[audit]") {
  const report got = examined({.fault = hand_alibi::planted::query_from_zero});
  CHECK(got.from_reference > got.tolerance);
  CHECK(outcomes(got)[0] == outcome::fault);
  CHECK(got.findings[0].reference == verdict::invariant);
  CHECK(got.findings[0].found == verdict::changes);
}

TEST_CASE("a position added twice has the right verdicts and wrong numbers", "[audit]") {
  const report got = examined({.fault = hand_alibi::planted::bias_twice});
  CHECK(got.findings[0].found == got.findings[0].reference);
  CHECK(got.findings[1].found == got.findings[1].reference);
  CHECK(outcomes(got) == all{outcome::fault, outcome::fault, outcome::none});
  CHECK(faults(got) == 3);
}

TEST_CASE("a log-sum-exp of another base is a fault though every output is right", "[audit]") {
  const report got = examined({.fault = hand_alibi::planted::log_sum_exp_in_base_2});
  CHECK(got.from_reference > got.tolerance);
  CHECK(outcomes(got) == all{outcome::fault, outcome::fault, outcome::none});
  CHECK(faults(examined({.fault = hand_alibi::planted::log_sum_exp_in_base_2, .gives = also::probabilities})) == 0);
}

TEST_CASE("weight on padding counts as a change of weights", "[audit]") {
  const report got =
      examine(hand_alibi{.fault = hand_alibi::planted::padding_read}, causal_alibi(), call_at({4, 6}, {2, 4, 5}),
              {.name = "by hand",
               .edits = std::vector{pad_left(call_at({4, 6}, {2, 4, 5}))},
               .padding = padding_content::large});
  CHECK(got.from_reference <= got.tolerance);
  CHECK(outcome_of(got.findings[0]) == outcome::fault);
  // Rows of 10000s take all weight where their score is high: it leaves the tokens and arrives at padding.
  CHECK_THAT(got.findings[0].measured.weights.value(), WithinAbs(2.0, 1e-6));
}

TEST_CASE("a row that is no token shows where a kernel reads it", "[audit]") {
  const report unfilled = examined({.fault = hand_alibi::planted::padding_read});
  CHECK(std::isinf(unfilled.from_reference));
  const report filled = examined({.fault = hand_alibi::planted::padding_read}, padding_content::large);
  CHECK(filled.from_reference > filled.tolerance);
  CHECK(std::isfinite(filled.from_reference));
  CHECK(faults(examined({}, padding_content::large)) == 0);
}

TEST_CASE("a change that rounding hides is no fault", "[audit]") {
  std::vector<double> slopes;
  for (const double slope : {0.25, 0.0625, 0.015625, 0.00390625}) slopes.push_back(1e-6 * slope);
  const attention flat{heads{.query = 4, .key_value = 2, .dim = 6}, scale::inverse_sqrt_head_dim{}, visible::active{},
                       visible::causal{},
                       bias::alibi(bias::alibi_slopes::custom(slopes), bias::alibi_direction::causal)};
  const position_call behind = call_at({20, 22, 25}, {3, 7, 9, 12, 16});
  const report got = examine(hand_alibi{.steepness = 1e-6}, flat, behind,
                             {.name = "by hand", .edits = std::vector{shift_queries(behind)}});
  CHECK(got.findings[0].expected == verdict::changes);
  CHECK(outcome_of(got.findings[0]) == outcome::not_seen);
  CHECK(faults(got) == 0);
}

TEST_CASE("a change of the log-sum-exp alone is not seen in a kernel that gives none", "[audit]") {
  const position_call behind = call_at({20, 22, 25}, {3, 7, 9, 12, 16});
  const auto moved = [&behind](also gives) {
    return examine(hand_alibi{.gives = gives}, causal_alibi(), behind,
                   {.name = "by hand", .edits = std::vector{shift_queries(behind)}});
  };
  CHECK(outcome_of(moved(also::log_sum_exp).findings[0]) == outcome::ok);
  CHECK(outcome_of(moved(also::nothing).findings[0]) == outcome::not_seen);
}

TEST_CASE("weights that a kernel does not give are probed", "[audit]") {
  const report given = examined({});
  const report probed = examined({.gives = also::nothing});
  CHECK(faults(probed) == 0);
  for (std::size_t n = 0; n < 2; ++n) {
    const changes& with = given.findings[n].measured;
    const changes& without = probed.findings[n].measured;
    CHECK_FALSE(without.log_sum_exp.has_value());
    CHECK_THAT(*without.weights, WithinAbs(*with.weights, given.findings[n].tolerance));
    CHECK_THAT(without.outputs, WithinAbs(with.outputs, 0.0));
    CHECK(*without.score_differences <= probed.findings[n].tolerance);
  }
}

TEST_CASE("what a kernel refuses to give is not asked for again", "[audit]") {
  const report got = examined({.gives = also::log_sum_exp, .refuses_others = true});
  CHECK(faults(got) == 0);
  CHECK(got.findings[1].measured.log_sum_exp.has_value());
}

TEST_CASE("a call that a kernel refuses is not taken and no fault", "[audit]") {
  const report got = examined({.refused = call_kind::explicit_positions});
  CHECK(outcomes(got) == all{outcome::ok, outcome::not_taken, outcome::none});
  CHECK(got.findings[1].message.find("hand kernel") != std::string::npos);
  CHECK(faults(got) == 0);
}

TEST_CASE("a kernel that refuses the call itself is not examined", "[audit]") {
  const error got = refusal([] { (void)examined({.refused = call_kind::prefill_chunk}); });
  CHECK(got.code() == errc::executor_refusal);
  CHECK(std::string(got.what()).find("hand kernel, call: expected another kind") != std::string::npos);
}

TEST_CASE("sources that are not those of the calls are refused", "[audit]") {
  std::vector<edit> edits = three_edits();
  edits[0].calls[0].key_source.pop_back();
  const auto run = [&edits] {
    return examine(hand_alibi{}, causal_alibi(), uneven_call(), {.name = "by hand", .edits = edits});
  };
  const report short_sources = run();
  CHECK(short_sources.findings[0].reference == verdict::refused);
  CHECK(short_sources.findings[0].message.find("sources of its rows") != std::string::npos);
  edits = three_edits();
  edits[0].calls[0].query_source[0] = {.entry = 0, .row = 3};
  CHECK(run().findings[0].message.find("source of a row") != std::string::npos);
}

}  // namespace audit_examine_test
