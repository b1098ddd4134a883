// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>

#include <span>

namespace posgeo::call {

/// Target rows read source rows. The two sides count in frames of their own, which no method may subtract.
struct cross_attention_spec {
  std::span<const index_t> target_lengths;  ///< active target rows of each entry; padding follows them
  std::span<const index_t> source_lengths;  ///< active source rows of each entry; padding follows them
  index_t target_rows = 0;
  index_t source_rows = 0;
  index_t first_target_position = 0;  ///< committed target tokens when decoding
  coordinate_frame target_frame = coordinate_frame{"target"};
  coordinate_frame source_frame = coordinate_frame{"source"};
};

[[nodiscard]] inline call_description describe(const cross_attention_spec& spec) {
  const auto target = [&](index_t b) {
    return affine_rows{spec.first_target_position, 0, spec.target_lengths[static_cast<std::size_t>(b)], b};
  };
  const auto source = [&](index_t b) { return affine_rows{0, 0, spec.source_lengths[static_cast<std::size_t>(b)], b}; };
  return {.kind = call_kind::cross_attention,
          .query = {spec.target_rows,
                    {static_cast<index_t>(spec.target_lengths.size()), target},
                    spec.target_frame,
                    stream::decoder},
          .key = {spec.source_rows,
                  {static_cast<index_t>(spec.source_lengths.size()), source},
                  spec.source_frame,
                  stream::encoder},
          .cache = {}};
}

/// The call of encoder-decoder cross-attention. Throws: see position_call.
[[nodiscard]] inline position_call cross_attention(const cross_attention_spec& spec) {
  return position_call{describe(spec)};
}

}  // namespace posgeo::call
