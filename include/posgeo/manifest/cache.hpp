// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_space.hpp>
#include <posgeo/core/identifier.hpp>
#include <posgeo/core/stated.hpp>
#include <posgeo/manifest/fields.hpp>

#include <vector>

namespace posgeo::manifest {

/// What only the caller knows of a cache. A field left out does not compile, but for the frame, which is "sequence" as
/// everywhere.
struct cache_contract {
  stated<posgeo::cache_id> cache_id;
  posgeo::coordinate_frame coordinate_frame;
  posgeo::checkpoint_id checkpoint_id;
  posgeo::release_id release_id;
};

/// What the cache of one batch entry has seen. Units: tokens.
struct cache_entry {
  index_t committed_length;  ///< tokens committed so far, evicted ones included
  index_t past_seen_tokens;  ///< key rows from earlier calls that are still there
  static constexpr auto fields() {
    return std::make_tuple(field("committed_length", &cache_entry::committed_length),
                           field("past_seen_tokens", &cache_entry::past_seen_tokens));
  }
  friend bool operator==(const cache_entry&, const cache_entry&) noexcept = default;
};

/// The cache of a call and the contract that its rows were made under.
struct cache_record {
  stated<posgeo::cache_id> cache_id;
  std::vector<cache_entry> entries;
  posgeo::coordinate_frame coordinate_frame;
  posgeo::checkpoint_id checkpoint_id;
  posgeo::release_id release_id;
  static constexpr auto fields() {
    return std::make_tuple(
        field("cache_id", &cache_record::cache_id), field("entries", &cache_record::entries, "entry"),
        field("coordinate_frame", &cache_record::coordinate_frame),
        field("checkpoint_id", &cache_record::checkpoint_id), field("release_id", &cache_record::release_id));
  }
  friend bool operator==(const cache_record&, const cache_record&) noexcept = default;
};

[[nodiscard]] inline std::optional<broken_rule> broken(const cache_entry& entry) {
  if (entry.committed_length < 0)
    return broken_rule{"committed_length", "at least 0", std::to_string(entry.committed_length)};
  if (entry.past_seen_tokens < 0)
    return broken_rule{"past_seen_tokens", "at least 0", std::to_string(entry.past_seen_tokens)};
  return std::nullopt;
}

}  // namespace posgeo::manifest
