// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/coordinate/clipped.hpp>
#include <posgeo/coordinate/window_index.hpp>
#include <posgeo/core/named.hpp>

#include "support/described.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace bias_describe_test {

using namespace posgeo;
using namespace posgeo::test;
using coordinate::bucket_direction;
using coordinate::clipped;
using coordinate::graph;
using coordinate::graph_edge;
using coordinate::graph_rows;
using coordinate::graph_token;
using coordinate::t5_bucket;

/// Classes that say nothing about themselves.
struct undescribed_classes {
  [[nodiscard]] index_t classes() const noexcept { return 1; }
  void check(const position_call&, std::string_view, violations&) const {}
  [[nodiscard]] index_t operator()(relative_offset) const noexcept { return 0; }
};
static_assert(described_policy<bias::learned_relative<float, clipped>> &&
              !described_policy<bias::learned_relative<float, undescribed_classes>>);
static_assert(!described_policy<bias::pair<float>> && nameable_policy<bias::pair<float>> &&
              described_policy<named<bias::pair<float>>>);
static_assert(score_bias<named<bias::pair<float>>, double>);

t5_bucket buckets(index_t count, index_t distance) {
  return t5_bucket({.num_buckets = count, .max_distance = distance, .direction = bucket_direction::bidirectional});
}
table<double> changed_in(const table<double>& from, std::size_t at) {
  std::vector<double> values(from.values().begin(), from.values().end());
  values[at] += 0.5;
  return {values, from.rows(), from.columns()};
}

TEST_CASE("alibi is described by its slopes, their order and its direction", "[describe]") {
  using bias::alibi;
  using bias::alibi_direction;
  using bias::alibi_slopes;
  const auto made = [](std::vector<double> slopes, alibi_direction direction) {
    return alibi(alibi_slopes::custom(std::move(slopes)), direction).describe();
  };
  constexpr auto causal = alibi_direction::causal;
  check_described(made({0.5, 0.125, 0.25}, causal), made({0.5, 0.125, 0.25}, causal),
                  {{{"slopes.values"}, made({0.5, 0.25, 0.125}, causal)},
                   {{"slopes.values"}, made({0.5, 0.125}, causal)},
                   {{"slopes.generator", "slopes.values"}, alibi(alibi_slopes::reference(3), causal).describe()},
                   {{"slopes.generator", "slopes.values"}, alibi(alibi_slopes::geometric(3), causal).describe()},
                   {{"direction"}, made({0.5, 0.125, 0.25}, alibi_direction::symmetric)}});
}

TEST_CASE("alibi by key position is described by its slopes and its origin", "[describe]") {
  using bias::alibi_key_position;
  using bias::alibi_slopes;
  const auto made = [](const alibi_slopes& slopes, index_t shift) {
    return alibi_key_position(slopes, shift).describe();
  };
  const auto six = alibi_slopes::reference(6);
  check_described(made(six, -9), made(alibi_slopes::reference(6), -9),
                  {{{"origin_shift"}, made(six, 9)},
                   {{"slopes.values"}, made(alibi_slopes::reference(5), -9)},
                   {{"slopes.values"}, made(six.slice(1, 3), -9)},
                   {{"slopes.generator", "slopes.values"}, made(alibi_slopes::geometric(6), -9)}});
  CHECK_FALSE(bias::alibi(six, bias::alibi_direction::causal).describe() == made(six, 0));
}

TEST_CASE("t5 is described by its table and its buckets", "[describe]") {
  const auto weights = random_table(8, 3, 4421);
  const auto made = [](const table<double>& of, const t5_bucket& bucket) {
    return bias::t5<double>(of, bucket).describe();
  };
  const std::vector<float> narrow(weights.values().begin(), weights.values().end());
  check_described(
      made(weights, buckets(8, 20)), made(random_table(8, 3, 4421), buckets(8, 20)),
      {{{"table"}, made(changed_in(weights, 0), buckets(8, 20))},
       {{"table"}, made(changed_in(weights, 23), buckets(8, 20))},
       {{"table"}, made(random_table(8, 2, 4421), buckets(8, 20))},
       {{"table"}, bias::t5<float>(table<float>(narrow, 8, 3), buckets(8, 20)).describe()},
       {{"rule.max_distance"}, made(weights, buckets(8, 21))},
       {{"rule.direction"},
        made(weights, t5_bucket({.num_buckets = 8, .max_distance = 20, .direction = bucket_direction::causal}))},
       {{"rule.odd"},
        made(weights, t5_bucket({.num_buckets = 8,
                                 .max_distance = 20,
                                 .direction = bucket_direction::bidirectional,
                                 .odd = coordinate::odd_buckets::last_unused}))},
       {{"table", "rule.num_buckets"}, made(random_table(10, 3, 4421), buckets(10, 20))}},
      {"rule.sign"});
}

TEST_CASE("tupe's relative bias is described by its table, its buckets and where CLS stands", "[describe]") {
  const auto weights = random_table(9, 2, 4422);
  const auto made = [](const table<double>& of, const t5_bucket& bucket, index_t cls) {
    return bias::tupe_relative<double>(of, bucket, {.cls = position{cls}}).describe();
  };
  check_described(made(weights, buckets(8, 20), 0), made(random_table(9, 2, 4422), buckets(8, 20), 0),
                  {{{"table"}, made(changed_in(weights, 17), buckets(8, 20), 0)},
                   {{"rule.max_distance"}, made(weights, buckets(8, 30), 0)},
                   {{"table", "rule.num_buckets"}, made(random_table(11, 2, 4422), buckets(10, 20), 0)},
                   {{"cls"}, made(weights, buckets(8, 20), 1)}},
                  {"rule.direction", "rule.odd", "rule.sign"});
}

TEST_CASE("a learned relative bias is described by its table and its classes", "[describe]") {
  const auto weights = random_table(9, 2, 4423);
  const auto made = [](const table<double>& of, const auto& classes) {
    return bias::learned_relative(of, classes).describe();
  };
  const auto clip = [](index_t behind, index_t ahead, offset_sign sign, coordinate::beyond_ends beyond) {
    return clipped({.behind = behind, .ahead = ahead, .sign = sign, .beyond = beyond});
  };
  constexpr auto forward = offset_sign::key_minus_query;
  constexpr auto share = coordinate::beyond_ends::clipped;
  const coordinate::window_index window(
      coordinate::grid({.rows = 2, .columns = 2, .order = coordinate::traversal::row_major}));
  check_described(made(weights, clip(4, 4, forward, share)), made(random_table(9, 2, 4423), clip(4, 4, forward, share)),
                  {{{"table"}, made(changed_in(weights, 4), clip(4, 4, forward, share))},
                   {{"rule.behind", "rule.ahead"}, made(weights, clip(5, 3, forward, share))},
                   {{"rule.sign"}, made(weights, clip(4, 4, offset_sign::query_minus_key, share))},
                   {{"rule.beyond"}, made(weights, clip(4, 4, forward, coordinate::beyond_ends::refused))},
                   {{"rule"}, made(weights, window)}});
}

TEST_CASE("the spatial bias is described by its tables, its ids and its graphs", "[describe]") {
  const std::vector<graph_edge> edges{{0, 1}, {1, 2}};
  const std::vector<graph_edge> others{{0, 1}, {0, 2}};
  const auto rows = [&](const std::vector<graph_edge>& of, const graph_token& token) {
    return graph_rows({graph::directed(3, of)}, token);
  };
  const auto distances = random_table(8, 2, 4424);
  const auto token = random_table(1, 2, 4425);
  const coordinate::distance_id id(6);
  using bias::spatial;
  const auto at = graph_token::at(-1);
  const auto none = graph_token::none();
  check_described(
      spatial<double>(distances, id, rows(edges, at), token).describe(),
      spatial<double>(random_table(8, 2, 4424), id, rows(edges, at), random_table(1, 2, 4425)).describe(),
      {{{"table"}, spatial<double>(changed_in(distances, 9), id, rows(edges, at), token).describe()},
       {{"rule.unreachable"},
        spatial<double>(distances, coordinate::distance_id(7), rows(edges, at), token).describe()},
       {{"token_table"}, spatial<double>(distances, id, rows(edges, at), changed_in(token, 1)).describe()},
       {{"token_table", "graphs.token"}, spatial<double>(distances, id, rows(edges, none)).describe()},
       {{"graphs.token"}, spatial<double>(distances, id, rows(edges, graph_token::at(3)), token).describe()},
       {{"graphs.graphs.0.from"}, spatial<double>(distances, id, rows(others, at), token).describe()}},
      {"graphs.graphs.0.to", "graphs.graphs.0.nodes", "graphs.graphs.0.attributes",
       "graphs.graphs.0.attributes_of_an_edge"});
}

/// Row 0, that of padding, is zero.
table<double> features_of(index_t rows, index_t columns, unsigned seed) {
  auto values = random_values<double>(static_cast<std::size_t>(rows * columns), seed);
  std::fill_n(values.begin(), columns, 0.0);
  return {values, rows, columns};
}

TEST_CASE("the edge path is described by its tables, its settings and its graphs", "[describe]") {
  using bias::edge_path;
  using bias::edge_path_settings;
  using bias::longer_paths;
  const std::vector<graph_edge> edges{{0, 1}, {1, 2}};
  const auto rows = [&](const std::vector<index_t>& attributes) {
    return graph_rows({graph::directed(3, edges, attributes)}, graph_token::none());
  };
  const auto features = features_of(12, 4, 4426);
  const auto weights = random_table(8, 2, 4427);
  const graph_rows graphs = rows({1, 2});
  const auto settings = [](index_t first, index_t stride, index_t hops, longer_paths longer) {
    return edge_path_settings{.rows = {.first = first, .stride = stride}, .hops = hops, .longer = longer};
  };
  constexpr auto refused = longer_paths::refused;
  const auto base = settings(2, 5, 2, refused);
  const auto made = [](const table<double>& f, const table<double>& w, const graph_rows& g,
                       const edge_path_settings& s) { return edge_path<double>(f, w, g, s).describe(); };
  check_described(made(features, weights, graphs, base),
                  made(features_of(12, 4, 4426), random_table(8, 2, 4427), rows({1, 2}), base),
                  {{{"feature_table"}, made(changed_in(features, 30), weights, graphs, base)},
                   {{"weight_table"}, made(features, changed_in(weights, 13), graphs, base)},
                   {{"weight_table"}, made(features, random_table(8, 3, 4427), graphs, base)},
                   {{"rows.first"}, made(features, weights, graphs, settings(3, 5, 2, refused))},
                   {{"rows.stride"}, made(features, weights, graphs, settings(2, 6, 2, refused))},
                   {{"longer"}, made(features, weights, graphs, settings(2, 5, 2, longer_paths::cut))},
                   {{"longer"}, made(features, weights, graphs, settings(2, 5, 2, longer_paths::nothing))},
                   {{"hops", "longer"}, made(features, weights, graphs, settings(2, 5, 1, longer_paths::cut))},
                   {{"graphs.graphs.0.attributes"}, made(features, weights, rows({2, 1}), base)}},
                  {"graphs.graphs.0.from", "graphs.graphs.0.to", "graphs.graphs.0.nodes",
                   "graphs.graphs.0.attributes_of_an_edge", "graphs.token"});
}

TEST_CASE("a pair bias is described by the name that it is given, its extents and its element type", "[describe]") {
  const auto numbers = random_tensor<double, 4>({2, 3, 4, 5}, 4428);
  const auto narrow = random_tensor<float, 4>({2, 3, 4, 5}, 4428);
  const auto half = random_tensor<Eigen::half, 4>({2, 3, 4, 5}, 4428);
  const auto brain = random_tensor<Eigen::bfloat16, 4>({2, 3, 4, 5}, 4428);
  const auto every_query = random_tensor<double, 4>({2, 3, 1, 5}, 4428);
  const auto made = [](std::string_view identity, const auto& of) {
    return named(identity, bias::pair(of.view())).describe();
  };
  check_described(made("window mask", numbers), made("window mask", numbers),
                  {{{"identity"}, made("window mask 2", numbers)},
                   {{"extents"}, made("window mask", every_query)},
                   {{"element"}, made("window mask", narrow)},
                   {{"element"}, made("window mask", half)},
                   {{"element"}, made("window mask", brain)}});
  CHECK(refusal([&] { return made("", numbers); }).code() == errc::description);
  const named whole("window mask", bias::pair(numbers.view()));
  const head_slice two({.query = 3, .key_value = 1, .dim = 1}, {2, 0});
  CHECK(whole.part(two).identity() == "window mask, heads 2 0");
  CHECK(differing(whole.describe(), whole.part(two).describe()) == field_paths{"identity", "extents"});
}

}  // namespace bias_describe_test
