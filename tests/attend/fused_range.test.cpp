// SPDX-License-Identifier: MIT
#include <posgeo/attend/eager.hpp>
#include <posgeo/attend/fused.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/pair.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/call/decode_step.hpp>
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/shaw_key.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/scale/softcap.hpp>
#include <posgeo/value/shaw_value.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>
#include <posgeo/visible/segments.hpp>
#include <posgeo/visible/window.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "support/attention_inputs.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"

// Scores, biases and positions far from the usual ones.
namespace fused_range_test {

using namespace posgeo;
using numbers = std::vector<index_t>;

constexpr float lowest = std::numeric_limits<float>::lowest();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr heads one_head{.query = 1, .key_value = 1, .dim = 8};
constexpr heads two_heads{.query = 2, .key_value = 1, .dim = 20};
constexpr index_t value_dim = 3;
/// For outputs and log-sum-exps of a few units in float: some ten roundings.
constexpr float of_float = 4e-6F;

template <class T>
tensor<double, 4> in_double(const tensor<T, 4>& from) {
  tensor<double, 4> out(from.extents());
  std::copy(from.values().begin(), from.values().end(), out.values().begin());
  return out;
}

/// How far output and log-sum-exp of fused are from those of eager in double.
template <class T, class Model>
double error_of(const Model& model, const position_call& call, const test::attention_inputs<T>& in) {
  const auto query = in_double(in.query);
  const auto key = in_double(in.key);
  const auto value = in_double(in.value);
  const auto exact = attend(eager{}, model.template compile<double>(call), {query.view(), key.view(), value.view()},
                            also::log_sum_exp);
  const auto got = attend(fused{}, model.template compile<T>(call), in.view(), also::log_sum_exp);
  return std::max(test::largest_difference(exact.output.values(), got.output.values()),
                  test::largest_difference(exact.log_sum_exp.values(), got.log_sum_exp.values()));
}

/// The same for the output alone, where the log-sum-exp is as large as numbers get.
template <class Model>
double error_in_output(const Model& model, const position_call& call, const test::attention_inputs<float>& in) {
  const auto query = in_double(in.query);
  const auto key = in_double(in.key);
  const auto value = in_double(in.value);
  const auto exact = attend(eager{}, model.template compile<double>(call), {query.view(), key.view(), value.view()});
  const auto got = attend(fused{}, model.compile(call), in.view(), also::log_sum_exp);
  CHECK(std::isfinite(got.log_sum_exp(0, 0, 0)));
  return test::largest_difference(exact.output.values(), got.output.values());
}

/// `low` for the first keys, 0 for the others.
std::vector<float> low_first(index_t low_keys, index_t keys, float low) {
  std::vector<float> bias(static_cast<std::size_t>(keys), 0.0F);
  std::fill_n(bias.begin(), low_keys, low);
  return bias;
}
bias::pair<float> by_key(const std::vector<float>& bias) {
  return bias::pair<float>(tensor_view<const float, 4>(bias.data(), {1, 1, 1, static_cast<index_t>(bias.size())}));
}
/// Makes the score of a key with the query row `low` times that row's mean square.
void lower_key(test::attention_inputs<float>& in, index_t key, index_t query, float low) {
  for (index_t d = 0; d < one_head.dim; ++d) {
    in.key(0, 0, key, d) = in.query(0, 0, query, d) * low / static_cast<float>(one_head.dim);
  }
}

constexpr float lows[] = {-1e3F, -1e4F, -65504.0F, -1e6F, -1e9F, lowest};

TEST_CASE("keys that a bias puts far below cost later keys no digits", "[fused]") {
  for (const float low : lows) {
    for (const index_t keys : {64, 400}) {
      for (const index_t low_keys : {32, 40}) {
        CAPTURE(low, keys, low_keys);
        const position_call call = call::decode_step(keys - 1, keys - 1);
        const test::attention_inputs<float> in(one_head, call, value_dim, 61);
        const auto bias = low_first(low_keys, keys, low);
        CHECK(error_of(attention{one_head, scale::none{}, visible::everything{}, by_key(bias)}, call, in) < of_float);
        CHECK(error_of(attention{one_head, scale::none{}, visible::everything{}, by_key(bias),
                                 scale::softcap({.cap = 50, .place = scale::softcap_place::before_bias})},
                       call, in) < of_float);
      }
    }
  }
}

TEST_CASE("keys whose own scores are far below cost later keys no digits", "[fused]") {
  for (const float low : lows) {
    if (low == lowest) continue;  // a score beyond the type
    for (const index_t keys : {64, 400}) {
      for (const index_t low_keys : {32, 40}) {
        CAPTURE(low, keys, low_keys);
        const position_call call = call::decode_step(keys - 1, keys - 1);
        test::attention_inputs<float> in(one_head, call, value_dim, 64);
        for (index_t j = 0; j < low_keys; ++j) lower_key(in, j, 0, low);
        CHECK(error_of(attention{one_head, scale::none{}, visible::everything{}}, call, in) < of_float);
      }
    }
  }
}

TEST_CASE("left padding by a mask of low numbers costs no digits under a causal visibility", "[fused]") {
  for (const float low : lows) {
    CAPTURE(low);
    const position_call call = call::prefill_chunk(40, 24);
    const test::attention_inputs<float> in(one_head, call, value_dim, 67);
    const auto bias = low_first(40, 64, low);
    CHECK(error_of(attention{one_head, scale::none{}, visible::causal{}, by_key(bias)}, call, in) < of_float);
  }
}

TEST_CASE("with alibi the nearest key may score far below the others", "[fused]") {
  const attention model{one_head, scale::none{}, visible::causal{},
                        bias::alibi{bias::alibi_slopes::custom({0.1}), bias::alibi_direction::causal}};
  for (const float low : {-1e3F, -1e6F, -1e9F}) {
    CAPTURE(low);
    const position_call call = call::decode_step(63, 63);
    test::attention_inputs<float> in(one_head, call, value_dim, 70);
    lower_key(in, 63, 0, low);
    CHECK(error_of(model, call, in) < of_float);
  }
}

TEST_CASE("alibi in double keeps its digits where positions are far apart", "[fused]") {
  constexpr double unit = std::numeric_limits<double>::epsilon() / 2;
  const attention model{one_head, scale::none{}, visible::everything{},
                        bias::alibi{bias::alibi_slopes::custom({0.37}), bias::alibi_direction::symmetric}};
  for (const index_t span : {100'000, 2'000'000, 20'000'000}) {
    std::mt19937_64 engine(static_cast<std::uint64_t>(span));
    std::uniform_int_distribution<index_t> anywhere(0, span);
    numbers at_query(5);
    numbers at_key(73);
    for (index_t& p : at_query) p = anywhere(engine);
    for (index_t& p : at_key) p = anywhere(engine);
    // Three keys about each query, in the last tile: a few units apart, below a score that is far from zero.
    for (std::size_t n = 0; n < 15; ++n) at_key[58 + n] = at_query[n / 3] + 4 + static_cast<index_t>(n % 3);
    const position_call call = call::explicit_positions(
        {.query = {.positions = at_query, .rows = 5}, .key = {.positions = at_key, .rows = 73}});
    CAPTURE(span);
    // Scores that weigh something are of a few units.
    CHECK(error_of(model, call, test::attention_inputs<double>(one_head, call, value_dim, 73)) < 200 * unit);
  }
}

TEST_CASE("a finite score that overflows does not hide its key", "[fused]") {
  const heads layout{.query = 1, .key_value = 1, .dim = 4};
  const attention model{layout, scale::none{}, visible::everything{}};
  for (const index_t keys : {1, 2}) {
    CAPTURE(keys);
    const position_call call = call::decode_step(keys - 1, keys - 1);
    test::attention_inputs<float> in(layout, call, value_dim, 76);
    std::fill(in.query.values().begin(), in.query.values().end(), 1e25F);
    std::fill(in.key.values().begin(), in.key.values().end(), -1e25F);
    const auto got = attend(fused{}, model.compile(call), in.view(), also::log_sum_exp);
    CHECK(std::isfinite(got.log_sum_exp(0, 0, 0)));
    for (index_t d = 0; d < value_dim; ++d) {
      double mean = 0;
      for (index_t j = 0; j < keys; ++j) mean += static_cast<double>(in.value(0, 0, j, d)) / static_cast<double>(keys);
      CHECK(std::abs(static_cast<double>(got.output(0, 0, 0, d)) - mean) < of_float);
    }
  }
}

TEST_CASE("scores that overflow weigh nothing beside finite ones", "[fused]") {
  const attention model{one_head, scale::none{}, visible::everything{}};
  const position_call call = call::decode_step(63, 63);
  for (const index_t low_keys : {1, 32}) {
    CAPTURE(low_keys);
    test::attention_inputs<float> in(one_head, call, value_dim, 79);
    for (float& x : in.query.values()) x *= 1e20F;
    for (float& x : in.key.values()) x *= 1e-20F;
    for (index_t j = 0; j < low_keys; ++j) {
      for (index_t d = 0; d < one_head.dim; ++d) in.key(0, 0, j, d) = -in.query(0, 0, 0, d);
    }
    CHECK(error_of(model, call, in) < of_float);
  }
}

TEST_CASE("rows that see nothing but NaN are NaN and their neighbours are not", "[fused]") {
  const attention model{one_head, scale::none{}, visible::window{.behind = 0, .ahead = 0}};
  const position_call call = call::prefill_chunk(0, 70);
  test::attention_inputs<float> in(one_head, call, value_dim, 82);
  for (const index_t j : {0, 33, 69}) in.key(0, 0, j, 5) = nan;
  const auto got = attend(fused{}, model.compile(call), in.view(), also::log_sum_exp);
  for (index_t i = 0; i < 70; ++i) {
    CAPTURE(i);
    const bool broken = i == 0 || i == 33 || i == 69;
    CHECK(std::isnan(got.log_sum_exp(0, 0, i)) == broken);
    for (index_t d = 0; d < value_dim; ++d) {
      CHECK(std::isnan(got.output(0, 0, i, d)) == broken);
      if (!broken) CHECK(std::abs(got.output(0, 0, i, d) - in.value(0, 0, i, d)) < of_float);
    }
  }
}

TEST_CASE("a row all of whose keys are NaN is NaN", "[fused]") {
  const attention model{one_head, scale::none{}, visible::everything{}};
  const position_call call = call::decode_step(69, 69);
  test::attention_inputs<float> in(one_head, call, value_dim, 85);
  std::fill(in.key.values().begin(), in.key.values().end(), nan);
  const auto got = attend(fused{}, model.compile(call), in.view(), also::log_sum_exp);
  CHECK(std::isnan(got.log_sum_exp(0, 0, 0)));
  for (const float x : got.output.values()) CHECK(std::isnan(x));
}

TEST_CASE("a bias of the lowest number leaves its key in the row", "[fused]") {
  const position_call call = call::decode_step(79, 79);
  const test::attention_inputs<float> in(one_head, call, value_dim, 88);
  std::vector<float> bias(80, lowest);
  const auto model = [&] { return attention{one_head, scale::none{}, visible::everything{}, by_key(bias)}; };
  // Beside that number the scores are nothing: all keys weigh the same.
  CHECK(error_in_output(model(), call, in) < of_float);
  for (const std::size_t seen : {std::size_t{0}, std::size_t{50}, std::size_t{79}}) {
    CAPTURE(seen);
    bias.assign(80, lowest);
    bias[seen] = 0;
    CHECK(error_of(model(), call, in) < of_float);
  }
}

TEST_CASE("a bias that overflows in base 2 is the largest number", "[fused]") {
  const position_call call = call::decode_step(79, 79);
  const test::attention_inputs<float> in(one_head, call, value_dim, 90);
  const coordinate::t5_bucket buckets(
      {.num_buckets = 8, .max_distance = 40, .direction = coordinate::bucket_direction::bidirectional});
  std::vector<float> of_bucket(8, 3e38F);
  const attention model{one_head, scale::none{}, visible::everything{},
                        bias::t5<float>(table<float>(of_bucket, 8, 1), buckets)};
  CHECK(error_in_output(model, call, in) < of_float);
}

/// `rows` rows of random numbers, the same for all heads.
head_tables<float> shared_rows(index_t rows, index_t width, unsigned seed) {
  return head_tables<float>::shared(
      table<float>(test::random_values<float>(static_cast<std::size_t>(rows * width), seed), rows, width));
}
content::deberta<float> p2c(const coordinate::deberta_span& span) {
  content::deberta_tables<float> tables;
  tables.position_queries = shared_rows(span.rows(), two_heads.dim, 91);
  return {content::deberta_terms::p2c(content::p2c_index::paper), span, tables};
}

/// Output and log-sum-exp of the first `rows` rows of entry 0, whose inputs do not depend on the other entries.
template <class Model>
std::vector<float> rows_of_entry(const Model& model, const position_call& call, index_t rows) {
  test::attention_inputs<float> in(two_heads, call, 24, 94);
  const auto own = [rows](tensor<float, 4>& all, unsigned seed) {
    const auto from = test::random_tensor<float, 4>({1, all.extent(1), rows, all.extent(3)}, seed);
    for (index_t h = 0; h < all.extent(1); ++h) {
      for (index_t r = 0; r < rows; ++r) {
        const auto row = from.view().row(0, h, r);
        std::copy(row.begin(), row.end(), all.view().row(0, h, r).begin());
      }
    }
  };
  own(in.query, 97);
  own(in.key, 98);
  own(in.value, 99);
  const auto got = attend(fused{}, model.compile(call), in.view(), also::log_sum_exp);
  std::vector<float> out;
  for (index_t h = 0; h < two_heads.query; ++h) {
    for (index_t i = 0; i < rows; ++i) {
      const auto row = got.output.view().row(0, h, i);
      out.insert(out.end(), row.begin(), row.end());
      out.push_back(got.log_sum_exp(0, h, i));
    }
  }
  return out;
}

/// Entry 0 stands at 0, 1, ...; the other, if there is one, at multiples of 1000.
position_call near_and_far(index_t entries, index_t rows) {
  numbers at;
  numbers sequence;
  for (index_t n = 0; n < entries * rows; ++n) {
    at.push_back(n < rows ? n : (n - rows) * 1000);
    sequence.push_back(n / rows);
  }
  return call::explicit_positions({.entries = entries,
                                   .query = {.positions = at, .sequences = sequence, .rows = rows},
                                   .key = {.positions = at, .sequences = sequence, .rows = rows}});
}

template <class... Terms>
void expect_bits_beside_far_entry(const Terms&... terms) {
  const attention model{two_heads, scale::inverse_sqrt_terms{}, visible::everything{}, visible::segments{}, terms...};
  for (const index_t rows : {40, 200}) {
    CAPTURE(rows);
    CHECK(rows_of_entry(model, near_and_far(1, rows), rows) == rows_of_entry(model, near_and_far(2, rows), rows));
  }
}

TEST_CASE("an entry with positions far apart changes no bit of another", "[fused]") {
  const auto classes = coordinate::clipped::symmetric(2000);
  expect_bits_beside_far_entry(content::shaw_key<float>(shared_rows(classes.classes(), two_heads.dim, 92), classes));
  expect_bits_beside_far_entry(value::shaw_value<float>(shared_rows(classes.classes(), 24, 93), classes));
  expect_bits_beside_far_entry(p2c(coordinate::deberta_span::exact(2000)));
}

TEST_CASE("the position of padding changes no bit of a token", "[fused]") {
  const auto classes = coordinate::clipped::symmetric(1023);
  const auto expect = [&](const auto& model) {
    const auto padded = [&](const numbers& lengths, index_t rows, index_t at) {
      return rows_of_entry(model,
                           call::padded_batch({.lengths = lengths,
                                               .rows = rows,
                                               .side = call::padding_side::right,
                                               .positions = call::padded_positions::fixed(2, at)}),
                           20);
    };
    const auto alone = padded({20}, 20, 1);
    for (const index_t at : {1, 5000, -1'000'000}) {
      CAPTURE(at);
      CHECK(padded({20, 10}, 24, at) == alone);
    }
  };
  expect(attention{two_heads, scale::none{}, visible::everything{}, visible::active{},
                   value::shaw_value<float>(shared_rows(classes.classes(), 24, 93), classes)});
  expect(attention{two_heads, scale::none{}, visible::everything{}, visible::active{},
                   content::shaw_key<float>(shared_rows(classes.classes(), two_heads.dim, 92), classes)});
}

TEST_CASE("offsets between the first and the last position there is are as exact as others", "[fused]") {
  constexpr index_t limit = position_limit;
  const auto classes = coordinate::clipped::symmetric(120);
  const coordinate::t5_bucket buckets(
      {.num_buckets = 32, .max_distance = 100, .direction = coordinate::bucket_direction::bidirectional});
  const auto error_with = [](const position_call& call, const auto& term) {
    return error_of(attention{two_heads, scale::inverse_sqrt_terms{}, visible::everything{}, term}, call,
                    test::attention_inputs<float>(two_heads, call, 24, 101));
  };
  for (const index_t first : {-limit, limit - 196}) {
    for (const bool in_order : {true, false}) {
      CAPTURE(first, in_order);
      numbers at_key(197);  // a last tile that is not full
      std::iota(at_key.begin(), at_key.end(), first);
      if (!in_order) std::swap(at_key[3], at_key[150]);
      const numbers at_query{-limit, limit};
      const position_call call = call::explicit_positions(
          {.query = {.positions = at_query, .rows = 2}, .key = {.positions = at_key, .rows = 197}});
      const table<float> of_buckets(test::random_values<float>(64, 102), 32, 2);
      CHECK(error_with(call, bias::t5<float>(of_buckets, buckets)) < of_float);
      CHECK(error_with(call, content::shaw_key<float>(shared_rows(classes.classes(), two_heads.dim, 92), classes)) <
            of_float);
      CHECK(error_with(call, value::shaw_value<float>(shared_rows(classes.classes(), 24, 93), classes)) < of_float);
    }
  }
}

}  // namespace fused_range_test
