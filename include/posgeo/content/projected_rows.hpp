// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/table.hpp>

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
  double epsilon;
};

/// (row - mean) / sqrt(variance + epsilon) * gain + bias, in double and rounded once: what TUPE, and DeBERTa with
/// norm_rel_ebd, do to a table before they project it.
/// Shapes: rows [n, width].
/// Throws: errc::shape_mismatch unless gain and bias have the rows' width.
/// Source: the TUPE release, pos_ln; the DeBERTa release, norm_rel_ebd.
template <class T>
[[nodiscard]] table<T> normalized_rows(const table<T>& rows, const normalization<T>& layer) {
  const index_t width = rows.columns();
  violations found;
  found.expect(std::cmp_equal(layer.gain.size(), width), errc::shape_mismatch, "normalized rows", "gain", width,
               layer.gain.size());
  found.expect(std::cmp_equal(layer.bias.size(), width), errc::shape_mismatch, "normalized rows", "bias", width,
               layer.bias.size());
  found.throw_if_any();
  const auto count = static_cast<double>(width);
  std::vector<T> out;
  for (index_t n = 0; n < rows.rows(); ++n) {
    double mean = 0.0;
    double variance = 0.0;
    for (const T value : rows.row(n)) mean += static_cast<double>(value) / count;
    for (const T value : rows.row(n)) variance += std::pow(static_cast<double>(value) - mean, 2) / count;
    const double divisor = std::sqrt(variance + layer.epsilon);
    for (std::size_t d = 0; d < layer.gain.size(); ++d) {
      const double unit = (static_cast<double>(rows.row(n)[d]) - mean) / divisor;
      out.push_back(static_cast<T>(unit * static_cast<double>(layer.gain[d]) + static_cast<double>(layer.bias[d])));
    }
  }
  return {out, rows.rows(), width};
}

}  // namespace posgeo::content
