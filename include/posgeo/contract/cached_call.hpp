// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/contract/kv_cache.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace posgeo::contract {

/// A request that reads a cache.
struct cached_request {
  const kv_cache& cache;
  const cache_identity& request;  ///< what the request takes the cache for
  required<index_t> rows;         ///< new rows of the request
};

namespace detail {

inline void check_uses(std::span<const cached_request> uses, std::string_view object) {
  require(!uses.empty(), errc::empty_batch, object, "caches", "at least 1", 0);
  const coordinate_frame frame = uses.front().cache.identity().frame;
  for (const cached_request& use : uses) {
    use.cache.require_usable(use.request, object);
    constexpr index_t most = index_t{1} << 31;
    require(use.rows >= 1 && use.rows <= most, errc::cache_operation, object, "new rows", "from 1 to 2^31",
            index_t{use.rows});
    const coordinate_frame other = use.cache.identity().frame;
    require(other == frame, errc::frame_mismatch, object, "coordinate frame of a cache", frame.name(), other.name());
  }
}

inline call_kind kind_of(std::span<const cached_request> uses) {
  const bool single = std::all_of(uses.begin(), uses.end(), [](const cached_request& use) { return use.rows == 1; });
  return single ? call_kind::decode_step : call_kind::prefill_chunk;
}

/// Explicit rows of one side, entry after entry, each filled up with padding.
class spelled_side {
 public:
  explicit spelled_side(index_t rows) : rows_(rows) {}
  void push(index_t at, index_t sequence) {
    spelled_.positions.push_back(at);
    spelled_.sequences.push_back(sequence);
    spelled_.active.push_back(1);
  }
  void end_entry(index_t sequence) {
    ++entries_;
    const auto filled = static_cast<std::size_t>(entries_ * rows_);
    spelled_.positions.resize(filled, 0);
    spelled_.sequences.resize(filled, sequence);
    spelled_.active.resize(filled, 0);
  }
  [[nodiscard]] row_space space(const coordinate_frame& frame) && {
    return {entries_, rows_, std::move(spelled_), frame, stream::decoder};
  }

 private:
  index_t rows_;
  index_t entries_ = 0;
  explicit_rows spelled_;
};

}  // namespace detail

/// The call of the next rows of each request, which stand at the committed length and are not yet appended. Key rows
/// are the stored ones in the order of positions, each at its own, then the new ones, then padding: affine spans where
/// no cache has holes. A decode step if every request has one new row, else a prefill chunk.
/// Throws: errc::cache_identity for a cache of another identity than the request's; errc::cache_operation for one whose
///         keys owe a shift and for less than one new row; errc::frame_mismatch for caches of two frames;
///         errc::empty_batch without a cache.
[[nodiscard]] inline position_call next_call(std::span<const cached_request> uses) {
  detail::check_uses(uses, "next call");
  const auto count = static_cast<index_t>(uses.size());
  const auto of = [&](index_t b) -> const cached_request& { return uses[static_cast<std::size_t>(b)]; };
  const coordinate_frame frame = uses.front().cache.identity().frame;
  index_t query_rows = 0;
  index_t key_rows = 0;
  bool contiguous = true;
  for (const cached_request& use : uses) {
    query_rows = std::max(query_rows, index_t{use.rows});
    key_rows = std::max(key_rows, use.cache.size() + use.rows);
    contiguous = contiguous && use.cache.contiguous();
  }
  const auto query = [&](index_t b) {
    return affine_rows{of(b).cache.committed_length(), 0, of(b).rows, of(b).cache.identity().sequence};
  };
  const auto cache = [&](index_t b) { return cache_state{of(b).cache.committed_length(), of(b).cache.size()}; };
  call_description call{.kind = detail::kind_of(uses),
                        .query = {query_rows, {count, query}, frame, stream::decoder},
                        .key = {},
                        .cache = {count, cache}};
  if (contiguous) {
    const auto key = [&](index_t b) {
      const kv_cache& c = of(b).cache;
      return affine_rows{c.committed_length() - c.size(), 0, c.size() + of(b).rows, c.identity().sequence};
    };
    call.key = {key_rows, {count, key}, frame, stream::decoder};
    return position_call{std::move(call)};
  }
  detail::spelled_side keys(key_rows);
  for (const cached_request& use : uses) {
    const index_t sequence = use.cache.identity().sequence;
    use.cache.each_row([&](const cached_row& row) { keys.push(row.at.value(), sequence); });
    for (index_t n = 0; n < use.rows; ++n) keys.push(use.cache.committed_length() + n, sequence);
    keys.end_entry(sequence);
  }
  call.key = std::move(keys).space(frame);
  return position_call{std::move(call)};
}
[[nodiscard]] inline position_call next_call(const cached_request& use) { return next_call({&use, 1}); }

/// The call of the last rows of a request, which are appended already. Key rows are the slots of the storage as they
/// lie, free ones being padding at position 0, so nothing is gathered.
/// Throws: what next_call throws; errc::cache_operation also if one of the last rows is not stored, and for several
///         rows where a ring buffer has overwritten keys that the first of them may have to see.
[[nodiscard]] inline position_call stored_call(const cached_request& use) {
  detail::check_uses({&use, 1}, "stored call");
  const kv_cache& cache = use.cache;
  const auto stored = cache.rows();
  const index_t new_rows = use.rows;
  require(new_rows <= cache.size(), errc::cache_operation, "stored call", "new rows",
          text("at most {} stored rows", cache.size()), new_rows);
  require(new_rows == 1 || cache.overwritten() == 0, errc::cache_operation, "stored call", "new rows",
          "1, since the ring buffer has overwritten rows", new_rows);
  require(stored.back().at.value() == cache.committed_length() - 1, errc::cache_operation, "stored call", "last row",
          text("stored at position {}", cache.committed_length() - 1), stored.back().at.value());
  const coordinate_frame frame = cache.identity().frame;
  const index_t sequence = cache.identity().sequence;
  detail::spelled_side queries(new_rows);
  const auto fresh = stored.end() - new_rows;
  for (auto row = fresh; row != stored.end(); ++row) queries.push(row->at.value(), sequence);
  queries.end_entry(sequence);
  const auto slots = static_cast<std::size_t>(index_t{cache.settings().slots});
  explicit_rows keys{std::vector<index_t>(slots, 0), std::vector<index_t>(slots, sequence),
                     std::vector<std::uint8_t>(slots, 0)};
  for (const cached_row& row : stored) {
    keys.positions[static_cast<std::size_t>(row.slot)] = row.at.value();
    keys.active[static_cast<std::size_t>(row.slot)] = 1;
  }
  const auto before = [&](index_t) { return cache_state{fresh->at.value(), cache.size() - new_rows}; };
  return position_call{{.kind = detail::kind_of({&use, 1}),
                        .query = std::move(queries).space(frame),
                        .key = {1, cache.settings().slots, std::move(keys), frame, stream::decoder},
                        .cache = {1, before}}};
}

}  // namespace posgeo::contract
