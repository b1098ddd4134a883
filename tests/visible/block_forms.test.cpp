// SPDX-License-Identifier: MIT
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/same_length.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>
#include <posgeo/visible/within_hops.hpp>

#include "support/catch.hpp"
#include "support/visibility.hpp"

namespace visible_block_forms_test {

using namespace posgeo;
using namespace posgeo::test;
using visible::active;
using visible::all_of;
using visible::any_of;
using visible::causal;
using visible::everything;
using visible::segments;
using visible::window;

constexpr index_t unbounded = visibility_rule::unbounded;

struct even_keys {
  bool operator()(const position_call&, batch_index, query_index, key_index j) const { return j.value() % 2 == 0; }
};
using custom_rule = visible::custom<even_keys>;

template <class Policy>
constexpr bool ruled = ruled_visibility<compiled_t<Policy, float>>;
static_assert(ruled<everything> && ruled<active> && ruled<causal> && ruled<window> && ruled<segments>);
static_assert(ruled<all_of<causal, segments>> && ruled<all_of<all_of<window>, active>>);
static_assert(!ruled<custom_rule> && !ruled<any_of<causal>> && !ruled<visible::within_hops>);
static_assert(!ruled<all_of<causal, custom_rule>> && !ruled<all_of<causal, all_of<any_of<active>>>>);

/// What the rule says of a pair, from what the pair is.
bool shows(const visibility_rule& rule, const seen_pair& pair) {
  __extension__ using wide = __int128;
  const wide offset = static_cast<wide>(pair.key_position) - static_cast<wide>(pair.query_position);
  if (rule.behind != unbounded && offset < -static_cast<wide>(rule.behind)) return false;
  if (rule.ahead != unbounded && offset > static_cast<wide>(rule.ahead)) return false;
  if (includes(rule.rows, hides::padding) && !pair.key_active) return false;
  return !includes(rule.rows, hides::other_segments) || pair.key_sequence == pair.query_sequence;
}

/// The rule shows exactly the pairs that the predicate shows; some of both, unless told otherwise.
template <class Policy>
void check_rule(const Policy& policy, const std::vector<position_call>& calls, bool hides_some = true) {
  index_t shown = 0;
  index_t hidden = 0;
  for (const position_call& call : calls) {
    const auto term = policy.template compile<float>(call, heads{});
    const visibility_rule rule = term.rule();
    std::vector<std::pair<index_t, index_t>> wrong;  // positions of query and key
    REQUIRE((rule.rows | hides::padding | hides::other_segments) == (hides::padding | hides::other_segments));
    for_each_pair(call, [&](batch_index b, query_index i, key_index j, const seen_pair& pair) {
      const bool seen = term(b, i, j);
      if (shows(rule, pair) != seen) wrong.emplace_back(pair.query_position, pair.key_position);
      ++(seen ? shown : hidden);
    });
    REQUIRE(wrong == decltype(wrong){});
  }
  CHECK(shown > 50);
  CHECK((hidden > 50) == hides_some);
}

TEST_CASE("a rule shows what its predicate shows", "[block_forms]") {
  const auto calls = random_calls(901);
  check_rule(everything{}, calls, false);
  check_rule(active{}, calls);
  check_rule(segments{}, calls);
  check_rule(causal{}, calls);
  for (const index_t behind : {index_t{0}, index_t{1}, index_t{4}, position_limit, unbounded - 1, unbounded}) {
    for (const index_t ahead : {index_t{0}, index_t{2}, position_limit + 1, unbounded}) {
      CAPTURE(behind, ahead);
      const bool hides_some = behind < position_limit || ahead < position_limit;
      const window reach{.behind = behind, .ahead = ahead};
      if (hides_some) check_rule(reach, calls);
    }
  }
  check_rule(window::counting_own_key(3), calls);
  check_rule(visible::same_length(4, visible::same_length_rule::tensorflow_release), calls);
}

TEST_CASE("a window without ends has the rule of everything", "[block_forms]") {
  const auto call = random_calls(902).front();
  const window reach{.behind = unbounded, .ahead = unbounded};
  CHECK(reach.compile<float>(call, heads{}).rule() == everything{}.compile<float>(call, heads{}).rule());
  CHECK(everything{}.compile<float>(call, heads{}).rule() == visibility_rule{});
}

TEST_CASE("rules work across frames where no position is subtracted", "[block_forms]") {
  check_rule(everything{}, random_cross_calls(903), false);
  check_rule(active{}, random_cross_calls(904));
  check_rule(segments{}, random_cross_calls(905));
}

TEST_CASE("the rule of a conjunction is what all parts show", "[block_forms]") {
  const auto calls = random_calls(906);
  check_rule(all_of{causal{}, active{}}, calls);
  check_rule(all_of{window{.behind = 5, .ahead = 1}, all_of{window{.behind = 2, .ahead = 7}, segments{}}}, calls);
  check_rule(all_of{everything{}, causal{}, window{.behind = 3, .ahead = unbounded}}, calls);

  const auto term = all_of{window{.behind = 5, .ahead = 1}, active{}, window{.behind = 2, .ahead = 7}}.compile<float>(
      calls.front(), heads{});
  CHECK(term.rule() == visibility_rule{.behind = 2, .ahead = 1, .rows = hides::padding});
}

}  // namespace visible_block_forms_test
