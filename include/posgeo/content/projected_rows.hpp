// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/required.hpp>
#include <posgeo/core/table.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace posgeo::content {

/// A linear layer. Shapes: weight [out, in]; bias [out], or empty where the layer has none.
template <class T>
struct projection {
  table<T> weight;
  std::span<const T> bias = {};
};

/// rows weight^T + bias: a position table as the heads read it. Summed in double, rounded once. With the projection of
/// the content, the table shares it (DeBERTa's share_att_key); with one of its own it does not.
/// Shapes: rows [n, in]; the result [n, out], for head_tables::by_column.
/// Throws: errc::shape_mismatch if the widths differ; errc::non_finite if a result does not fit in T.
/// Source: He et al. 2021 (DeBERTa), section 3.1; Ke, He and Liu 2021 (TUPE), section 3.1.
template <class T>
[[nodiscard]] table<T> projected_rows(const table<T>& rows, const projection<T>& layer) {
  const table<T>& weight = layer.weight;
  violations found;
  found.expect(weight.columns() == rows.columns(), errc::shape_mismatch, "projected rows", "columns of the weight",
               text("{}, the width of the rows", rows.columns()), weight.columns());
  found.expect(layer.bias.empty() || std::cmp_equal(layer.bias.size(), weight.rows()), errc::shape_mismatch,
               "projected rows", "bias", text("none or {} numbers", weight.rows()), layer.bias.size());
  found.throw_if_any();
  std::vector<T> out;
  for (index_t n = 0; n < rows.rows(); ++n) {
    for (index_t unit = 0; unit < weight.rows(); ++unit) {
      double sum = layer.bias.empty() ? 0.0 : static_cast<double>(layer.bias[static_cast<std::size_t>(unit)]);
      for (index_t d = 0; d < rows.columns(); ++d) {
        sum += static_cast<double>(rows(n, d)) * static_cast<double>(weight(unit, d));
      }
      out.push_back(static_cast<T>(sum));
    }
  }
  return {out, rows.rows(), weight.rows()};
}

/// A layer normalisation. Shapes: gain and bias [width].
template <class T>
struct normalization {
  std::span<const T> gain;
  std::span<const T> bias;
  required<double> epsilon;
};

/// (row - mean) / sqrt(variance + epsilon) * gain + bias, in double and rounded once: what TUPE, and DeBERTa with
/// norm_rel_ebd, do to a table before they project it. The variance is formed from the row over a power of two, so that
/// no size of numbers is lost.
/// Shapes: rows [n, width].
/// Throws: errc::shape_mismatch unless gain and bias have the rows' width; errc::non_finite for an epsilon that is
///         negative or not finite, a row without a spread where epsilon adds none, and a result that does not fit in T.
/// Source: the TUPE release, pos_ln; the DeBERTa release, norm_rel_ebd.
template <class T>
[[nodiscard]] table<T> normalized_rows(const table<T>& rows, const normalization<T>& layer) {
  const index_t width = rows.columns();
  violations found;
  found.expect(std::cmp_equal(layer.gain.size(), width), errc::shape_mismatch, "normalized rows", "gain", width,
               layer.gain.size());
  found.expect(std::cmp_equal(layer.bias.size(), width), errc::shape_mismatch, "normalized rows", "bias", width,
               layer.bias.size());
  const double epsilon = layer.epsilon;
  found.expect(std::isfinite(epsilon) && epsilon >= 0.0, errc::non_finite, "normalized rows", "epsilon",
               "a finite number of at least 0", epsilon);
  found.throw_if_any();
  const auto count = static_cast<double>(width);
  std::vector<T> out;
  std::vector<double> row(static_cast<std::size_t>(width));
  for (index_t n = 0; n < rows.rows(); ++n) {
    double largest = std::sqrt(epsilon);
    for (const T value : rows.row(n)) largest = std::max(largest, std::abs(static_cast<double>(value)));
    const double unit_of_row = largest > 0.0 ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
    std::transform(rows.row(n).begin(), rows.row(n).end(), row.begin(),
                   [&](T value) { return static_cast<double>(value) / unit_of_row; });
    double mean = row.front();  // of equal numbers it is that number
    for (const double value : row) mean += (value - row.front()) / count;
    double variance = 0.0;
    for (const double value : row) variance += std::pow(value - mean, 2) / count;
    const double divisor = std::sqrt(variance + epsilon / unit_of_row / unit_of_row);
    require(std::isfinite(divisor) && divisor > 0.0, errc::non_finite, "normalized rows",
            text("sqrt(variance + epsilon) of row {}", n), "a finite number above 0", divisor);
    for (std::size_t d = 0; d < layer.gain.size(); ++d) {
      const double unit = (row[d] - mean) / divisor;
      out.push_back(static_cast<T>(unit * static_cast<double>(layer.gain[d]) + static_cast<double>(layer.bias[d])));
    }
  }
  return {out, rows.rows(), width};
}

}  // namespace posgeo::content
