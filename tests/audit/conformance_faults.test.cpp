// SPDX-License-Identifier: MIT
#include <posgeo/audit/conformance.hpp>
#include <posgeo/audit/function.hpp>
#include <posgeo/audit/print_conformance.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>

#include <functional>
#include <map>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/hand_attention.hpp"
#include "support/observed_call.hpp"

namespace posgeo::conformance_faults_test {

using namespace posgeo::audit;
using test::fault;
using test::hand_attention;
using test::observed;

/// Query heads in no power of two, three for each key head.
constexpr heads layout{.query = 6, .key_value = 2, .dim = 6};

/// A case without its type.
struct any_case {
  std::function<diagnosis(fault, call_claims)> run;
  /// The largest difference of the attention written out from what eager gives.
  std::function<double(const named_call&)> written_out;
};

template <class Case>
any_case runner(Case of) {
  const auto run = [of](fault planted, call_claims calls) {
    return conformance(hand_attention(planted), {.calls = calls, .settings = {.value_dim = 5}}, of).cases.front();
  };
  const auto written_out = [of](const named_call& one) {
    const auto seen = observed(as_function(eager{}), of.model, one.call);
    if (seen.result != conformity::passed) return 0.0;
    const attention_source source = source_of(of.model);
    const attention_numbers ours = evaluate(confused_attention(source, one.call, seen.rows).right());
    return std::max({test::largest_difference(ours.output, seen.right.output),
                     test::largest_difference(ours.log_sum_exp, seen.right.log_sum_exp),
                     test::largest_difference(ours.weights, seen.right.weights)});
  };
  return {run, written_out};
}

/// Every case in which the future is hidden, and those that also read it, by name.
const std::map<std::string, any_case>& every_case() {
  constexpr visible::causal back{};
  constexpr visible::segments own{};
  static const std::map<std::string, any_case> all{
      {"none", runner(cases::no_positions(layout, back, own))},
      {"sink", runner(cases::sink(layout, back, own))},
      {"alibi", runner(cases::alibi(layout, back, own))},
      {"softcap before", runner(cases::softcap(layout, scale::softcap_place::before_bias, back, own))},
      {"softcap after", runner(cases::softcap(layout, scale::softcap_place::after_bias, back, own))},
      {"t5", runner(cases::t5(layout, back, own))},
      {"t5 both ways", runner(cases::t5(layout, own))},
      {"learned relative", runner(cases::learned_relative(layout, back, own))},
      {"shaw", runner(cases::shaw(layout, back, own))},
      {"relative key query", runner(cases::relative_key_query(layout, back, own))},
      {"transformer-xl", runner(cases::transformer_xl(layout, back, own))},
      {"deberta", runner(cases::deberta(layout, content::p2c_index::released_code, back, own))},
      {"deberta paper", runner(cases::deberta(layout, content::p2c_index::paper, back, own))},
      {"tupe", runner(cases::tupe(layout, back, own))},
      {"rotary adjacent", runner(cases::rotary(layout, transform::pairing::adjacent, back, own))},
      {"rotary halves", runner(cases::rotary(layout, transform::pairing::halves, back, own))},
      {"open", runner(cases::no_positions(layout, own))}};
  return all;
}

TEST_CASE("no correct kernel is accused") {
  for (const auto& [name, one] : every_case()) {
    const diagnosis found = one.run(fault::none, all_calls);
    INFO(fmt::format("{}", found));
    CHECK(found.conforms());
    CHECK(found.explanations.empty());
    std::size_t passed = 0;
    for (const call_conformance& call : found.calls) passed += call.result == conformity::passed ? 1 : 0;
    CHECK(passed == (name == "open" ? 8U : 7U));  // only that one takes cross-attention
  }
}

TEST_CASE("an attention written out is the attention") {
  for (const auto& [name, one] : every_case()) {
    for (const named_call& call : calls_of(all_calls)) {
      INFO(name << ", " << call.name);
      CHECK(one.written_out(call) < 1e-13);
    }
  }
}

struct planted {
  fault fault_of_kernel;
  std::string in;
  confusion named;
  call_claims calls =
      call_claims::memory | call_claims::chunk | call_claims::padded | call_claims::packed | call_claims::irregular;
};

TEST_CASE("a planted fault is named") {
  const std::vector<planted> faults{{fault::negated, "alibi", confusion::flipped_sign},
                                    {fault::negated, "rotary adjacent", confusion::flipped_sign},
                                    {fault::negated, "rotary halves", confusion::flipped_sign},
                                    {fault::query_from_zero, "alibi", confusion::query_restarted},
                                    {fault::query_from_zero, "rotary halves", confusion::query_restarted},
                                    {fault::query_from_zero, "t5", confusion::query_restarted},
                                    {fault::query_from_zero, "shaw", confusion::query_restarted},
                                    {fault::query_from_memory, "rotary adjacent", confusion::query_restarted,
                                     call_claims::memory | call_claims::decode | call_claims::chunk},
                                    {fault::query_one_on, "deberta", confusion::query_off_by_one},
                                    {fault::query_one_on, "relative key query", confusion::query_off_by_one},
                                    {fault::memory_one_on, "transformer-xl", confusion::memory_off_by_one},
                                    {fault::memory_one_on, "rotary halves", confusion::memory_off_by_one},
                                    {fault::rows_as_positions, "tupe", confusion::rows_for_positions},
                                    {fault::rows_as_positions, "learned relative", confusion::rows_for_positions},
                                    {fault::table_by_i_minus_j, "shaw", confusion::table_order},
                                    {fault::table_by_i_minus_j, "learned relative", confusion::table_order},
                                    {fault::table_by_i_minus_j, "t5 both ways", confusion::table_order},
                                    {fault::table_by_i_minus_j, "relative key query", confusion::table_order},
                                    {fault::mask_from_top_left, "alibi", confusion::corner_alignment},
                                    {fault::mask_from_top_left, "none", confusion::corner_alignment},
                                    {fault::mask_strict, "rotary halves", confusion::causal_off_by_one},
                                    {fault::bias_scaled, "alibi", confusion::scale_on_bias},
                                    {fault::bias_scaled, "learned relative", confusion::scale_on_bias},
                                    {fault::scaled_like_others, "t5", confusion::scale_added},
                                    {fault::other_buckets, "t5", confusion::bucket_mode},
                                    {fault::other_buckets, "t5 both ways", confusion::bucket_mode},
                                    {fault::sorted_slopes, "alibi", confusion::slopes_sorted},
                                    {fault::geometric_slopes, "alibi", confusion::slope_generator},
                                    {fault::local_slopes, "alibi", confusion::local_head_ids},
                                    {fault::local_heads, "alibi", confusion::local_head_ids},
                                    {fault::local_heads, "t5", confusion::local_head_ids},
                                    {fault::local_heads, "deberta", confusion::local_head_ids},
                                    {fault::other_pairing, "rotary adjacent", confusion::pairing_swapped},
                                    {fault::other_pairing, "rotary halves", confusion::pairing_swapped},
                                    {fault::angle_in_bfloat16, "rotary adjacent", confusion::angle_in_bfloat16},
                                    {fault::keys_turned_twice, "rotary halves", confusion::keys_turned_twice},
                                    {fault::keys_not_turned, "rotary halves", confusion::keys_not_turned},
                                    {fault::mask_adds_finite, "none", confusion::finite_mask},
                                    {fault::mask_writes_finite, "alibi", confusion::finite_mask},
                                    {fault::value_term_missing, "shaw", confusion::value_term_dropped},
                                    {fault::p2c_opposite, "deberta", confusion::p2c_direction},
                                    {fault::p2c_opposite, "deberta paper", confusion::p2c_direction},
                                    {fault::p2c_missing, "deberta", confusion::p2c_dropped},
                                    {fault::c2p_missing, "deberta", confusion::c2p_dropped},
                                    {fault::content_unscaled, "shaw", confusion::content_not_scaled},
                                    {fault::content_unscaled, "transformer-xl", confusion::content_not_scaled},
                                    {fault::terms_uncounted, "tupe", confusion::terms_miscounted},
                                    {fault::unscaled, "none", confusion::scale_dropped},
                                    {fault::cap_moved, "softcap before", confusion::softcap_misplaced},
                                    {fault::cap_moved, "softcap after", confusion::softcap_misplaced},
                                    {fault::cap_missing, "softcap after", confusion::softcap_dropped},
                                    {fault::sink_missing, "sink", confusion::sink_dropped},
                                    {fault::padding_seen, "none", confusion::padding_visible},
                                    {fault::segments_mixed, "none", confusion::segments_ignored},
                                    {fault::future_seen, "rotary halves", confusion::future_visible},
                                    {fault::everything_seen, "none", confusion::mask_ignored},
                                    {fault::key_heads_modulo, "none", confusion::key_heads_interleaved},
                                    {fault::key_heads_modulo, "deberta", confusion::key_heads_interleaved},
                                    {fault::bias_by_key_head, "alibi", confusion::key_head_ids},
                                    {fault::bias_of_head_0, "t5", confusion::one_head_for_all},
                                    {fault::term_twice, "alibi", confusion::term_twice},
                                    {fault::term_missing, "tupe", confusion::term_dropped},
                                    {fault::base_two, "none", confusion::base_two_log_sum_exp},
                                    {fault::empty_rows_unwritten, "alibi", confusion::empty_row}};
  for (const planted& one : faults) {
    const diagnosis found = every_case().at(one.in).run(one.fault_of_kernel, one.calls);
    INFO(fmt::format("{}\n{}", name_of(one.named), found));
    REQUIRE(!found.explanations.empty());
    CHECK(found.explanations.front().what == one.named);
    CHECK(found.explanations.front().in == explained::every_call);
    CHECK_FALSE(found.conforms());
    // It explains every call that differs, and nobody else's name is among the explanations of all calls.
    std::size_t differing = 0;
    for (const call_conformance& call : found.calls) differing += call.result == conformity::differs ? 1 : 0;
    CHECK(found.explanations.front().calls.size() == differing);
    for (const explanation& other : found.explanations) CHECK(other.what == one.named);
  }
}

}  // namespace posgeo::conformance_faults_test
