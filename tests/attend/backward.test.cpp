// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/frequency/yarn.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/constant.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/sink.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include <array>

#include "support/finite_differences.hpp"
#include "support/uneven_call.hpp"

// Every gradient against central differences of the forward pass, in double.
namespace backward_test {

using namespace posgeo;
using namespace posgeo::test;
using learned = std::vector<std::vector<double>>;

constexpr heads grouped{.query = 4, .key_value = 2, .dim = 4};
constexpr index_t value_dim = 3;

std::vector<double> some(index_t count, unsigned seed) {
  return random_values<double>(static_cast<std::size_t>(count), seed);
}
table<double> table_of(const std::vector<double>& numbers, index_t columns) {
  return {numbers, static_cast<index_t>(numbers.size()) / columns, columns};
}

/// Irregular positions of two entries, three sequences, a row of padding and a position that repeats in another
/// sequence.
position_call irregular_call() {
  const std::array<index_t, 8> at_query{5, 3, 9, 4, 0, 7, 2, 6};
  const std::array<index_t, 8> of_query{1, 1, 1, 2, 3, 3, 3, 3};
  const std::array<index_t, 12> at_key{3, 8, 5, 1, 4, 2, 0, 7, 3, 5, 6, 1};
  const std::array<index_t, 12> of_key{1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 2};
  const std::array<std::uint8_t, 12> active{1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1};
  return call::explicit_positions({.entries = 2,
                                   .query = {.positions = at_query, .sequences = of_query, .rows = 4},
                                   .key = {.positions = at_key, .sequences = of_key, .active = active, .rows = 6},
                                   .reuse = position_reuse::intended});
}

template <class... Policies>
auto causal_model(const heads& layout, Policies... policies) {
  return attention(layout, scale::inverse_sqrt_terms{}, std::move(policies)..., visible::active{}, visible::causal{});
}
template <class... Policies>
auto irregular_model(const heads& layout, Policies... policies) {
  return attention(layout, scale::constant(0.6), std::move(policies)..., visible::active{}, visible::segments{});
}
/// The same policies over a causal call with a cache, and over irregular positions.
template <class Policies>
void check_both(const Policies& policies, const learned& numbers, unsigned seed, const heads& layout = grouped,
                std::size_t step = 7) {
  check_against_differences(
      [&](const learned& n) { return std::apply([&](auto... p) { return causal_model(layout, p...); }, policies(n)); },
      numbers, uneven_call(), value_dim, seed, step);
  check_against_differences(
      [&](const learned& n) {
        return std::apply([&](auto... p) { return irregular_model(layout, p...); }, policies(n));
      },
      numbers, irregular_call(), value_dim, seed + 50, step);
}

coordinate::t5_bucket buckets() {
  return coordinate::t5_bucket(
      {.num_buckets = 8, .max_distance = 7, .direction = coordinate::bucket_direction::bidirectional});
}

TEST_CASE("backward of attention alone is that of q k and v", "[backward]") {
  check_both([](const learned&) { return std::tuple{}; }, {}, 1, grouped, 1);
}

TEST_CASE("backward of a window leaves out what it hides", "[backward]") {
  check_against_differences(
      [](const learned&) {
        return attention(grouped, scale::inverse_sqrt_terms{}, visible::active{}, visible::causal{},
                         visible::window({.behind = 2, .ahead = 0}));
      },
      {}, uneven_call(3), value_dim, 2);
}

TEST_CASE("backward of t5 and learned relative tables", "[backward]") {
  const coordinate::clipped classes(
      {.behind = 3, .ahead = 1, .sign = offset_sign::query_minus_key, .beyond = coordinate::beyond_ends::clipped});
  check_both(
      [&](const learned& n) {
        return std::tuple{bias::t5<double>(table_of(n[0], 4), buckets()),
                          bias::learned_relative<double, coordinate::clipped>(table_of(n[1], 4), classes)};
      },
      {some(8 * 4, 3), some(5 * 4, 4)}, 5);
}

TEST_CASE("backward of learned slopes", "[backward]") {
  check_both(
      [](const learned& n) {
        return std::tuple{bias::alibi(bias::alibi_slopes::custom(n[0]), bias::alibi_direction::symmetric)};
      },
      {some(4, 6)}, 7);
  check_against_differences(
      [](const learned& n) {
        return causal_model(grouped, bias::alibi_key_position(bias::alibi_slopes::custom(n[0]), -3));
      },
      {some(4, 8)}, uneven_call(), value_dim, 9);
}

TEST_CASE("backward of tupe and tupe relative with the rule of the first row", "[backward]") {
  for (const bool shared : {false, true}) {
    const auto rows = [shared](const std::vector<double>& numbers) {
      return shared ? head_tables<double>::shared(table_of(numbers, 4))
                    : head_tables<double>::by_column(table_of(numbers, 16), 4);
    };
    const index_t columns = shared ? 4 : 16;
    check_both(
        [&](const learned& n) {
          return std::tuple{content::tupe<double>({rows(n[0]), rows(n[1])}, content::tupe_cls::released(position{3})),
                            bias::tupe_relative<double>(table_of(n[2], 4), buckets(), {.cls = position{3}})};
        },
        {some(14 * columns, 10), some(14 * columns, 11), some(9 * 4, 12)}, 13);
  }
}

TEST_CASE("backward of a pair bias sums over the axes it is broadcast on", "[backward]") {
  const position_call call = uneven_call();
  for (const std::array<index_t, 4> extents :
       {std::array<index_t, 4>{1, 4, 3, 9}, std::array<index_t, 4>{2, 1, 1, 9}, std::array<index_t, 4>{1, 4, 3, 1}}) {
    const index_t count = extents[0] * extents[1] * extents[2] * extents[3];
    check_against_differences(
        [&](const learned& n) {
          return causal_model(grouped, bias::pair(tensor_view<const double, 4>(n[0].data(), extents)),
                              scale::sink(n[1]));
        },
        {some(count, 14), {0.3, -0.2, 0.1, 1.0}}, call, value_dim, 15, 7);
  }
}

TEST_CASE("backward of shaw keys and values shared and of each head", "[backward]") {
  const auto classes = coordinate::clipped::symmetric(2);
  check_both(
      [&](const learned& n) {
        return std::tuple{content::shaw_key<double>(head_tables<double>::shared(table_of(n[0], 4)), classes),
                          value::shaw_value<double>(head_tables<double>::shared(table_of(n[1], 3)), classes)};
      },
      {some(5 * 4, 16), some(5 * 3, 17)}, 18);
  check_both(
      [&](const learned& n) {
        return std::tuple{content::shaw_key<double>(head_tables<double>::stacked(table_of(n[0], 4), 4), classes),
                          value::shaw_value<double>(head_tables<double>::by_column(table_of(n[1], 12), 4), classes)};
      },
      {some(20 * 4, 19), some(5 * 12, 20)}, 21);
}

TEST_CASE("backward of the relative keys and queries of bert", "[backward]") {
  check_both([](const learned& n) { return std::tuple{content::relative_key(table_of(n[0], 4), 12)}; },
             {some(23 * 4, 22)}, 23);
  check_both([](const learned& n) { return std::tuple{content::relative_key_query<double>(table_of(n[0], 4), 12)}; },
             {some(23 * 4, 24)}, 25);
}

TEST_CASE("backward of deberta terms", "[backward]") {
  using content::deberta_terms;
  for (const auto terms : {deberta_terms::c2p(), deberta_terms::p2c(content::p2c_index::paper),
                           deberta_terms::both(content::p2c_index::released_code)}) {
    learned numbers;
    if (terms.has_c2p()) numbers.push_back(some(6 * 16, 26));
    if (terms.has_p2c()) numbers.push_back(some(6 * 16, 27));
    const auto make = [&](const learned& n) {
      content::deberta_tables<double> tables;
      if (terms.has_c2p()) tables.position_keys = head_tables<double>::by_column(table_of(n.front(), 16), 4);
      if (terms.has_p2c()) tables.position_queries = head_tables<double>::by_column(table_of(n.back(), 16), 4);
      return content::deberta<double>(terms, coordinate::deberta_span::exact(3), tables);
    };
    check_against_differences(
        [&](const learned& n) {
          return attention(grouped, scale::inverse_sqrt_terms{}, make(n), visible::active{}, visible::segments{});
        },
        numbers, irregular_call(), value_dim, 28, 7);
  }
}

TEST_CASE("backward of transformer-xl reaches u v and the rows", "[backward]") {
  const auto biases = [](const learned& n) {
    return content::global_biases<double>{.content = table_of(n[0], 4), .position = table_of(n[1], 4)};
  };
  check_both(
      [&](const learned& n) {
        using rows = content::distance_rows<double>;
        return std::tuple{content::transformer_xl<double, rows>(
            biases(n), rows(head_tables<double>::stacked(table_of(n[2], 4), 4),
                            {.lowest = -9, .order = content::distance_order::descending}))};
      },
      {some(16, 29), some(16, 30), some(4 * 19 * 4, 31)}, 32);
}

TEST_CASE("backward of projected sinusoids reaches the projection", "[backward]") {
  for (const auto clamp : {content::clamp_len::unlimited(), content::clamp_len::at(3)}) {
    check_both(
        [&](const learned& n) {
          using rows = content::projected_sinusoids<double>;
          return std::tuple{content::transformer_xl<double, rows>(
              {.content = table_of(n[0], 4), .position = table_of(n[1], 4)},
              rows(table_of(n[2], 6), {.reach = content::distance_reach::both_ways, .clamp = clamp}))};
        },
        {some(16, 33), some(16, 34), some(16 * 6, 35)}, 36);
  }
}

TEST_CASE("backward of rotary turns the gradients of q and k back", "[backward]") {
  const heads wide{.query = 4, .key_value = 2, .dim = 6};
  for (const auto pairs : {transform::pairing::adjacent, transform::pairing::halves}) {
    check_both(
        [&](const learned&) {
          return std::tuple{
              transform::rotary(frequency::geometric({.base = 50.0, .rotary_dim = 4}), {.pairs = pairs, .offset = 2})};
        },
        {}, 37, wide, 1);
  }
}

TEST_CASE("backward of sink and softcap at either place", "[backward]") {
  for (const auto place : {scale::softcap_place::before_bias, scale::softcap_place::after_bias}) {
    check_both(
        [&](const learned& n) {
          return std::tuple{content::relative_key(table_of(n[0], 4), 12),
                            bias::t5<double>(table_of(n[1], 4), buckets()),
                            scale::softcap({.cap = 1.5, .place = place}), scale::sink(n[2])};
        },
        {some(23 * 4, 38), some(8 * 4, 39), some(4, 40)}, 41);
  }
}

}  // namespace backward_test
