// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/memory_gradient.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/core/tensor.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace posgeo::call {

struct segment_memory_settings {
  required<index_t> layer;     ///< whose input the states are
  required<index_t> capacity;  ///< rows that are kept
  required<index_t> first_position;
  required<memory_gradient> gradient;
};

/// The input states of one layer for the next segment of each stream.
/// Shapes: streams [batch]; states [batch, rows, width].
template <class T>
struct segment {
  required<index_t> layer;
  required<index_t> first_position;  ///< where row 0 stands
  std::span<const index_t> streams;  ///< the sequence of each batch entry
  states_view<const T> states;
};

/// Memory and segment, memory first, and the call of the segment's queries against both.
template <class T>
struct extended_segment {
  tensor<T, 3> states;
  position_call call;
};

/// What one layer keeps of earlier segments: the last `capacity` of its input states. An immutable value. These are
/// hidden states, not a key/value cache: keys and values are projected from [memory; segment] again in each segment.
/// Shapes: states [batch, stored, width], where stored grows from 0 to capacity.
/// Units:  positions in tokens, from the beginning of the stream; row 0 of the memory stands at first_position().
/// Throws: when built, errc::row_count for a negative capacity, errc::layer_mismatch for a negative layer,
///         errc::negative_offset and errc::position_overflow for a first position that is no position of a stream,
///         errc::empty_batch without streams, errc::memory_mismatch for a stream twice. For a segment, extended and
///         updated alike: errc::layer_mismatch for another layer; errc::memory_mismatch for other streams, or a first
///         row that does not stand where the memory ends; errc::shape_mismatch for another batch, or another width
///         than that of the segments before, whatever was kept of them; errc::position_overflow for rows beyond the
///         positions.
/// Source: Dai et al. 2019, section 3.2; the released _update_mems with ext_len = 0.
template <class T>
class segment_memory {
 public:
  segment_memory(const segment_memory_settings& settings, std::span<const index_t> streams)
      : settings_(settings),
        streams_(streams.begin(), streams.end()),
        first_position_(settings.first_position),
        states_(std::make_shared<const tensor<T, 3>>(std::array<index_t, 3>{0, 0, 0})) {
    require(settings.capacity >= 0, errc::row_count, "segment memory", "capacity", "at least 0",
            index_t{settings.capacity});
    require(settings.layer >= 0, errc::layer_mismatch, "segment memory", "layer", "at least 0",
            index_t{settings.layer});
    require(first_position_ >= 0, errc::negative_offset, "segment memory", "first_position", "at least 0",
            first_position_);
    require(first_position_ <= position_limit, errc::position_overflow, "segment memory", "first_position",
            "an integer less than 2^62", first_position_);
    require(!streams_.empty(), errc::empty_batch, "segment memory", "streams", "at least 1", streams_.size());
    std::vector<index_t> sorted = streams_;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      require(false, errc::memory_mismatch, "segment memory", "streams", "each once", text("stream {} twice", *twice));
    }
  }

  [[nodiscard]] index_t layer() const noexcept { return settings_.layer; }
  [[nodiscard]] index_t capacity() const noexcept { return settings_.capacity; }
  [[nodiscard]] memory_gradient gradient() const noexcept { return settings_.gradient; }
  [[nodiscard]] index_t stored() const noexcept { return states_->extent(1); }
  [[nodiscard]] index_t first_position() const noexcept { return first_position_; }
  /// Where the next segment begins.
  [[nodiscard]] index_t next_position() const noexcept { return saturating_add(first_position_, stored()); }
  [[nodiscard]] states_view<const T> states() const { return std::as_const(*states_).view(); }

  /// The memory and the segment, and the call to attend with.
  [[nodiscard]] extended_segment<T> extended(const segment<T>& current) const {
    auto call = next_call(current);
    const index_t rows = stored() + current.states.extent(1);
    return {last_rows(current, rows), std::move(call)};
  }

  /// Stops the gradient of the states of [memory; segment] where the memory is detached: its rows become 0. Ask it for
  /// the gradient of the states, behind the projections: their weights learn from the memory's rows like from others.
  /// Throws: errc::shape_mismatch for fewer rows than the memory has, or another batch.
  void stop_gradient(states_view<T> d_states) const {
    require(d_states.extent(0) == static_cast<index_t>(streams_.size()) && d_states.extent(1) >= stored(),
            errc::shape_mismatch, "segment memory", "gradient of the states",
            text("{} streams and at least {} rows", streams_.size(), stored()),
            text("{} and {}", d_states.extent(0), d_states.extent(1)));
    if (gradient() == memory_gradient::attached) return;
    for (index_t b = 0; b < d_states.extent(0); ++b) {
      for (index_t row = 0; row < stored(); ++row) {
        const auto d = d_states.row(b, row);
        std::fill(d.begin(), d.end(), T{0});
      }
    }
  }

  /// The memory after the segment: the last `capacity` rows of [memory; segment].
  [[nodiscard]] segment_memory updated(const segment<T>& current) const {
    (void)next_call(current);  // refuses what extended refuses
    const index_t all = stored() + current.states.extent(1);
    segment_memory next = *this;
    next.states_ = std::make_shared<const tensor<T, 3>>(last_rows(current, std::min(all, capacity())));
    next.first_position_ = saturating_add(first_position_, all - next.stored());
    return next;
  }

 private:
  [[nodiscard]] position_call next_call(const segment<T>& current) const {
    require_next(current);
    std::vector<prefill_entry> entries;
    for (const index_t stream : streams_) {
      entries.push_back({.committed_length = current.first_position,
                         .first_position = current.first_position,
                         .length = current.states.extent(1),
                         .past_length = stored(),
                         .sequence = stream});
    }
    return prefill_chunk(
        {.entries = entries, .query_rows = current.states.extent(1), .key_rows = stored() + current.states.extent(1)});
  }

  void require_next(const segment<T>& current) const {
    violations found;
    const auto batch = static_cast<index_t>(streams_.size());
    found.expect(current.layer == settings_.layer, errc::layer_mismatch, "segment memory", "layer",
                 index_t{settings_.layer}, index_t{current.layer});
    found.expect(current.streams.size() == streams_.size(), errc::shape_mismatch, "segment", "streams", batch,
                 current.streams.size());
    found.expect(current.states.extent(0) == batch, errc::shape_mismatch, "segment", "batch", batch,
                 current.states.extent(0));
    const bool first = states_->extent(0) == 0;  // later even an empty memory has a width
    found.expect(first || current.states.extent(2) == states_->extent(2), errc::shape_mismatch, "segment", "width",
                 states_->extent(2), current.states.extent(2));
    found.throw_if_any();
    for (std::size_t b = 0; b < streams_.size(); ++b) {
      found.expect(current.streams[b] == streams_[b], errc::memory_mismatch, "segment memory",
                   text("stream of entry {}", b), streams_[b], current.streams[b]);
    }
    found.expect(current.first_position == next_position(), errc::memory_mismatch, "segment memory",
                 "first position of the segment", next_position(), index_t{current.first_position});
    found.throw_if_any();
  }

  /// The last `count` rows of [memory; segment].
  [[nodiscard]] tensor<T, 3> last_rows(const segment<T>& current, index_t count) const {
    const index_t skipped = stored() + current.states.extent(1) - count;
    tensor<T, 3> out({current.states.extent(0), count, current.states.extent(2)});
    for (index_t b = 0; b < out.extent(0); ++b) {
      for (index_t row = 0; row < count; ++row) {
        const index_t at = skipped + row;
        const auto from = at < stored() ? states().row(b, at) : current.states.row(b, at - stored());
        std::copy(from.begin(), from.end(), out.view().row(b, row).begin());
      }
    }
    return out;
  }

  segment_memory_settings settings_;
  std::vector<index_t> streams_;
  index_t first_position_;
  std::shared_ptr<const tensor<T, 3>> states_;
};

}  // namespace posgeo::call
