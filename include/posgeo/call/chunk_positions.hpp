// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>

namespace posgeo::call {

/// Where the chunks of a long document count from.
enum class chunk_origin {
  reset,   ///< every chunk counts from 0 and is a sequence of its own
  global,  ///< positions run on through the document, which stays one sequence
};

/// A document cut into chunks, which become the entries of a batch; the last one ends in padding.
struct chunk_positions_spec {
  required<index_t> length;      ///< rows of the document
  required<index_t> chunk_rows;  ///< rows of a chunk
  required<chunk_origin> origin_of_chunks;
  coordinate_frame frame = {};
  stream origin = stream::shared;
};

/// Self-attention within each chunk: row r of the document stands at r (global) or r mod chunk_rows (reset).
///
/// Shapes: ceil(length / chunk_rows) entries of chunk_rows rows.
/// Units:  tokens.
/// Throws: errc::position_rule for a length or chunk of no rows, or more than 2^20 chunks; see position_call.
/// Source: BERT over long documents as released (reset); models that read a document piece by piece (global).
[[nodiscard]] inline position_call chunk_positions(const chunk_positions_spec& spec) {
  const index_t length = spec.length;
  const index_t size = spec.chunk_rows;
  require(length > 0, errc::position_rule, "chunk positions", "length", "at least 1", length);
  require(size > 0, errc::position_rule, "chunk positions", "chunk_rows", "at least 1", size);
  const index_t last_chunk = (length - 1) / size;
  require(last_chunk < index_t{1} << 20, errc::position_rule, "chunk positions", "last chunk", "below 2^20",
          last_chunk);
  const bool reset = spec.origin_of_chunks == chunk_origin::reset;
  const auto chunk = [&](index_t b) {
    const index_t begin = b * size;
    return affine_rows{reset ? 0 : begin, 0, std::min(size, length - begin), reset ? b : 0};
  };
  const row_space space{size, {last_chunk + 1, chunk}, spec.frame, spec.origin};
  return position_call{{.kind = call_kind::padded_batch, .query = space, .key = space, .cache = {}}};
}

}  // namespace posgeo::call
