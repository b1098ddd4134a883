// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/alibi_key_position.hpp>
#include <posgeo/bias/edge_path.hpp>
#include <posgeo/bias/learned_relative.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/spatial.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/bias/tupe_relative.hpp>
#include <posgeo/content/bert_relative.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/content/tupe.hpp>
#include <posgeo/contract/head_results.hpp>
#include <posgeo/core/named.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/transform/multi_axis_rotary.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/within_hops.hpp>

#include <cstring>

#include "support/attention_inputs.hpp"
#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/random_graphs.hpp"
#include "support/refusal.hpp"
#include "support/uneven_call.hpp"

// The parts of a layer, each with its own policies and inputs, are together the layer, to the bit.
namespace head_partition_laws {

using namespace posgeo;
using namespace posgeo::test;
using contract::head_partition;
using contract::key_head_rule;
using contract::part_result;

constexpr index_t value_dim = 4;
constexpr heads alone{.query = 6, .key_value = 6, .dim = 4};
constexpr heads seven_to_one{.query = 7, .key_value = 1, .dim = 4};
constexpr heads four_to_two{.query = 4, .key_value = 2, .dim = 4};

/// Even, uneven and interleaved parts, in and out of order. Each part's heads are equally far apart.
std::vector<head_partition> partitions_of(const heads& whole) {
  using lists = std::vector<std::vector<index_t>>;
  const auto of = [&whole](const lists& query_heads, key_head_rule rule = key_head_rule::replicated) {
    return head_partition(whole, query_heads, rule);
  };
  if (whole.query == 6) {
    return {head_partition::even(whole, 3, key_head_rule::owned), of({{5, 3, 1}, {2}, {0, 4}}, key_head_rule::owned)};
  }
  if (whole.query == 7) {
    return {head_partition::even(whole, 7, key_head_rule::replicated), of({{0, 1, 2, 3, 4}, {5, 6}}),
            of({{0, 3, 6}, {5, 2}, {4, 1}})};
  }
  return {head_partition::even(whole, 2, key_head_rule::owned),
          head_partition::even(whole, 4, key_head_rule::replicated), of({{3, 2}, {0}, {1}}), of({{0, 2}, {3, 1}}),
          of({{3, 2, 1, 0}}, key_head_rule::owned)};
}

/// Whether two results are the same bits. They hold no NaN.
bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}
bool same(const attention_result<double>& a, const attention_result<double>& b) {
  return same_bits(a.output.values(), b.output.values()) && same_bits(a.log_sum_exp.values(), b.log_sum_exp.values());
}

/// What the part of the attention gives for the inputs of the slice.
template <class Part>
attention_result<double> run(const Part& part, const position_call& call, const attention_inputs<double>& in,
                             const head_slice& inputs) {
  const auto query = contract::query_heads_of(in.query.view(), inputs);
  const auto key = contract::key_heads_of(in.key.view(), inputs);
  const auto value = contract::key_heads_of(in.value.view(), inputs);
  return attend(eager{}, part.template compile<double>(call), {query.view(), key.view(), value.view()},
                also::log_sum_exp);
}

/// Whether a policy holds numbers of each head.
enum class numbers { of_each_head, of_none };

template <class Attention>
void check_parts(const Attention& whole, const position_call& call, numbers held) {
  const attention_inputs<double> in(whole.layout(), call, value_dim, 501);
  const auto expected = attend(eager{}, whole.template compile<double>(call), in.view(), also::log_sum_exp);
  bool any_apart = false;
  for (const head_partition& partition : partitions_of(whole.layout())) {
    std::vector<attention_result<double>> results;
    for (const head_slice& slice : partition.parts()) {
      const auto part = whole.part(slice);
      REQUIRE((part.slice() && *part.slice() == slice));
      results.push_back(run(part, call, in, slice));
    }
    std::vector<part_result<double>> parts;
    for (std::size_t p = 0; p < results.size(); ++p) {
      parts.push_back({partition.parts()[p], std::as_const(results[p]).output.view(),
                       std::as_const(results[p]).log_sum_exp.view()});
    }
    const auto joined = contract::joined<double>(partition, parts);
    CAPTURE(whole.layout().query, whole.layout().key_value, partition.size());
    CHECK(same(joined, expected));

    // The policies of the same heads in another order: a difference that no shape shows.
    for (std::size_t p = 0; p < results.size(); ++p) {
      const head_slice& slice = partition.parts()[p];
      if (slice.layout().query == 1) continue;
      std::vector<index_t> turned = slice.query_heads();
      std::reverse(turned.begin(), turned.end());
      const auto wrong = run(whole.part(head_slice(whole.layout(), turned)), call, in, slice);
      CHECK(same(wrong, results[p]) == (held == numbers::of_none));
      any_apart = any_apart || !same(wrong, results[p]);
    }
  }
  CHECK(any_apart == (held == numbers::of_each_head));
}

/// The law for one policy, in each layout, over two streams with padding.
template <class Make>
void check_family(numbers held, const Make& make) {
  const auto call = uneven_call();
  for (const heads& layout : {alone, seven_to_one, four_to_two}) {
    check_parts(attention(layout, scale::inverse_sqrt_terms{}, visible::causal{}, visible::active{},
                          visible::segments{}, make(layout)),
                call, held);
  }
}
/// The same over the nodes of a graph.
template <class Make>
void check_graph_family(numbers held, const Make& make) {
  const auto call = call_at({3, 0, 2}, {1, 4, 0, 2});
  for (const heads& layout : {alone, seven_to_one, four_to_two}) {
    check_parts(attention(layout, scale::inverse_sqrt_terms{}, visible::everything{}, make(layout)), call, held);
  }
}

coordinate::t5_bucket buckets(coordinate::bucket_direction direction) {
  return coordinate::t5_bucket({.num_buckets = 8, .max_distance = 10, .direction = direction});
}
head_tables<double> stacked(const heads& layout, index_t rows, unsigned seed) {
  return head_tables<double>::stacked(random_table(layout.query * rows, 4, seed), layout.query);
}
head_tables<double> by_column(const heads& layout, index_t rows, unsigned seed) {
  return head_tables<double>::by_column(random_table(rows, layout.query * 4, seed), layout.query);
}
head_tables<double> shared(index_t rows, unsigned seed) {
  return head_tables<double>::shared(random_table(rows, 4, seed));
}

TEST_CASE("slopes go by the global head", "[laws]") {
  using namespace bias;
  check_family(numbers::of_each_head,
               [](const heads& of) { return alibi(alibi_slopes::reference(of.query), alibi_direction::symmetric); });
  check_family(numbers::of_each_head,
               [](const heads& of) { return alibi_key_position(alibi_slopes::geometric(of.query), -3); });
}

TEST_CASE("slopes made for the number of local heads are other slopes", "[laws]") {
  using namespace bias;
  const auto call = uneven_call();
  const attention_inputs<double> in(seven_to_one, call, value_dim, 502);
  const head_slice slice(seven_to_one, {4, 5, 6});
  const auto with = [](const heads& layout, const alibi_slopes& slopes) {
    return attention(layout, scale::inverse_sqrt_terms{}, visible::causal{}, visible::active{}, visible::segments{},
                     alibi(slopes, alibi_direction::causal));
  };
  const auto right = run(with(seven_to_one, alibi_slopes::reference(7)).part(slice), call, in, slice);
  const auto local = run(with(slice.layout(), alibi_slopes::reference(3)), call, in, slice);
  const auto first =
      run(with(seven_to_one, alibi_slopes::reference(7)).part(head_slice(seven_to_one, {0, 1, 2})), call, in, slice);
  CHECK(right.output.extents() == local.output.extents());
  CHECK_FALSE(same(right, local));
  CHECK_FALSE(same(right, first));
}

TEST_CASE("tables of positions go by the global head", "[laws]") {
  using coordinate::bucket_direction;
  check_family(numbers::of_each_head, [](const heads& of) {
    return bias::t5<double>(random_table(8, of.query, 511), buckets(bucket_direction::causal));
  });
  check_family(numbers::of_each_head, [](const heads& of) {
    return bias::tupe_relative<double>(random_table(9, of.query, 512), buckets(bucket_direction::bidirectional),
                                       {.cls = position{3}});
  });
  check_family(numbers::of_each_head, [](const heads& of) {
    return bias::learned_relative(random_table(9, of.query, 513), coordinate::clipped::symmetric(4));
  });
}

TEST_CASE("biases of graphs go by the global head", "[laws]") {
  dice roll(521);
  const coordinate::graph_rows graphs({random_graph(roll, 5, 0.5)}, coordinate::graph_token::none());
  check_graph_family(numbers::of_each_head, [&](const heads& of) {
    return bias::spatial(random_table(9, of.query, 522), coordinate::distance_id(8), graphs);
  });
  const coordinate::graph_rows with_token({graphs.of(0)}, coordinate::graph_token::at(-1));
  const auto token_call = call_at({3, -1, 2}, {1, 4, -1, 2});
  check_parts(attention(seven_to_one, scale::inverse_sqrt_terms{}, visible::everything{},
                        bias::spatial(random_table(9, 7, 523), coordinate::distance_id(8), with_token,
                                      random_table(1, 7, 524))),
              token_call, numbers::of_each_head);
  auto features = random_values<double>(12 * 3, 525);
  std::fill_n(features.begin(), 3, 0.0);  // the row of padding
  check_graph_family(numbers::of_each_head, [&](const heads& of) {
    return bias::edge_path<double>(table<double>(features, 12, 3), random_table(6, of.query, 526), graphs,
                                   {.rows = {.first = 2, .stride = 5}, .hops = 2, .longer = bias::longer_paths::cut});
  });
}

TEST_CASE("a part of a dense bias is a view of the same memory", "[laws]") {
  const auto call = uneven_call();
  for (const heads& layout : {alone, seven_to_one, four_to_two}) {
    const auto law = [&](const std::array<index_t, 4>& extents, numbers held) {
      const auto memory = random_tensor<double, 4>(extents, 531);
      check_parts(attention(layout, scale::inverse_sqrt_terms{}, visible::causal{}, visible::active{},
                            visible::segments{}, bias::pair(memory.view())),
                  call, held);
      check_parts(attention(layout, scale::inverse_sqrt_terms{}, visible::causal{}, visible::active{},
                            visible::segments{}, named("bias", bias::pair(memory.view()))),
                  call, held);
    };
    law({2, layout.query, 3, 9}, numbers::of_each_head);
    law({1, layout.query, 3, 1}, numbers::of_each_head);
    law({2, 1, 3, 9}, numbers::of_none);
  }
}

TEST_CASE("content terms go by the global head", "[laws]") {
  using namespace content;
  const auto classes = coordinate::clipped::symmetric(3);
  check_family(numbers::of_each_head, [&](const heads& of) { return shaw_key(stacked(of, 7, 541), classes); });
  check_family(numbers::of_each_head, [&](const heads& of) { return shaw_key(by_column(of, 7, 542), classes); });
  check_family(numbers::of_none, [&](const heads&) { return shaw_key(shared(7, 543), classes); });
  check_family(numbers::of_none, [](const heads&) { return relative_key(random_table(39, 4, 544), 20); });
  check_family(numbers::of_none, [](const heads&) { return relative_key_query<double>(random_table(39, 4, 545), 20); });
  const auto span = coordinate::deberta_span::exact(4);
  check_family(numbers::of_each_head, [&](const heads& of) {
    return deberta<double>(deberta_terms::both(p2c_index::paper), span,
                           {.position_keys = stacked(of, 8, 551), .position_queries = by_column(of, 8, 552)});
  });
  check_family(numbers::of_each_head, [&](const heads& of) {
    return deberta<double>(deberta_terms::c2p(), span, {.position_keys = stacked(of, 8, 553)});
  });
  check_family(numbers::of_each_head, [&](const heads& of) {
    return deberta<double>(deberta_terms::p2c(p2c_index::released_code), span,
                           {.position_queries = stacked(of, 8, 554)});
  });
  check_family(numbers::of_none, [&](const heads&) {
    return deberta<double>(deberta_terms::c2p(), span, {.position_keys = shared(8, 555)});
  });
  check_family(numbers::of_each_head, [](const heads& of) {
    return tupe<double>({.queries = stacked(of, 21, 561), .keys = shared(21, 562)}, tupe_cls::released(position{3}));
  });
  check_family(numbers::of_each_head, [](const heads& of) {
    return tupe<double>({.queries = shared(21, 563), .keys = by_column(of, 21, 564)}, tupe_cls::untouched());
  });
}

TEST_CASE("both biases and the rows of Transformer-XL go by the global head", "[laws]") {
  using namespace content;
  const auto biases = [](const heads& of, bool same_u, bool same_v) {
    const auto table_of = [&of](bool repeated, unsigned seed) {
      std::vector<double> values;
      const auto all = random_values<double>(static_cast<std::size_t>(of.query * 4), seed);
      for (std::size_t n = 0; n < all.size(); ++n) values.push_back(all[repeated ? n % 4 : n]);
      return table<double>(values, of.query, 4);
    };
    return global_biases<double>{.content = table_of(same_u, 571), .position = table_of(same_v, 572)};
  };
  const projected_sinusoids_settings settings{.reach = distance_reach::back_only, .clamp = clamp_len::unlimited()};
  check_family(numbers::of_each_head, [&](const heads& of) {
    return transformer_xl<double>(biases(of, false, false), {random_table(of.query * 4, 6, 573), settings});
  });
  const distance_rows_settings range{.lowest = -10, .order = distance_order::descending};
  const auto over_rows = [&](bool same_u, bool same_v, const auto& rows) {
    return [=](const heads& of) {
      return transformer_xl<double, distance_rows<double>>(biases(of, same_u, same_v), {rows(of), range});
    };
  };
  const auto one = [](const heads&) { return shared(21, 574); };
  const auto each = [](const heads& of) { return stacked(of, 21, 575); };
  check_family(numbers::of_each_head, over_rows(false, true, one));  // u alone
  check_family(numbers::of_each_head, over_rows(true, false, one));  // v alone
  check_family(numbers::of_each_head, over_rows(true, true, each));  // r alone
  check_family(numbers::of_none, over_rows(true, true, one));
}

TEST_CASE("value terms and sinks go by the global head", "[laws]") {
  const auto classes = coordinate::clipped::symmetric(3);
  check_family(numbers::of_each_head, [&](const heads& of) { return value::shaw_value(stacked(of, 7, 581), classes); });
  check_family(numbers::of_none, [&](const heads&) { return value::shaw_value(shared(7, 582), classes); });
  check_family(numbers::of_each_head, [](const heads& of) {
    return scale::sink(random_values<double>(static_cast<std::size_t>(of.query), 583));
  });
  check_family(numbers::of_none, [](const heads& of) { return scale::sink::off_by_one(of); });
}

TEST_CASE("what treats all heads alike is in every part", "[laws]") {
  const frequency::geometric ladder({.base = 100.0, .rotary_dim = 4});
  check_family(numbers::of_none, [&](const heads&) {
    return transform::rotary(ladder, {.pairs = transform::pairing::halves, .offset = 2});
  });
  check_family(numbers::of_none,
               [](const heads&) { return scale::softcap({.cap = 2.0, .place = scale::softcap_place::after_bias}); });
  const auto call = call_at({3, 0, 2}, {1, 4, 0, 2});
  const row_column<coordinate::axis_positions<2>> queries(row_identity::of(call.query_space()),
                                                          {{3, -1}, {0, 7}, {2, 2}});
  const row_column<coordinate::axis_positions<2>> keys(row_identity::of(call.key_space()),
                                                       {{1, 1}, {4, -5}, {0, 7}, {2, 2}});
  check_graph_family(numbers::of_none, [&](const heads&) {
    return transform::multi_axis_rotary<2>(ladder, transform::axis_sections<2>::blocks({1, 1}),
                                           transform::pairing::adjacent, queries, keys);
  });
  dice roll(591);
  const coordinate::graph_rows graphs({random_graph(roll, 5, 0.3)}, coordinate::graph_token::none());
  check_graph_family(numbers::of_none, [&](const heads&) {
    return visible::within_hops(graphs, {.most = 2, .unreachable = visible::unreachable_pairs::seen});
  });
}

TEST_CASE("several policies of one attention are cut together", "[laws]") {
  check_family(numbers::of_each_head, [](const heads& of) {
    return bias::t5<double>(random_table(8, of.query, 601), buckets(coordinate::bucket_direction::causal));
  });
  const auto call = uneven_call();
  check_parts(
      attention(four_to_two, scale::inverse_sqrt_terms{}, visible::causal{}, visible::active{}, visible::segments{},
                transform::rotary(frequency::geometric({.base = 100.0, .rotary_dim = 4}),
                                  {.pairs = transform::pairing::adjacent}),
                bias::alibi(bias::alibi_slopes::reference(4), bias::alibi_direction::causal),
                bias::t5<double>(random_table(8, 4, 602), buckets(coordinate::bucket_direction::causal)),
                content::shaw_key(stacked(four_to_two, 7, 603), coordinate::clipped::symmetric(3)),
                value::shaw_value(stacked(four_to_two, 7, 604), coordinate::clipped::symmetric(3)),
                scale::sink(random_values<double>(4, 605))),
      call, numbers::of_each_head);
}

}  // namespace head_partition_laws
