// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/required.hpp>

#include <span>

namespace posgeo::call {

/// Where the sequences of a packed batch count from.
enum class packed_positions {
  restart,     ///< every sequence counts from 0
  continuing,  ///< positions run on through the packed row
};

/// Several sequences behind one another in one storage row of the batch.
struct packed_batch_spec {
  std::span<const index_t> lengths;  ///< one for each sequence; a sequence of length 0 keeps its number
  required<packed_positions> positions;
  coordinate_frame frame = {};
  stream origin = stream::shared;
};

[[nodiscard]] inline call_description describe(const packed_batch_spec& spec) {
  explicit_rows spelled;
  index_t sequence = 0;
  index_t rows = 0;
  for (const index_t length : spec.lengths) rows = length < 0 || rows < 0 ? -1 : saturating_add(rows, length);
  constexpr index_t most = index_t{1} << 32;  // beyond it the arrays stay empty, which the check refuses
  for (const index_t length : rows > most ? std::span<const index_t>{} : spec.lengths) {
    for (index_t k = 0; k < length; ++k) {
      const auto storage_row = static_cast<index_t>(spelled.positions.size());
      spelled.positions.push_back(spec.positions == packed_positions::restart ? k : storage_row);
      spelled.sequences.push_back(sequence);
    }
    ++sequence;
  }
  spelled.active.assign(spelled.positions.size(), 1);
  const row_space space{spec.lengths.empty() ? 0 : 1, rows, std::move(spelled), spec.frame, spec.origin};
  return {.kind = call_kind::packed_batch, .query = space, .key = space, .cache = {}};
}

/// The call of a packed batch: one entry whose rows belong to several sequences. An attention over it must isolate
/// segments (visible::segments), or compile refuses. Throws: see position_call.
[[nodiscard]] inline position_call packed_batch(const packed_batch_spec& spec) { return position_call{describe(spec)}; }

}  // namespace posgeo::call
