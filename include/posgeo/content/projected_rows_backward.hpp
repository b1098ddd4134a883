// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/content/projected_rows.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <cmath>
#include <vector>

namespace posgeo::content {

/// What the gradient of projected rows gives the rows and the layer.
template <class T>
struct projection_gradient {
  table_gradient<T> rows;
  table_gradient<T> weight;
  std::vector<T> bias;  ///< [out]; empty where the layer has none
};

/// d rows = d out . weight, d weight = d out^T . rows, d bias = the sum of d out. A layer shared with the content adds
/// this to what it got there.
/// Shapes: d_out [n, out], as a policy has it of the table it holds by column, or shared.
/// Throws: errc::shape_mismatch if d_out is not of the rows that projected_rows makes.
template <class T, class Element>
[[nodiscard]] projection_gradient<T> projected_rows_backward(const table_gradient<T>& d_out, const table<Element>& rows,
                                                             const projection<Element>& layer) {
  const table<Element>& weight = layer.weight;
  require(d_out.rows() == rows.rows() && d_out.columns() == weight.rows(), errc::shape_mismatch, "projected rows",
          "gradient", text("{} x {}", rows.rows(), weight.rows()), text("{} x {}", d_out.rows(), d_out.columns()));
  projection_gradient<T> to{table_gradient<T>("rows", rows), table_gradient<T>("weight", weight),
                            std::vector<T>(layer.bias.size())};
  for (const index_t n : d_out.touched_rows()) {
    for (index_t unit = 0; unit < weight.rows(); ++unit) {
      const T d = d_out(n, unit);
      to.rows.add_row(n, weight.row(unit), d);
      to.weight.add_row(unit, rows.row(n), d);
      if (!to.bias.empty()) to.bias[static_cast<std::size_t>(unit)] += d;
    }
  }
  return to;
}

/// What the gradient of normalized rows gives the rows and the layer.
template <class T>
struct normalization_gradient {
  table_gradient<T> rows;
  std::vector<T> gain;
  std::vector<T> bias;
};

/// With u = (row - mean) / divisor and g = d out * gain: d row = (g - mean(g) - u mean(g u)) / divisor, d gain = the
/// sum of d out * u, d bias = the sum of d out. Formed in double. Shapes: d_out [n, width], that of the rows. Throws:
/// errc::shape_mismatch for a gradient or a layer of another shape.
template <class T, class Element>
[[nodiscard]] normalization_gradient<T> normalized_rows_backward(const table_gradient<T>& d_out,
                                                                 const table<Element>& rows,
                                                                 const normalization<Element>& layer) {
  const auto width = static_cast<std::size_t>(rows.columns());
  require(d_out.rows() == rows.rows() && d_out.columns() == rows.columns(), errc::shape_mismatch, "normalized rows",
          "gradient", text("{} x {}", rows.rows(), rows.columns()), text("{} x {}", d_out.rows(), d_out.columns()));
  require(layer.gain.size() == width && layer.bias.size() == width, errc::shape_mismatch, "normalized rows",
          "gain and bias", width, text("{} and {}", layer.gain.size(), layer.bias.size()));
  normalization_gradient<T> to{table_gradient<T>("rows", rows), std::vector<T>(width), std::vector<T>(width)};
  const auto count = static_cast<double>(width);
  std::vector<double> unit(width);
  std::vector<double> g(width);
  for (const index_t n : d_out.touched_rows()) {
    double mean = 0.0;
    for (const Element x : rows.row(n)) mean += static_cast<double>(x) / count;
    double variance = 0.0;
    for (const Element x : rows.row(n)) variance += std::pow(static_cast<double>(x) - mean, 2) / count;
    const double divisor = std::sqrt(variance + static_cast<double>(layer.epsilon));
    double mean_g = 0.0;
    double mean_gu = 0.0;
    for (std::size_t c = 0; c < width; ++c) {
      const auto d = static_cast<double>(d_out.row(n)[c]);
      unit[c] = (static_cast<double>(rows.row(n)[c]) - mean) / divisor;
      g[c] = d * static_cast<double>(layer.gain[c]);
      mean_g += g[c] / count;
      mean_gu += g[c] * unit[c] / count;
      to.gain[c] += static_cast<T>(d * unit[c]);
      to.bias[c] += static_cast<T>(d);
    }
    for (std::size_t c = 0; c < width; ++c) {
      to.rows.add(n, static_cast<index_t>(c), static_cast<T>((g[c] - mean_g - unit[c] * mean_gu) / divisor));
    }
  }
  return to;
}

}  // namespace posgeo::content
