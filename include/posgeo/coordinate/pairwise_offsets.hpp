// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/tensor.hpp>

namespace posgeo::coordinate {

/// The signed displacement of every query-key pair: key - query or query - key, as declared.
/// Shapes: [batch, queries, keys].
/// Units:  those of the call's frame.
/// Throws: errc::frame_mismatch if the two sides count in different frames.
/// Source: Shaw, Uszkoreit and Vaswani 2018, section 3 (key minus query); DeBERTa's release (query minus key).
[[nodiscard]] inline tensor<index_t, 3> pairwise_offsets(const position_call& call, offset_sign sign) {
  violations found;
  expect_same_frame(call, "pairwise offsets", found);
  found.throw_if_any();
  tensor<index_t, 3> offsets({call.batch(), call.queries(), call.keys()});
  for (const batch_index b : indices<batch_index>(call.batch())) {
    for (const query_index i : indices<query_index>(call.queries())) {
      for (const key_index j : indices<key_index>(call.keys())) {
        offsets(b.value(), i.value(), j.value()) = signed_offset(call.offset(b, i, j), sign);
      }
    }
  }
  return offsets;
}

}  // namespace posgeo::coordinate
