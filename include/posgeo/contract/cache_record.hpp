// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/cached_call.hpp>
#include <posgeo/manifest/cache.hpp>
#include <posgeo/manifest/request.hpp>

#include <span>
#include <utility>
#include <vector>

namespace posgeo::contract {

/// What a manifest says of the request that a cache was made for.
[[nodiscard]] inline manifest::request_record request_record_of(const cache_identity& of) {
  return {of.request, of.release, of.checkpoint, of.adapter};
}

/// What the rows of a call's caches were made under, to be stated of a call. `id` names where they are kept.
/// Throws: what next_call throws; errc::cache_identity for caches of two checkpoints or releases.
[[nodiscard]] inline manifest::cache_contract cache_contract_of(std::span<const cached_request> uses,
                                                                stated<cache_id> id) {
  detail::check_uses(uses, "cache contract");
  const cache_identity& first = uses.front().cache.identity();
  violations found;
  for (const cached_request& use : uses) {
    const cache_identity& other = use.cache.identity();
    detail::compare("checkpoint", other.checkpoint, first.checkpoint, found);
    detail::compare("release", other.release, first.release, found);
  }
  found.throw_if_any();
  return {std::move(id), first.frame, first.checkpoint, first.release};
}

/// The cache group of the manifest of next_call(uses): what the caches were made under, and what each has seen.
/// Throws: as cache_contract_of.
[[nodiscard]] inline manifest::cache_record cache_record_of(std::span<const cached_request> uses, stated<cache_id> id) {
  manifest::cache_contract made = cache_contract_of(uses, std::move(id));
  std::vector<manifest::cache_entry> entries;
  for (const cached_request& use : uses) entries.push_back({use.cache.committed_length(), use.cache.size()});
  return {std::move(made.cache_id), std::move(entries), made.coordinate_frame, std::move(made.checkpoint_id),
          std::move(made.release_id)};
}

}  // namespace posgeo::contract
