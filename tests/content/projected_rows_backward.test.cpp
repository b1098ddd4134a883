// SPDX-License-Identifier: MIT
#include <posgeo/content/projected_rows_backward.hpp>

#include <cmath>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace projected_rows_backward_test {

using namespace posgeo;
using namespace posgeo::test;

/// d itself as a gradient of a table of its shape.
table_gradient<double> gradient_of_values(const table<double>& d) {
  table_gradient<double> out("table", d);
  for (index_t r = 0; r < d.rows(); ++r) out.add_row(r, d.row(r), 1.0);
  return out;
}

/// Central difference of loss() in one number.
template <class Loss>
double slope(double& x, const Loss& loss) {
  constexpr double step = 1e-5;
  const double at = x;
  x = at + step;
  const double above = loss();
  x = at - step;
  const double below = loss();
  x = at;
  return (above - below) / (2.0 * step);
}

TEST_CASE("the gradient of projected rows reaches rows weight and bias", "[backward]") {
  auto rows = random_values<double>(7 * 3, 701);
  auto weight = random_values<double>(5 * 3, 702);
  auto bias = random_values<double>(5, 703);
  const auto d = random_table(7, 5, 704);
  const auto layer = [&] { return content::projection<double>{.weight = table<double>(weight, 5, 3), .bias = bias}; };
  const auto table_of_rows = [&] { return table<double>(rows, 7, 3); };
  const auto computed = content::projected_rows_backward(gradient_of_values(d), table_of_rows(), layer());
  const auto loss = [&] {
    const auto out = content::projected_rows<double>(table_of_rows(), layer());
    return dot(out.values(), d.values());
  };
  for (std::size_t n = 0; n < rows.size(); ++n)
    CHECK(std::abs(computed.rows.values()[n] - slope(rows[n], loss)) < 1e-8);
  for (std::size_t n = 0; n < weight.size(); ++n) {
    CHECK(std::abs(computed.weight.values()[n] - slope(weight[n], loss)) < 1e-8);
  }
  for (std::size_t n = 0; n < bias.size(); ++n) CHECK(std::abs(computed.bias[n] - slope(bias[n], loss)) < 1e-8);
  const auto other = gradient_of_values(random_table(7, 4, 705));
  CHECK(refusal([&] { (void)content::projected_rows_backward(other, table_of_rows(), layer()); }).code() ==
        errc::shape_mismatch);
}

TEST_CASE("the gradient of normalized rows reaches rows gain and bias", "[backward]") {
  auto rows = random_values<double>(6 * 5, 706);
  auto gain = random_values<double>(5, 707);
  auto bias = random_values<double>(5, 708);
  const auto d = random_table(6, 5, 709);
  const auto layer = [&] { return content::normalization<double>{.gain = gain, .bias = bias, .epsilon = 0.3}; };
  const auto table_of_rows = [&] { return table<double>(rows, 6, 5); };
  const auto computed = content::normalized_rows_backward(gradient_of_values(d), table_of_rows(), layer());
  const auto loss = [&] {
    const auto out = content::normalized_rows<double>(table_of_rows(), layer());
    return dot(out.values(), d.values());
  };
  for (std::size_t n = 0; n < rows.size(); ++n)
    CHECK(std::abs(computed.rows.values()[n] - slope(rows[n], loss)) < 1e-8);
  for (std::size_t n = 0; n < gain.size(); ++n) CHECK(std::abs(computed.gain[n] - slope(gain[n], loss)) < 1e-8);
  for (std::size_t n = 0; n < bias.size(); ++n) CHECK(std::abs(computed.bias[n] - slope(bias[n], loss)) < 1e-8);
  const auto other = gradient_of_values(random_table(5, 5, 710));
  CHECK(refusal([&] { (void)content::normalized_rows_backward(other, table_of_rows(), layer()); }).code() ==
        errc::shape_mismatch);
  gain.pop_back();
  CHECK(refusal([&] {
          (void)content::normalized_rows_backward(gradient_of_values(d), table_of_rows(), layer());
        }).code() == errc::shape_mismatch);
}

}  // namespace projected_rows_backward_test
