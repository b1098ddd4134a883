// SPDX-License-Identifier: MIT
#include <posgeo/core/named.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/same_length.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/within_hops.hpp>

#include "support/described.hpp"
#include "support/refusal.hpp"
#include "support/visibility.hpp"

namespace visible_describe_test {

using namespace posgeo;
using namespace posgeo::test;
using visible::window;

/// Sees the keys at even distances.
constexpr auto even = [](const position_call& call, batch_index b, query_index i, key_index j) {
  return call.active(b, j) && call.offset(b, i, j).value() % 2 == 0;
};
using custom = visible::custom<decltype(even)>;
static_assert(!described_policy<custom> && nameable_policy<custom> && described_policy<named<custom>>);
static_assert(visibility<named<custom>, float> && visibility<named<custom>, double>);
static_assert(!described_policy<visible::all_of<visible::causal, custom>> &&
              !described_policy<visible::any_of<custom, visible::causal>> &&
              described_policy<visible::all_of<visible::causal, named<custom>>>);

TEST_CASE("every visibility has a description of its own", "[describe]") {
  const std::vector<description> all{visible::active{}.describe(), visible::causal{}.describe(),
                                     visible::everything{}.describe(), visible::segments{}.describe(),
                                     window{.behind = 3, .ahead = 0}.describe()};
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < all.size(); ++b) CHECK((all[a] == all[b]) == (a == b));
  }
}

TEST_CASE("a window is described by both of its ends", "[describe]") {
  const auto made = [](index_t behind, index_t ahead) { return window{.behind = behind, .ahead = ahead}.describe(); };
  check_described(made(3, 2), made(3, 2),
                  {{{"behind"}, made(2, 2)},
                   {{"ahead"}, made(3, 0)},
                   {{"behind"}, made(window::unbounded, 2)},
                   {{"behind"}, made(window::unbounded - 1, 2)},
                   {{"ahead"}, made(3, window::unbounded)},
                   {{"behind", "ahead"}, made(2, 3)}});
  CHECK(visible::same_length(4, visible::same_length_rule::pytorch_release).describe() == made(3, 0));
  CHECK(visible::same_length(4, visible::same_length_rule::tensorflow_release).describe() == made(4, 0));
}

TEST_CASE("compound visibilities are described by their parts and how they are joined", "[describe]") {
  const window near{.behind = 2, .ahead = 2};
  const window far{.behind = 5, .ahead = 2};
  const auto both = visible::all_of(visible::active{}, near).describe();
  check_described(both, visible::all_of(visible::active{}, near).describe(),
                  {{{"parts.1.behind"}, visible::all_of(visible::active{}, far).describe()},
                   {{"parts"}, visible::all_of(visible::active{}, near, far).describe()},
                   {{"parts"}, visible::all_of(near).describe()}},
                  {"parts.1.ahead"});
  CHECK_FALSE(both == visible::any_of(visible::active{}, near).describe());
  CHECK_FALSE(both == visible::all_of(visible::segments{}, near).describe());  // only a part's mechanism differs
  const auto either = visible::any_of(visible::causal{}, near).describe();
  check_described(either, visible::any_of(visible::causal{}, near).describe(),
                  {{{"parts.1.behind"}, visible::any_of(visible::causal{}, far).describe()},
                   {{"parts"}, visible::any_of(visible::causal{}, near, far).describe()}},
                  {"parts.1.ahead"});
}

TEST_CASE("hops are described by their number, their rule and their graphs", "[describe]") {
  using coordinate::graph;
  using coordinate::graph_edge;
  using coordinate::graph_rows;
  using coordinate::graph_token;
  using visible::unreachable_pairs;
  using visible::within_hops;
  const std::vector<graph_edge> edges{{1, 0}, {2, 0}};
  const auto rows = [&](index_t nodes, const graph_token& token) {
    return graph_rows({graph::directed(nodes, edges)}, token);
  };
  const auto made = [](const graph_rows& of, index_t most, unreachable_pairs unreachable) {
    return within_hops(of, {.most = most, .unreachable = unreachable}).describe();
  };
  const auto three = rows(3, graph_token::none());
  constexpr auto hidden = unreachable_pairs::hidden;
  check_described(made(three, 2, hidden), made(rows(3, graph_token::none()), 2, hidden),
                  {{{"most"}, made(three, 3, hidden)},
                   {{"unreachable"}, made(three, 2, unreachable_pairs::seen)},
                   {{"graphs.token"}, made(rows(3, graph_token::at(-1)), 2, hidden)},
                   {{"graphs.graphs.0.nodes"}, made(rows(4, graph_token::none()), 2, hidden)}},
                  {"graphs.graphs.0.from", "graphs.graphs.0.to", "graphs.graphs.0.attributes",
                   "graphs.graphs.0.attributes_of_an_edge"});
}

TEST_CASE("a custom rule is described by its name and its promise", "[describe]") {
  const auto made = [](std::string_view identity, hides promise) {
    return named(identity, visible::custom(even, promise)).describe();
  };
  check_described(made("even distances", hides::nothing), made("even distances", hides::nothing),
                  {{{"identity"}, made("odd distances", hides::nothing)},
                   {{"promise"}, made("even distances", hides::padding)},
                   {{"promise"}, made("even distances", hides::other_segments)},
                   {{"promise"}, made("even distances", hides::future)},
                   {{"promise"}, made("even distances", hides::distant)},
                   {{"promise"}, made("even distances", hides::padding | hides::distant)}});
  CHECK(refusal([&] { return made("", hides::nothing); }).code() == errc::description);
}

TEST_CASE("what a visibility hides is listed by name", "[describe]") {
  CHECK(names_of(hides::nothing) == "nothing");
  CHECK(names_of(hides::distant | hides::padding) == "padding | distant");
  CHECK(names_of(hides::future | hides::other_segments) == "other_segments | future");
}

TEST_CASE("a name changes nothing else of a visibility", "[describe]") {
  const named rule("even distances", visible::custom(even, hides::padding));
  CHECK(rule.identity() == "even distances");
  CHECK(rule.hidden() == hides::padding);
  check_visibility(rule, random_calls(4461), [](const seen_pair& pair) {
    return pair.key_active && (pair.key_position - pair.query_position) % 2 == 0;
  });
}

}  // namespace visible_describe_test
