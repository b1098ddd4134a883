// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/encode/state_encoder.hpp>

#include <algorithm>

namespace posgeo::encode {

/// Absolute positions at the place of DeBERTa's enhanced mask decoder: query states = hidden states + positions, for
/// the queries of the decoder's layers alone. Keys and values are projected from the hidden states, which stay as they
/// are. Hidden states: the input of the last encoder layer. It is no state encoder, so add_positions(...) at the input
/// does not take it. Shapes: hidden states [batch, queries, width]; the query states are a tensor of their own. Throws:
/// what add_positions throws for the encoder. Source: He et al. 2021 (DeBERTa), section 3.2, and the release, z_states
/// of its masked language model.
template <state_encoder Encoder>
class mask_decoder_positions {
 public:
  explicit mask_decoder_positions(Encoder positions) : positions_(std::move(positions)) {}

  [[nodiscard]] const Encoder& positions() const noexcept { return positions_; }
  [[nodiscard]] reads positional_reads() const noexcept requires says_reads<Encoder> {
    return positions_.positional_reads();
  }
  [[nodiscard]] positional_range range() const noexcept { return range_of(positions_); }
  [[nodiscard]] description describe() const requires described_policy<Encoder> {
    return description("mask_decoder_positions").with("positions", positions_.describe());
  }

  /// The first decoder layer's query states; each later one takes the output of the layer before it.
  template <class T>
  [[nodiscard]] tensor<T, 3> query_states(const position_call& call, states_view<const T> hidden) const {
    tensor<T, 3> states(hidden.extents());
    for (index_t b = 0; b < hidden.extent(0); ++b) {
      for (index_t row = 0; row < hidden.extent(1); ++row) {
        const auto from = hidden.row(b, row);
        std::copy(from.begin(), from.end(), states.view().row(b, row).begin());
      }
    }
    add_positions(positions_, call, states.view());
    return states;
  }
  template <class T>
  requires(!std::is_const_v<T>)
      [[nodiscard]] tensor<T, 3> query_states(const position_call& call, states_view<T> hidden) const {
    return query_states(call, states_view<const T>(hidden));
  }

 private:
  Encoder positions_;
};

}  // namespace posgeo::encode
