// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/coordinate/window_index.hpp>

#include "support/calls.hpp"
#include "support/random_graphs.hpp"
#include "support/verdicts.hpp"

// Each score bias under every intervention, against what it declares.
namespace expected_bias_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr heads grouped{.query = 4, .key_value = 2, .dim = 3};
const bias::alibi_slopes slopes = bias::alibi_slopes::custom({0.31, 0.17, 0.45, 0.09});

bias::t5<double> buckets(coordinate::bucket_direction direction) {
  return {random_table(8, 4, 41),
          coordinate::t5_bucket({.num_buckets = 8, .max_distance = 20, .direction = direction})};
}

TEST_CASE("biases by offset keep to their declared verdicts", "[expected]") {
  expect_declared_verdicts_of(bias::alibi(slopes, bias::alibi_direction::symmetric), grouped);
  expect_declared_verdicts_of(bias::alibi(slopes, bias::alibi_direction::causal), grouped);
  expect_declared_verdicts_of(buckets(coordinate::bucket_direction::bidirectional), grouped);
  expect_declared_verdicts_of(buckets(coordinate::bucket_direction::causal), grouped);
}

TEST_CASE("biases by the place of a row keep to their declared verdicts", "[expected]") {
  expect_declared_verdicts_of(bias::alibi_key_position(slopes, -3), grouped);
  const coordinate::t5_bucket bucket(
      {.num_buckets = 8, .max_distance = 20, .direction = coordinate::bucket_direction::bidirectional});
  expect_declared_verdicts_of(bias::tupe_relative(random_table(9, 4, 42), bucket, {.cls = position{8}}), grouped);
}

TEST_CASE("a learned bias keeps to its declared verdicts and its range", "[expected]") {
  const auto by_class = [](coordinate::beyond_ends beyond, index_t behind, index_t ahead) {
    return bias::learned_relative(
        random_table(behind + ahead + 1, 4, 43),
        coordinate::clipped(
            {.behind = behind, .ahead = ahead, .sign = offset_sign::query_minus_key, .beyond = beyond}));
  };
  using enum coordinate::beyond_ends;
  expect_declared_verdicts_of(by_class(clipped, 3, 2), grouped);
  expect_declared_verdicts_of(by_class(clipped, 3, 0), grouped);
  expect_declared_verdicts_of(by_class(clipped, 0, 0), grouped);    // one class tells nothing apart
  expect_declared_verdicts_of(by_class(refused, 10, 10), grouped);  // the gap fits, the shifted query does not
  expect_declared_verdicts_of(by_class(refused, 40, 0), grouped);

  const coordinate::grid window({.rows = 4, .columns = 5, .order = coordinate::traversal::serpentine, .class_rows = 1});
  const bias::learned_relative swin(random_table(7 * 9, 4, 44), coordinate::window_index(window));
  const std::vector<index_t> queries{3, 8, 1};
  const std::vector<index_t> keys{1, 3, 8, 6, 10, 2, 4};
  const auto cells = call::explicit_positions({.query = {.positions = queries, .rows = 3, .frame = window.frame()},
                                               .key = {.positions = keys, .rows = 7, .frame = window.frame()}});
  const attention within{grouped, scale::inverse_sqrt_terms{}, hides_nothing, swin};
  CHECK(expect_declared_verdicts(within, cells) == 14);                // one entry is not packed
  CHECK(expect_declared_verdicts(within, cells, {.shift = 9}) == 14);  // within the window: other rows, other offsets
}

TEST_CASE("numbers for pairs of storage rows keep to their declared verdicts", "[expected]") {
  const auto of_rows = [](const position_call& call, index_t queries) {
    return random_tensor<double, 4>({1, 4, queries, call.keys()}, 45);
  };
  const auto expect = [&](const position_call& call, const chosen_mask& mask, index_t queries) {
    const tensor<double, 4> numbers = of_rows(call, queries);
    const attention model{grouped, scale::inverse_sqrt_terms{}, mask, bias::pair(numbers.view())};
    CHECK(expect_declared_verdicts(model, call) == 15);
  };
  expect(uneven_call(), hides_all, 3);
  expect(uneven_call(), hides_rows, 1);
  expect(dense_call(), hides_nothing, 4);

  const tensor<double, 4> one = random_tensor<double, 4>({1, 4, 1, 1}, 46);
  expect_declared_verdicts_of(bias::pair(one.view()), grouped);
}

TEST_CASE("numbers for nodes of a graph keep to their declared verdicts", "[expected]") {
  dice roll(47);
  const coordinate::graph_rows graphs({random_graph(roll, 7, 0.3), random_graph(roll, 5, 0.5)},
                                      coordinate::graph_token::none());
  const std::vector<index_t> queries{4, 0, 6, 3, 1, 0};
  const std::vector<index_t> keys{0, 5, 3, 1, 4, 6, 2, 4, 0, 3, 2, 1, 0, 0};
  const std::vector<index_t> of_queries{0, 0, 0, 1, 1, 1};
  const std::vector<index_t> of_keys{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<std::uint8_t> tokens{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0};
  const auto nodes =
      call::explicit_positions({.entries = 2,
                                .query = {.positions = queries, .sequences = of_queries, .rows = 3},
                                .key = {.positions = keys, .sequences = of_keys, .active = tokens, .rows = 7}});
  const auto expect = [&](const auto& policy) {
    const auto with = [&](const chosen_mask& mask) {
      return attention{grouped, scale::inverse_sqrt_terms{}, mask, policy};
    };
    CHECK(expect_declared_verdicts(with(hides_all), nodes) == 15);
    CHECK(expect_declared_verdicts(with(hides_rows), nodes) == 15);
  };
  expect(bias::spatial(random_table(12, 4, 48), coordinate::distance_id(11), graphs));
  expect(bias::edge_path(random_table(16, 3, 49), random_table(3 * 3, 4, 50), graphs,
                         {.rows = {.first = 0, .stride = 4}, .hops = 3, .longer = bias::longer_paths::cut}));
}

}  // namespace expected_bias_test
