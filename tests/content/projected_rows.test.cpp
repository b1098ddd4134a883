// SPDX-License-Identifier: MIT
#include <posgeo/content/projected_rows.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace projected_rows_test {

using namespace posgeo;
using namespace posgeo::test;

TEST_CASE("projected rows are the rows through the transposed weight and the bias", "[projected_rows]") {
  const std::vector<double> rows{1, 2, 3, -1, 0, 4};                      // [2, 3]
  const std::vector<double> weight{1, 0, -1, 2, 5, 1, 0, 3, 0, 1, 1, 1};  // [4, 3]
  const std::vector<double> bias{10, 20, 30, 40};
  const table<double> from(rows, 2, 3);
  const auto with = content::projected_rows<double>(from, {.weight = {weight, 4, 3}, .bias = bias});
  CHECK(std::vector<double>(with.values().begin(), with.values().end()) ==
        std::vector<double>{8, 35, 36, 46, 5, 22, 30, 43});
  const auto without = content::projected_rows<double>(from, {.weight = {weight, 4, 3}});
  for (index_t n = 0; n < 2; ++n) {
    for (index_t unit = 0; unit < 4; ++unit) {
      CHECK(without(n, unit) == with(n, unit) - bias[static_cast<std::size_t>(unit)]);
    }
  }
}

TEST_CASE("projected rows in float are summed in double and rounded once", "[projected_rows]") {
  const std::vector<float> rows{1e8F, 1.0F, -1e8F};
  const std::vector<float> weight{1.0F, 0.5F, 1.0F};
  const auto out = content::projected_rows<float>(table<float>(rows, 1, 3), {.weight = table<float>(weight, 1, 3)});
  CHECK(out(0, 0) == 0.5F);
}

TEST_CASE("normalized rows have the mean and the spread of the layer", "[projected_rows]") {
  const index_t width = 7;
  const table<double> from(random_values<double>(3 * 7, 617), 3, width);
  const std::vector<double> gain(7, 2.0);
  const std::vector<double> bias(7, 0.5);
  const auto out = content::normalized_rows<double>(from, {.gain = gain, .bias = bias, .epsilon = 0.0});
  for (index_t n = 0; n < 3; ++n) {
    double mean = 0.0;
    double square = 0.0;
    for (const double value : out.row(n)) mean += value / 7.0;
    for (const double value : out.row(n)) square += (value - 0.5) * (value - 0.5) / 7.0;
    CHECK_THAT(mean, WithinAbs(0.5, 1e-14));
    CHECK_THAT(square, WithinRel(4.0, 1e-14));
    CHECK((out(n, 0) > out(n, 1)) == (from(n, 0) > from(n, 1)));
  }
  // (1, -1): mean 0, variance 1, and an epsilon of 3 halves it
  const std::vector<double> pair{1, -1};
  const std::vector<double> ones{1, 10};
  const std::vector<double> none{0, 0};
  const auto small =
      content::normalized_rows<double>(table<double>(pair, 1, 2), {.gain = ones, .bias = none, .epsilon = 3.0});
  CHECK(small(0, 0) == 0.5);
  CHECK(small(0, 1) == -5.0);
}

TEST_CASE("normalized rows of any size are right", "[projected_rows]") {
  const auto values = random_values<double>(5, 619);
  const std::vector<double> ones(5, 1.0);
  const std::vector<double> none(5, 0.0);
  const auto of = [&](int size, double epsilon) {
    std::vector<double> scaled;
    for (const double value : values) scaled.push_back(std::ldexp(value, size));
    return content::normalized_rows<double>(table<double>(scaled, 1, 5),
                                            {.gain = ones, .bias = none, .epsilon = epsilon});
  };
  const auto usual = of(0, 0.0);
  for (const int size : {-900, -540, 540, 1022}) {
    const auto sized = of(size, 0.0);
    CHECK(std::equal(usual.values().begin(), usual.values().end(), sized.values().begin()));
  }
  const auto tiny = of(-900, 1e-5);  // epsilon alone divides
  for (const double value : tiny.values()) CHECK(std::abs(value) < 1e-200);
}

TEST_CASE("a normalization that divides by nothing is refused by its name", "[projected_rows]") {
  const std::vector<double> gain(3, 1.0);
  const std::vector<double> shift{1.0, 2.0, 3.0};
  const auto normalized = [&](const std::vector<double>& row, double epsilon) {
    return content::normalized_rows<double>(table<double>(row, 1, 3),
                                            {.gain = gain, .bias = shift, .epsilon = epsilon});
  };
  const auto refused = [&](const std::vector<double>& row, double epsilon) {
    const auto thrown = refusal([&] { return normalized(row, epsilon); });
    CHECK(std::string(thrown.what()).find("normalized rows") == 0);
    return thrown.code();
  };
  CHECK(refused({0.1, 0.1, 0.1}, 0.0) == errc::non_finite);
  CHECK(refused({0.0, 0.0, 0.0}, 0.0) == errc::non_finite);
  const auto equal = normalized({0.1, 0.1, 0.1}, 1e-12);
  CHECK(std::equal(shift.begin(), shift.end(), equal.values().begin()));
  for (const double epsilon : {-1e-5, -10.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CHECK(refused({1.0, -1.0, 0.5}, epsilon) == errc::non_finite);
  }
}

TEST_CASE("projections and normalizations of another width are refused", "[projected_rows]") {
  const table<double> rows(random_values<double>(2 * 3, 618), 2, 3);
  const std::vector<double> values(12, 1.0);
  const auto refused = [&](const content::projection<double>& layer) {
    return refusal([&] { return content::projected_rows(rows, layer); }).code();
  };
  CHECK(refused({.weight = {values, 3, 4}}) == errc::shape_mismatch);
  CHECK(refused({.weight = {values, 4, 3}, .bias = std::span(values).first(3)}) == errc::shape_mismatch);
  const std::span<const double> three = std::span(values).first(3);
  const std::span<const double> two = std::span(values).first(2);
  const auto refused_layer = [&](const content::normalization<double>& layer) {
    return refusal([&] { return content::normalized_rows(rows, layer); }).code();
  };
  CHECK(refused_layer({.gain = two, .bias = three, .epsilon = 1e-5}) == errc::shape_mismatch);
  CHECK(refused_layer({.gain = three, .bias = two, .epsilon = 1e-5}) == errc::shape_mismatch);
  // too large for the type of the table
  const std::vector<float> huge{3e38F, 3e38F};
  CHECK(refusal([&] {
          return content::projected_rows<float>(table<float>(huge, 1, 2), {.weight = table<float>(huge, 1, 2)});
        }).code() == errc::non_finite);
}

}  // namespace projected_rows_test
