// SPDX-License-Identifier: MIT
#include <posgeo/audit/content.hpp>
#include <posgeo/audit/edit_rows.hpp>
#include <posgeo/audit/encoded_content.hpp>
#include <posgeo/encode/sinusoidal.hpp>

#include "support/attention_inputs.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"
#include "support/uneven_call.hpp"

namespace audit_content_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr heads layout{.query = 4, .key_value = 2, .dim = 6};

audit::content_rows empty_rows(index_t value_dim = 5) {
  return {tensor<double, 4>({2, 4, 3, 6}), tensor<double, 4>({2, 2, 9, 6}), tensor<double, 4>({2, 2, 9, value_dim})};
}
audit::edited_call own_rows() { return audit::detail::with_own_sources(uneven_call().described()); }
template <class Content>
audit::content_rows filled(const Content& content, const audit::edited_call& from) {
  audit::content_rows rows = empty_rows();
  content.fill(position_call(from.call), from, layout, rows);
  return rows;
}

TEST_CASE("random content belongs to the original row and not to where it is stored", "[audit]") {
  audit::edited_call one = own_rows();
  const audit::random_content content{.seed = 3, .width_of_values = 5};
  CHECK(content.value_dim(layout) == 5);
  CHECK(audit::random_content{}.value_dim(layout) == 6);
  const audit::content_rows before = filled(content, one);
  std::swap(one.query_source[0], one.query_source[2]);
  std::swap(one.key_source[1], one.key_source[9 + 3]);
  const audit::content_rows after = filled(content, one);
  for (index_t h = 0; h < 4; ++h) {
    for (index_t d = 0; d < 6; ++d) {
      CHECK(before.query(0, h, 0, d) == after.query(0, h, 2, d));
      CHECK(before.query(0, h, 2, d) == after.query(0, h, 0, d));
      CHECK(before.query(0, h, 0, d) != before.query(0, h, 2, d));
    }
  }
  CHECK(before.value(0, 1, 1, 4) == after.value(1, 1, 3, 4));
  CHECK(before.key(1, 0, 3, 2) == after.key(0, 0, 1, 2));
  CHECK(before.key(0, 0, 1, 2) != before.value(0, 0, 1, 2));
  CHECK(before.key(0, 0, 1, 2) != after.key(0, 0, 1, 2));
  CHECK(before.key(0, 0, 8, 2) == 0.0);  // padding is left as it is
  CHECK(filled(audit::random_content{.seed = 4, .width_of_values = 5}, one).query(0, 0, 0, 0) !=
        after.query(0, 0, 0, 0));
}

TEST_CASE("random content has mean 0 and variance 1", "[audit]") {
  const audit::edited_call one = own_rows();
  double sum = 0.0;
  double squares = 0.0;
  double count = 0.0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const audit::content_rows rows = filled(audit::random_content{.seed = seed, .width_of_values = 5}, one);
    for (const double x : rows.query.values()) {
      if (x == 0.0) continue;  // padding
      CHECK(std::abs(x) <= std::sqrt(3.0));
      sum += x;
      squares += x * x;
      count += 1.0;
    }
  }
  CHECK(std::abs(sum / count) < 5.0 / std::sqrt(count));
  CHECK_THAT(squares / count, WithinAbs(1.0, 5.0 / std::sqrt(count)));
}

TEST_CASE("given content is the caller's rows, wherever they are stored", "[audit]") {
  const attention_inputs<float> in(layout, uneven_call(), 5, 81);
  audit::edited_call one = own_rows();
  const audit::given_content content(in.view());
  CHECK(content.value_dim(layout) == 5);
  std::swap(one.key_source[1], one.key_source[9 + 3]);
  const audit::content_rows rows = filled(content, one);
  CHECK(largest_difference(rows.key.view().row(0, 1, 1), in.key.view().row(1, 1, 3)) == 0.0);
  CHECK(largest_difference(rows.value.view().row(1, 0, 3), in.value.view().row(0, 0, 1)) == 0.0);
  CHECK(largest_difference(rows.query.view().row(1, 3, 1), in.query.view().row(1, 3, 1)) == 0.0);
}

TEST_CASE("given content of another shape or row is refused", "[audit]") {
  const attention_inputs<float> in({.query = 2, .key_value = 2, .dim = 6}, uneven_call(), 5, 81);
  const error shape = refusal([&in] { (void)filled(audit::given_content(in.view()), own_rows()); });
  CHECK(shape.code() == errc::shape_mismatch);
  CHECK(std::string(shape.what()) == "query, heads and head_dim: expected 4 x 6, got 2 x 6");

  const attention_inputs<float> right(layout, uneven_call(), 5, 81);
  audit::edited_call one = own_rows();
  one.key_source[4] = {.entry = 2, .row = 0};
  const error row = refusal([&] { (void)filled(audit::given_content(right.view()), one); });
  CHECK(row.code() == errc::row_identity);
  CHECK(std::string(row.what()) == "content, source of a row: expected entry below 2, row below 9, got entry 2, row 0");
}

struct encoded_sample {
  tensor<double, 3> queries = random_tensor<double, 3>({2, 3, 8}, 91);
  tensor<double, 3> keys = random_tensor<double, 3>({2, 9, 8}, 92);
  audit::projections weights{random_table(8, 24, 93), random_table(8, 12, 94), random_table(8, 10, 95)};
  encode::sinusoidal encoder{
      {.width = 8, .layout = encode::sinusoid_layout::concatenated, .exponent = encode::sinusoid_exponent::paper}};
  [[nodiscard]] audit::encoded_content<encode::sinusoidal> content() const { return {encoder, queries, keys, weights}; }
};

TEST_CASE("encoded content adds where the row stands in the edited call", "[audit]") {
  const encoded_sample sample;
  audit::edited_call one = own_rows();
  one.call = uneven_call(11).described();
  std::swap(one.query_source[0], one.query_source[2]);
  CHECK(sample.content().value_dim(layout) == 5);
  CHECK(sample.content().positional_reads() == reads::absolute);
  CHECK(sample.content().describe().at(0).find("family") != nullptr);
  const audit::content_rows rows = filled(sample.content(), one);

  // Storage row 2 of entry 0 holds original row 0 and stands at the position of row 2, 6 + 11 + 2.
  const auto angle = [](index_t pair) { return 19.0 * std::pow(10000.0, -static_cast<double>(pair) / 4.0); };
  double expected = 0.0;
  for (index_t w = 0; w < 8; ++w) {
    const double wave = w < 4 ? std::sin(angle(w)) : std::cos(angle(w - 4));
    expected += (sample.queries(0, 0, w) + wave) * sample.weights.query(w, 3 * 6 + 4);
  }
  CHECK_THAT(rows.query(0, 3, 2, 4), WithinAbs(expected, 1e-12));
}

TEST_CASE("projections that do not fit are refused", "[audit]") {
  encoded_sample sample;
  sample.weights.key = random_table(8, 13, 94);
  const error got = refusal([&sample] { (void)filled(sample.content(), own_rows()); });
  CHECK(got.code() == errc::shape_mismatch);
  CHECK(std::string(got.what()) == "projection of the keys, rows and columns: expected 8 x 12, got 8 x 13");
}

}  // namespace audit_content_test
