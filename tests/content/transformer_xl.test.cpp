// SPDX-License-Identifier: MIT
#include <posgeo/bias/score_bias.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/segment_memory.hpp>
#include <posgeo/content/transformer_xl.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include "support/calls.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"
#include "support/score_error.hpp"
#include "support/uneven_call.hpp"

namespace transformer_xl_test {

using namespace posgeo;
using namespace posgeo::test;
using content::clamp_len;
using content::distance_order;
using content::distance_reach;
using content::distance_rows;
using content::global_biases;
using content::projected_sinusoids;
using content::transformer_xl;

using by_rows = transformer_xl<double, distance_rows<double>>;
static_assert(content_term<transformer_xl<float>, float> && content_term<transformer_xl<float>, double>);
static_assert(content_term<by_rows, double> && looks_back_only<by_rows> && looks_back_only<transformer_xl<float>>);

constexpr heads grouped{.query = 4, .key_value = 2, .dim = 3};
constexpr index_t width = 8;  // d_model
const double scale_of_three = 1.0 / std::sqrt(3.0);

const table<double> u = random_table(4, 3, 121);
const table<double> v = random_table(4, 3, 122);
const table<double> weight = random_table(4 * 3, width, 123);

projected_sinusoids<double> sinusoids(distance_reach reach, clamp_len clamp = clamp_len::unlimited()) {
  return {weight, {.reach = reach, .clamp = clamp}};
}
transformer_xl<double> policy(distance_reach reach, clamp_len clamp = clamp_len::unlimited()) {
  return {{.content = u, .position = v}, sinusoids(reach, clamp)};
}

/// W_r R[n] for one head.
std::vector<double> projected(index_t head, index_t distance) {
  std::vector<double> out;
  for (index_t d = 0; d < 3; ++d) {
    double sum = 0.0;
    for (index_t i = 0; i < width / 2; ++i) {
      const double phase = static_cast<double>(distance) / std::pow(10000.0, static_cast<double>(2 * i) / width);
      sum += weight(head * 3 + d, i) * std::sin(phase) + weight(head * 3 + d, width / 2 + i) * std::cos(phase);
    }
    out.push_back(sum);
  }
  return out;
}

/// The three terms beside q . k, with the distance changed by `at`.
template <class At>
auto three_terms(const position_call& call, const At& at) {
  return [&call, at](batch_index b, head_index h, query_index i, key_index j, auto q, auto k) {
    const auto r = projected(h.value(), at(call.at(b, i).value() - call.at(b, j).value()));
    return dot(q, r) + dot(u.row(h.value()), k) + dot(v.row(h.value()), r);
  };
}
const auto as_it_is = [](index_t distance) { return distance; };

TEST_CASE("transformer-xl is the sum of four terms, with keys on both sides", "[transformer_xl]") {
  const auto call = uneven_call();
  const attention_inputs<double> in(grouped, call, 2, 124);
  const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{}, policy(distance_reach::both_ways)};
  CHECK(score_error(model, call, in, scale_of_three, three_terms(call, as_it_is)) < 1e-12);
}

TEST_CASE("transformer-xl that looks back is the same sum under a causal mask", "[transformer_xl]") {
  const auto call = uneven_call();
  const attention_inputs<double> in(grouped, call, 2, 125);
  const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{}, visible::causal{},
                        policy(distance_reach::back_only)};
  CHECK(score_error(model, call, in, scale_of_three, three_terms(call, as_it_is)) < 1e-12);
}

TEST_CASE("clamp_len gives the furthest distances of each side one row", "[transformer_xl]") {
  const auto call = uneven_call();  // distances from -2 to 7
  const attention_inputs<double> in(grouped, call, 2, 126);
  for (const index_t furthest : {1, 3, 7}) {
    const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{},
                          policy(distance_reach::both_ways, clamp_len::at(furthest))};
    CHECK(score_error(model, call, in, scale_of_three, three_terms(call, [&](index_t distance) {
                        return std::clamp(distance, -furthest, furthest);
                      })) < 1e-12);
    // One side only, under a causal mask, has no lower end to meet.
    const attention back{grouped, scale::inverse_sqrt_head_dim{}, visible::active{}, visible::causal{},
                         policy(distance_reach::back_only, clamp_len::at(furthest))};
    CHECK(score_error(back, call, in, scale_of_three,
                      three_terms(call, [&](index_t distance) { return std::min(distance, furthest); })) < 1e-12);
  }
  for (const auto& [query, key, row] :
       {std::array<index_t, 3>{1000, 0, 5}, std::array<index_t, 3>{0, 1000, -5}}) {  // everything beyond the clamp
    const auto far = call_at({query, query + 1}, {key, key + 1});
    const attention_inputs<double> far_in(grouped, far, 2, 127);
    const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::everything{},
                          policy(distance_reach::both_ways, clamp_len::at(5))};
    CHECK(score_error(model, far, far_in, scale_of_three, three_terms(far, [at = row](index_t) { return at; })) <
          1e-12);
  }
}

TEST_CASE("rows that are given stand for the distances they are named for", "[transformer_xl]") {
  const auto call = uneven_call();
  const attention_inputs<double> in(grouped, call, 2, 128);
  const auto given = [](distance_order order) {
    std::vector<double> rows;
    for (index_t n = 0; n < 10; ++n) {
      for (index_t h = 0; h < 4; ++h) {
        const auto r = projected(h, order == distance_order::ascending ? n - 2 : 7 - n);
        rows.insert(rows.end(), r.begin(), r.end());
      }
    }
    return distance_rows<double>(head_tables<double>::by_column(table<double>(rows, 10, 12), 4),
                                 {.lowest = -2, .order = order});
  };
  for (const distance_order order : {distance_order::ascending, distance_order::descending}) {
    const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{},
                          by_rows({.content = u, .position = v}, given(order))};
    CHECK(score_error(model, call, in, scale_of_three, three_terms(call, as_it_is)) < 1e-12);
  }
}

TEST_CASE("transformer-xl is the same wherever all rows stand", "[transformer_xl]") {
  const attention_inputs<double> in(grouped, uneven_call(), 2, 129);
  const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{}, policy(distance_reach::both_ways)};
  const auto scores = [&](index_t by) {
    return attend(eager{}, model.compile<double>(uneven_call(by)), in.view(), also::scores).scores;
  };
  const auto here = scores(0);
  for (const index_t by : {index_t{1}, index_t{1} << 40}) {
    const auto there = scores(by);
    CHECK(largest_difference(here.values(), there.values()) == 0.0);
  }
}

TEST_CASE("the two global biases are not exchangeable", "[transformer_xl]") {
  const auto call = uneven_call();
  const attention_inputs<double> in(grouped, call, 2, 130);
  const auto error_of = [&](const global_biases<double>& biases) {
    const attention model{grouped, scale::inverse_sqrt_head_dim{}, visible::active{},
                          transformer_xl<double>(biases, sinusoids(distance_reach::both_ways))};
    return score_error(model, call, in, scale_of_three, three_terms(call, as_it_is));
  };
  CHECK(error_of({.content = u, .position = v}) < 1e-12);
  CHECK(error_of({.content = v, .position = u}) > 0.1);
}

TEST_CASE("two segments with a memory give the distances of one long call", "[transformer_xl]") {
  const heads one{.query = 1, .key_value = 1, .dim = 3};
  const auto states = random_tensor<double, 3>({2, 9, 3}, 131);
  const attention model{
      one, scale::inverse_sqrt_head_dim{}, visible::causal{},
      transformer_xl<double>(
          {.content = random_table(1, 3, 132), .position = random_table(1, 3, 133)},
          {random_table(3, width, 134), {.reach = distance_reach::back_only, .clamp = clamp_len::unlimited()}})};
  const auto run = [&](const position_call& call, const states_view<const double>& queries,
                       const states_view<const double>& keys) {
    const auto as_heads = [](const states_view<const double>& rows) {
      return heads_view<const double>(rows.data(), {rows.extent(0), 1, rows.extent(1), 3},
                                      {rows.strides()[0], 0, rows.strides()[1]});
    };
    return attend(eager{}, model.compile<double>(call), {as_heads(queries), as_heads(keys), as_heads(keys)},
                  also::scores | also::log_sum_exp);
  };
  const auto rows = [&](index_t first, index_t count) {
    return states_view<const double>(states.view().row(0, first).data(), {2, count, 3},
                                     {states.view().strides()[0], 3});
  };
  const std::vector<index_t> streams{5, 8};
  const call::segment_memory<double> empty(
      {.layer = 0, .capacity = 6, .first_position = 30, .gradient = call::memory_gradient::detached}, streams);
  const auto segment = [&](index_t first, index_t count) {
    return call::segment<double>{
        .layer = 0, .first_position = 30 + first, .streams = streams, .states = rows(first, count)};
  };
  const auto extended = empty.updated(segment(0, 5)).extended(segment(5, 4));
  const auto in_segments = run(extended.call, rows(5, 4), std::as_const(extended.states).view());

  const auto long_segment = empty.extended(segment(0, 9));
  const auto at_once = run(long_segment.call, rows(0, 9), rows(0, 9));
  for (index_t b = 0; b < 2; ++b) {
    for (index_t i = 0; i < 4; ++i) {
      CHECK(difference(in_segments.log_sum_exp(b, 0, i), at_once.log_sum_exp(b, 0, 5 + i)) < 1e-13);
      for (index_t j = 0; j < 9; ++j) {
        CHECK(difference(in_segments.scores(b, 0, i, j), at_once.scores(b, 0, 5 + i, j)) < 1e-13);
      }
    }
  }
}

TEST_CASE("a short table is refused where keys stand after the query", "[transformer_xl]") {
  const auto rows_for = [](index_t lowest, index_t count) {
    return by_rows({.content = u, .position = v}, {head_tables<double>::by_column(random_table(count, 12, 135), 4),
                                                   {.lowest = lowest, .order = distance_order::descending}});
  };
  const auto call = call_at({4, 5, 6, 7});
  const auto listed = [&](const by_rows& rows, const auto&... see) {
    return codes(attention{grouped, scale::inverse_sqrt_head_dim{}, see..., rows}.check(call));
  };
  CHECK(listed(rows_for(0, 4), visible::everything{}) == std::vector{errc::future_visible});
  CHECK(listed(rows_for(0, 4), visible::causal{}).empty());
  CHECK(listed(rows_for(-3, 7), visible::everything{}).empty());
  CHECK(listed(rows_for(-2, 6), visible::everything{}) == std::vector{errc::offset_out_of_table});
  CHECK(listed(rows_for(-3, 6), visible::everything{}) == std::vector{errc::offset_out_of_table});
  CHECK(listed(rows_for(0, 3), visible::causal{}) == std::vector{errc::offset_out_of_table});
  CHECK(listed(rows_for(1, 3), visible::causal{}) == std::vector{errc::offset_out_of_table});  // no row for itself
  const attention open{grouped, scale::inverse_sqrt_head_dim{}, visible::everything{},
                       policy(distance_reach::back_only)};
  CHECK(codes(open.check(call)) == std::vector{errc::future_visible});
}

TEST_CASE("transformer-xl refuses biases and projections of other heads", "[transformer_xl]") {
  const auto listed = [](const transformer_xl<double>& p) {
    violations found;
    p.check(uneven_call(), grouped, found);
    return codes(found);
  };
  const auto with = [&](const table<double>& content, const table<double>& position, const table<double>& w) {
    return listed({{.content = content, .position = position},
                   {w, {.reach = distance_reach::both_ways, .clamp = clamp_len::unlimited()}}});
  };
  CHECK(with(u, v, weight).empty());
  CHECK(with(random_table(2, 3, 1), v, weight) == std::vector{errc::head_count});
  CHECK(with(u, random_table(4, 4, 1), weight) == std::vector{errc::shape_mismatch});
  CHECK(with(u, v, random_table(6, width, 1)) == std::vector{errc::shape_mismatch});
  CHECK(refusal([] {
          return projected_sinusoids<double>(random_table(12, 7, 1),
                                             {.reach = distance_reach::both_ways, .clamp = clamp_len::unlimited()});
        }).what() == std::string("position projection, columns, d_model: expected an even number, got 7"));
  for (const index_t off : {-1, 0}) {  // a checkpoint that does not clamp
    const auto refused = refusal([&] { return clamp_len::at(off); });
    CHECK(refused.code() == errc::bucket_settings);
    CHECK(std::string(refused.what()).find("clamp_len::unlimited()") != std::string::npos);
  }
  const distance_rows<double> of_key_heads(head_tables<double>::by_column(random_table(20, 6, 1), 2),
                                           {.lowest = -9, .order = distance_order::ascending});
  CHECK(refusal([&] {
          return by_rows({.content = u, .position = v}, of_key_heads).compile<double>(uneven_call(), grouped);
        }).code() == errc::head_count);
  CHECK(refusal([] {
          return distance_rows<double>(head_tables<double>::shared(random_table(3, 3, 1)),
                                       {.lowest = position_limit - 1, .order = distance_order::ascending});
        }).code() == errc::position_overflow);
}

TEST_CASE("transformer-xl refuses two frames and distances without number", "[transformer_xl]") {
  const auto refused = [](const position_call& call, clamp_len clamp) {
    return refusal([&] { (void)policy(distance_reach::both_ways, clamp).compile<double>(call, grouped); }).code();
  };
  const std::vector<index_t> lengths{2};
  const auto cross =
      call::cross_attention({.target_lengths = lengths, .source_lengths = lengths, .target_rows = 2, .source_rows = 2});
  CHECK(refused(cross, clamp_len::unlimited()) == errc::frame_mismatch);
  const auto apart = call_at({index_t{1} << 30}, {0, index_t{1} << 30});
  CHECK(refused(apart, clamp_len::unlimited()) == errc::offset_out_of_table);
  CHECK_NOTHROW(policy(distance_reach::both_ways, clamp_len::at(100)).compile<double>(apart, grouped));
  const auto far = refusal(
      [] { (void)policy(distance_reach::both_ways).compile<double>(call_at({index_t{1} << 55}, {1}), grouped); });
  CHECK(far.code() == errc::position_precision);
  CHECK(std::string(far.what()).find("projected sinusoids, distance: expected at most 2^53") == 0);
}

TEST_CASE("rows of padding need no distance of their own", "[transformer_xl]") {
  const by_rows two_back({.content = u, .position = v}, {head_tables<double>::by_column(random_table(2, 12, 136), 4),
                                                         {.lowest = 0, .order = distance_order::ascending}});
  const call::prefill_entry entry{.committed_length = 1, .first_position = 1, .length = 1, .past_length = 1};
  const auto roomy = call::prefill_chunk({.entries = {&entry, 1}, .query_rows = 3, .key_rows = 40});
  CHECK_NOTHROW(two_back.compile<double>(roomy, grouped));
}

TEST_CASE("transformer-xl refuses numbers that the type of the plan cannot hold", "[transformer_xl]") {
  const auto large = table<double>(std::vector<double>(12, 1e39), 4, 3);
  const auto refused = [](const auto& p) {
    CHECK_NOTHROW(p.template compile<double>(call_at({0}), grouped));
    return refusal([&] { (void)p.template compile<float>(call_at({0}), grouped); }).code();
  };
  const auto rows = sinusoids(distance_reach::both_ways);
  CHECK(refused(transformer_xl<double>({.content = large, .position = v}, rows)) == errc::non_finite);
  CHECK(refused(transformer_xl<double>({.content = u, .position = large}, rows)) == errc::non_finite);
  const table<double> steep(std::vector<double>(12 * width, 1e39), 12, width);
  CHECK(refused(transformer_xl<double>(
            {.content = u, .position = v},
            {steep, {.reach = distance_reach::both_ways, .clamp = clamp_len::unlimited()}})) == errc::non_finite);
}

}  // namespace transformer_xl_test
