// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/content.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/table.hpp>
#include <posgeo/encode/state_encoder.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// From hidden states to heads: row times weights. Shapes: query [width, query heads * head_dim], key [width, key heads
/// * head_dim], value [width, key heads * value dim]; head after head.
struct projections {
  table<double> query;
  table<double> key;
  table<double> value;
};

/// Hidden states of the original rows. An encoder adds to each state what belongs where its row stands in the edited
/// call; projections make the heads. So the content depends on positions, and nothing else of it does.
/// Shapes: query_states [batch, queries, width] and key_states [batch, keys, width] of the original call.
/// Throws: errc::shape_mismatch, when rows are made, for weights that do not fit; errc::row_identity as given_content;
///         what the encoder throws for positions that it does not have.
template <class Encoder>
class encoded_content {
 public:
  encoded_content(Encoder encoder, tensor<double, 3> query_states, tensor<double, 3> key_states, projections weights)
      : encoder_(std::move(encoder)),
        query_states_(std::move(query_states)),
        key_states_(std::move(key_states)),
        weights_(std::move(weights)) {}

  [[nodiscard]] const Encoder& encoder() const noexcept { return encoder_; }
  [[nodiscard]] index_t value_dim(const heads& layout) const noexcept {
    return weights_.value.columns() / layout.key_value;
  }
  [[nodiscard]] reads positional_reads() const noexcept { return encoder_.positional_reads(); }
  [[nodiscard]] positional_range range() const noexcept { return range_of(encoder_); }
  [[nodiscard]] std::vector<description> describe() const {
    const description own = encoder_.describe();
    description whole = description(own.name()).with("family", Encoder::family::name);
    for (const description::field& field : own.fields()) whole = std::move(whole).with(field.name, field.what);
    return {std::move(whole)};
  }

  void fill(const position_call& call, const edited_call& from, const heads& layout, content_rows& rows) const {
    const tensor<double, 3> queries = states(call.query_space(), from.query_source, query_states_);
    const tensor<double, 3> keys = states(call.key_space(), from.key_source, key_states_);
    project(queries, from.query_source, weights_.query, layout.query, rows.query, "projection of the queries");
    project(keys, from.key_source, weights_.key, layout.key_value, rows.key, "projection of the keys");
    project(keys, from.key_source, weights_.value, layout.key_value, rows.value, "projection of the values");
  }

 private:
  [[nodiscard]] tensor<double, 3> states(const row_space& space, const std::vector<row_source>& sources,
                                         const tensor<double, 3>& original) const {
    tensor<double, 3> out({space.entries(), space.rows(), original.extent(2)});
    detail::each_source(sources, space.rows(), [&](index_t entry, index_t row, const row_source& source) {
      detail::expect_source(source, original.extent(0), original.extent(1));
      const auto state = original.view().row(source.entry, source.row);
      std::copy(state.begin(), state.end(), out.view().row(entry, row).begin());
    });
    const position_call rows_of_space{{.kind = call_kind::explicit_positions,
                                       .query = space,
                                       .key = space,
                                       .cache = {},
                                       .reuse = position_reuse::intended}};
    encode::add_positions(encoder_, rows_of_space, out.view());
    return out;
  }
  static void project(const tensor<double, 3>& states, const std::vector<row_source>& sources,
                      const table<double>& weights, index_t heads, tensor<double, 4>& to, std::string_view object) {
    require(weights.rows() == states.extent(2) && weights.columns() == heads * to.extent(3), errc::shape_mismatch,
            object, "rows and columns", text("{} x {}", states.extent(2), heads * to.extent(3)),
            text("{} x {}", weights.rows(), weights.columns()));
    detail::each_source(sources, states.extent(1), [&](index_t entry, index_t row, const row_source&) {
      const auto state = states.view().row(entry, row);
      for (index_t h = 0; h < heads; ++h) {
        const auto head = to.view().row(entry, h, row);
        for (std::size_t d = 0; d < head.size(); ++d) {
          double sum = 0.0;
          for (std::size_t w = 0; w < state.size(); ++w) {
            sum += state[w] * weights(static_cast<index_t>(w), h * to.extent(3) + static_cast<index_t>(d));
          }
          head[d] = sum;
        }
      }
    });
  }

  Encoder encoder_;
  tensor<double, 3> query_states_;
  tensor<double, 3> key_states_;
  projections weights_;
};

}  // namespace posgeo::audit
