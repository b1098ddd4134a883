// SPDX-License-Identifier: MIT
#include <posgeo/audit/conformance.hpp>
#include <posgeo/audit/function.hpp>
#include <posgeo/audit/print_conformance.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include <set>
#include <stdexcept>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/hand_attention.hpp"
#include "support/observed_call.hpp"

namespace posgeo::conformance_test {

using namespace posgeo::audit;
using test::fault;
using test::hand_attention;
using test::observed;

constexpr heads layout{.query = 6, .key_value = 2, .dim = 6};

/// ALiBi with a window of the own key and three before it, isolated by sequence.
const auto& windowed() {
  static const auto model = cases::alibi(layout, visible::window{.behind = 3, .ahead = 0}, visible::segments{}).model;
  return model;
}
const auto& turned() {
  static const auto model =
      cases::rotary(layout, transform::pairing::halves, visible::causal{}, visible::segments{}).model;
  return model;
}

/// Three queries at 9, 10 and 11 that see a memory and themselves.
position_call behind_memory() { return test::call_at({9, 10, 11}, {4, 5, 6, 7, 8, 9, 10, 11}); }

TEST_CASE("windows that reach too far or not far enough are told apart") {
  const auto named = [](fault planted) {
    const named_call first{"first", test::call_at({0, 1, 2, 3, 4, 5})};
    const diagnosis found =
        diagnose("window", hand_attention(planted), windowed(), {first, {"later", behind_memory()}});
    INFO(fmt::format("{}", found));
    REQUIRE(!found.explanations.empty());
    return std::pair{found.explanations.front().what, found.explanations.front().where};
  };
  CHECK(named(fault::window_wider) ==
        std::pair{confusion::window_off_by_one, std::string("window, behind +1, ahead +0")});
  CHECK(named(fault::window_narrower) ==
        std::pair{confusion::window_off_by_one, std::string("window, behind -1, ahead +0")});
  CHECK(named(fault::window_missing).first == confusion::window_ignored);
}

TEST_CASE("what a call cannot tell apart another call can") {
  const named_call first{"first", test::call_at({1, 2, 3}, {0, 1, 2, 3})};
  const named_call later{"later", behind_memory()};
  const auto names = [](const diagnosis& found) {
    std::vector<confusion> out;
    for (const explanation& one : found.explanations) out.push_back(one.what);
    return out;
  };
  const hand_attention kernel(fault::query_from_zero);
  const std::vector<confusion> of_first = names(diagnose("rotary", kernel, turned(), {first}));
  CHECK(std::count(of_first.begin(), of_first.end(), confusion::query_restarted) == 1);
  CHECK(std::count(of_first.begin(), of_first.end(), confusion::query_off_by_one) == 1);
  CHECK(names(diagnose("rotary", kernel, turned(), {first, later})) == std::vector{confusion::query_restarted});
}

TEST_CASE("a confusion that a passing call contradicts is not named") {
  // The kernel restarts its queries in one kind of call only.
  const auto kernel = [](const auto& plan, const auto& in, const auto& out) {
    const bool long_call = plan.call().keys() > 4;
    hand_attention{long_call ? fault::none : fault::query_one_on}(plan, in, out);
  };
  const named_call first{"first", test::call_at({1, 2, 3}, {0, 1, 2, 3})};
  const named_call later{"later", behind_memory()};
  const diagnosis found = diagnose("rotary", kernel, turned(), {first, later});
  CHECK(found.calls[0].result == conformity::differs);
  CHECK(found.calls[1].result == conformity::passed);
  REQUIRE(!found.explanations.empty());
  // Nothing explains both, so what explains the one is named with it.
  CHECK(found.explanations.front().what == confusion::query_off_by_one);
  CHECK(found.explanations.front().calls == std::vector<std::string>{"first"});
  CHECK(found.explanations.front().in == explained::some_calls);
  CHECK(fmt::format("{}", found).find("in part: queries off by one") != std::string::npos);
}

TEST_CASE("a difference without a name says where it stands") {
  const auto kernel = [](const auto& plan, const auto& in, const auto& out) {
    hand_attention{fault::none}(plan, in, out);
    out.output.row(0, 4, 2)[3] += 0.25;
  };
  const diagnosis found = diagnose(kernel, turned(), behind_memory());
  CHECK(found.explanations.empty());
  const call_conformance& call = found.calls.front();
  REQUIRE(call.first);
  CHECK(call.first->of == compared::output);
  CHECK(call.first->entry == 0);
  CHECK(call.first->head == 4);
  CHECK(call.first->query == 2);
  CHECK(call.first->dimension == 3);
  CHECK(std::abs(call.first->given - call.first->expected - 0.25) < 1e-12);
  CHECK(std::abs(call.largest - 0.25 / (1.0 + std::abs(call.first->expected))) < 1e-12);
  const auto seen = observed(kernel, turned(), behind_memory());
  const auto weights = seen.right.weights.begin() + ((4 * 3) + 2) * 8;  // of head 4, row 2
  CHECK(call.first->key == std::max_element(weights, weights + 8) - weights);
  CHECK_FALSE(found.conforms());
  CHECK(fmt::format("{}", found).find("no known confusion") != std::string::npos);
  CHECK(diagnose(hand_attention(fault::content_cubed), turned(), behind_memory()).explanations.empty());
}

TEST_CASE("an error that is constant along a row shows where the log-sum-exp is given") {
  const auto adds_to_row = [](auto writes) {
    return [writes](const auto& plan, const auto& in, const auto& out) {
      hand_attention{fault::none}(plan, in, out);
      for (double& x : out.log_sum_exp->row(0, 3)) x = writes(x);
    };
  };
  const diagnosis shifted = diagnose(adds_to_row([](double x) { return x + 0.5; }), turned(), behind_memory());
  REQUIRE(shifted.calls.front().first);
  CHECK(shifted.calls.front().first->of == compared::log_sum_exp);
  CHECK(shifted.calls.front().first->head == 3);
}

TEST_CASE("what a kernel leaves unwritten is not compared, but for its outputs") {
  const auto outputs_only = [](const auto& plan, const auto& in, const auto& out) {
    hand_attention{fault::none}(plan, in, {out.output});
  };
  CHECK(diagnose(outputs_only, turned(), behind_memory()).conforms());
  const auto nothing = [](const auto&, const auto&, const auto&) {};
  const diagnosis silent = diagnose(nothing, turned(), behind_memory());
  CHECK(silent.calls.front().result == conformity::differs);
  CHECK(silent.explanations.empty());
}

TEST_CASE("query rows that are padding are not compared") {
  const auto leaves_padding = [](const auto& plan, const auto& in, const auto& out) {
    hand_attention{fault::none}(plan, in, out);
    const position_call& call = plan.call();
    for (index_t b = 0; b < call.batch(); ++b) {
      for (index_t i = 0; i < call.queries(); ++i) {
        if (call.active(batch_index{b}, query_index{i})) continue;
        for (double& x : out.output.row(b, 1, i)) x = std::numeric_limits<double>::quiet_NaN();
      }
    }
  };
  CHECK(conformance(leaves_padding, {.calls = call_claims::padded}, as_case("rotary", turned())).conforms());
}

TEST_CASE("a refusal is no number and no conformance") {
  const auto refuses = [](const auto& plan, const auto& in, const auto& out) {
    if (plan.call().batch() > 1) throw std::runtime_error("one stream at a time");
    hand_attention{fault::none}(plan, in, out);
  };
  const diagnosis found =
      conformance(refuses, {.calls = call_claims::prefill | call_claims::decode | call_claims::cross},
                  as_case("rotary", turned()))
          .cases.front();
  REQUIRE(found.calls.size() == 3);
  CHECK(found.calls[0].result == conformity::passed);
  CHECK(found.calls[1].result == conformity::refused);
  CHECK(found.calls[1].message == "one stream at a time");
  CHECK(found.calls[2].result == conformity::not_taken);  // rotary does not subtract across frames
  CHECK(found.calls[2].message.find("frame") != std::string::npos);
  CHECK(found.explanations.empty());
  CHECK_FALSE(found.conforms());
  CHECK_FALSE(conformance(refuses, {.calls = call_claims::cross}, as_case("rotary", turned())).conforms());
  CHECK(conformance(refuses, {.calls = call_claims::prefill | call_claims::cross}, as_case("rotary", turned()))
            .conforms());
}

TEST_CASE("the tolerance follows the type of the plan unless it is given") {
  const auto kernel = as_function(eager{});
  const diagnosis of_float = diagnose<float>(kernel, turned(), behind_memory());
  CHECK(of_float.conforms());
  CHECK(of_float.tolerance == 4096.0 * static_cast<double>(std::numeric_limits<float>::epsilon()));
  CHECK(of_float.calls.front().largest > 0.0);
  const diagnosis exact =
      diagnose<float>(kernel, turned(), behind_memory(), {.tolerance = of_float.calls.front().largest / 2.0});
  CHECK(exact.calls.front().result == conformity::differs);
  CHECK(exact.explanations.empty());
  CHECK(diagnose(kernel, turned(), behind_memory(), {.tolerance = 0.0}).conforms());
}

TEST_CASE("other rows come from another seed and give the same verdict") {
  const diagnosis one = diagnose(hand_attention(fault::other_pairing), turned(), behind_memory(), {.seed = 7});
  const diagnosis two = diagnose(hand_attention(fault::other_pairing), turned(), behind_memory(), {.seed = 8});
  CHECK(one.calls.front().largest != two.calls.front().largest);
  CHECK(one.explanations.front().what == confusion::pairing_swapped);
  CHECK(two.explanations.front().what == confusion::pairing_swapped);
}

TEST_CASE("each confusion has texts of its own") {
  std::set<std::string_view> names;
  for (const confusion_text& one : all_confusions) {
    CHECK(names.insert(one.name).second);
    CHECK(name_of(one.what) == one.name);
    CHECK(meaning_of(one.what).back() == '.');
    CHECK(cure_of(one.what).back() == '.');
  }
}

TEST_CASE("a printed report has the calls, the diagnosis and the cure") {
  const auto report = conformance(hand_attention(fault::query_from_zero),
                                  {.calls = call_claims::prefill | call_claims::memory | call_claims::cross},
                                  as_case("rotary", turned()));
  const std::string text = fmt::format("{}", report);
  INFO(text);
  CHECK(text.rfind("rotary: does not conform, tolerance ", 0) == 0);
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  CHECK(has("\n  prefill             passed\n"));
  CHECK(has("\n  memory              differs by up to "));
  CHECK(has("\n  cross-attention     not taken\n    rotary, coordinate frames: "));
  CHECK(has("\n  diagnosis: queries restarted (rotary, from 0), in memory\n"));
  CHECK(has(meaning_of(confusion::query_restarted)));
  CHECK(has(fmt::format("Cure: {}\n", cure_of(confusion::query_restarted))));
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) CHECK(text.find('\n', at) - at <= 100);
  const auto right = conformance(hand_attention(fault::none), {.calls = call_claims::prefill}, as_case("a", turned()));
  CHECK(fmt::format("{}", right).rfind("a: conforms", 0) == 0);
}

}  // namespace posgeo::conformance_test
