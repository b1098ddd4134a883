// SPDX-License-Identifier: MIT
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/all_of.hpp>
#include <posgeo/visible/any_of.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>
#include <posgeo/visible/within_hops.hpp>

#include <functional>

#include "support/random_graphs.hpp"
#include "support/refusal.hpp"
#include "support/verdicts.hpp"

// Each visibility under every intervention, against what it declares.
namespace expected_visible_test {

using namespace posgeo;
using namespace posgeo::test;
using visible::window;

constexpr heads grouped{.query = 2, .key_value = 1, .dim = 3};

template <class... Policies>
int expect(const position_call& call, const Policies&... policies) {
  return expect_declared_verdicts(attention{grouped, policies...}, call, {.mirrored = 2});
}

TEST_CASE("rows that are hidden whatever their place keep to their declared verdicts", "[expected]") {
  const scale::none plain;
  CHECK(expect(dense_call(), plain, visible::everything{}) == 15);
  CHECK(expect(uneven_call(), plain, visible::active{}) == 15);
  CHECK(expect(uneven_call(), plain, visible::segments{}) == 15);
}

TEST_CASE("masks by order and distance keep to their declared verdicts", "[expected]") {
  CHECK(expect(uneven_call(), scale::none{}, visible::active{}, visible::causal{}) == 15);
  for (const window& reach :
       {window{.behind = 2, .ahead = 0}, window{.behind = 1, .ahead = 1}, window{.behind = 2, .ahead = 1},
        window{.behind = window::unbounded, .ahead = 0}, window{.behind = 0, .ahead = window::unbounded},
        window{.behind = window::unbounded, .ahead = window::unbounded}}) {
    INFO("behind " << reach.behind << ", ahead " << reach.ahead);
    CHECK(expect(uneven_call(), scale::none{}, visible::segments{}, reach) == 15);
  }
}

TEST_CASE("joined masks keep to their declared verdicts", "[expected]") {
  CHECK(expect(uneven_call(), scale::none{}, visible::all_of{visible::segments{}, visible::causal{}}) == 15);
  // Nearby keys and those of the past: what both hide.
  const window near{.behind = 1, .ahead = 1};
  CHECK(expect(dense_call(), scale::none{}, visible::any_of{near, visible::causal{}}) == 15);
  CHECK(expect(uneven_call(), scale::none{}, visible::any_of{visible::segments{}, visible::segments{}}) == 15);
}

TEST_CASE("a mask by hops keeps to its declared verdicts", "[expected]") {
  dice roll(81);
  const std::vector<coordinate::graph_edge> edges{{0, 1}, {0, 2}, {0, 3}, {3, 5}, {4, 5}, {4, 6}};
  const coordinate::graph_rows graphs({coordinate::graph::undirected(7, edges)}, coordinate::graph_token::none());
  const auto queries = random_order(roll, 7);
  const auto keys = random_order(roll, 7);
  const auto nodes = call::explicit_positions(
      {.query = {.positions = std::span(queries).first(3), .rows = 3}, .key = {.positions = keys, .rows = 7}});
  const visible::within_hops near(graphs, {.most = 1, .unreachable = visible::unreachable_pairs::hidden});
  CHECK(expect(nodes, scale::none{}, visible::segments{}, near) == 14);  // one entry is not packed
}

TEST_CASE("a function that says what it reads keeps to its declared verdicts", "[expected]") {
  using see = std::function<bool(const position_call&, batch_index, query_index, key_index)>;
  const auto with = [](const see& function, reads what) {
    return visible::custom<see>(function, hides::nothing, what);
  };
  const auto by_place = [](const position_call& call, batch_index b, query_index i, key_index j) {
    const index_t query = call.at(b, i).value();
    const index_t key = call.at(b, j).value();
    return (query * query + 3 * key) % 7 < 4;
  };
  CHECK(expect(uneven_call(), scale::none{}, visible::segments{}, with(by_place, reads::absolute)) == 15);
  const auto odd_row = [](const position_call&, batch_index, query_index i, key_index j) {
    return (i.value() + j.value()) % 2 != 0;
  };
  // What is bound to storage rows is refused by no call.
  const attention by_row{grouped, scale::none{}, visible::segments{}, with(odd_row, reads::row)};
  const auto edited = audit::permute_rows(uneven_call());
  CHECK(audit::expected(edited, uneven_call(), by_row) == audit::verdict::changes);
  const attention_inputs<double> content(grouped, uneven_call(), 3, 82);
  CHECK(found_by_eager(by_row, uneven_call(), edited, content) == audit::verdict::changes);

  const visible::custom<see> silent(by_place);
  CHECK(silent.positional_reads() == read_by_function);
  CHECK(includes(read_by_function, reads::offset | reads::absolute | reads::row | reads::extent));
  CHECK_FALSE(includes_any(read_by_function, reads::name));
  CHECK(silent.compile<double>(position_call(audit::swap_frames(dense_call()).calls.front().call), grouped)
            .keys(batch_index{0}, query_index{0})
            .end == key_index{7});
  const auto across = refusal([&] {
    return with(by_place, reads::absolute)
        .compile<double>(position_call(audit::swap_frames(dense_call()).calls.front().call), grouped);
  });
  CHECK(across.code() == errc::frame_mismatch);
}

TEST_CASE("scales, caps and sinks read nothing of a call", "[expected]") {
  const scale::softcap cap({.cap = 2.0, .place = scale::softcap_place::after_bias});
  CHECK(expect(dense_call(), scale::constant(0.7), cap, scale::sink({0.3, -0.2}), visible::everything{}) == 15);
  CHECK(scale::none::positional_reads() == reads::nothing);
  CHECK(scale::inverse_sqrt_head_dim::positional_reads() == reads::nothing);
  CHECK(scale::inverse_sqrt_terms::positional_reads() == reads::nothing);
}

}  // namespace expected_visible_test
