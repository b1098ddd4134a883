// SPDX-License-Identifier: MIT
#include <posgeo/bias/alibi.hpp>
#include <posgeo/contract/cache_record.hpp>
#include <posgeo/contract/release_tuple.hpp>
#include <posgeo/manifest/check.hpp>
#include <posgeo/manifest/of.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>

#include <array>
#include <functional>

#include "support/catch.hpp"
#include "support/manifests.hpp"
#include "support/refusal.hpp"
#include "support/toy_identity.hpp"

namespace cache_record_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;

attention model{heads{.query = 4, .key_value = 2, .dim = 6}, scale::inverse_sqrt_head_dim{},
                bias::alibi(bias::alibi_slopes::reference(4), bias::alibi_direction::causal), visible::causal{},
                visible::active{}};

/// A cache of seven tokens from `start` on, with a hole.
kv_cache cache_of(index_t start, index_t sequence, const std::function<void(cache_identity&)>& change = {}) {
  auto identity = empty_identity({visible::causal{}.describe()}, start);
  identity.sequence = sequence;
  identity.adapter = adapter_id("a4");
  identity.frame = coordinate_frame("target");
  if (change) change(identity);
  kv_cache cache(identity, {.slots = 9, .when_full = full_cache::refuse});
  cache.append(std::vector<index_t>{4, 1, 3, 8, 5, 2, 9});
  cache.evict(position{start + 1}, position{start + 3});
  return cache;
}

TEST_CASE("the cache group of a manifest is what the caches say", "[cache_record]") {
  const kv_cache a = cache_of(3, 0);
  kv_cache b = cache_of(11, 5);
  b.truncate(16);
  const std::array uses{cached_request{a, a.identity(), 2}, cached_request{b, b.identity(), 1}};
  const cache_id pool("pool 4");
  const auto plan = model.compile(next_call(uses));
  const auto record = manifest::of(plan,
                                   {.request = request_record_of(a.identity()),
                                    .key_rows = manifest::key_rows::row_indices(),
                                    .cache = cache_contract_of(uses, pool),
                                    .runtime = {a.identity().backend, a.identity().revision}},
                                   plain_hash{});
  CHECK(record.cache == stated<manifest::cache_record>(cache_record_of(uses, pool)));
  CHECK(manifest::check(record).empty());
  const manifest::cache_record& group = *record.cache.value();
  CHECK(group.cache_id == stated<cache_id>(pool));
  CHECK(group.coordinate_frame == coordinate_frame("target"));
  CHECK(group.entries == std::vector<manifest::cache_entry>{{10, 5}, {16, 3}});
  CHECK(cache_record_of({uses.data(), 1}, none).cache_id == stated<cache_id>(none));
}

TEST_CASE("a cache, a manifest and a release are compared as they are", "[cache_record]") {
  const kv_cache cache = cache_of(3, 0);
  const cached_request use{cache, cache.identity(), 1};
  const auto group = cache_record_of({&use, 1}, none);
  const auto request = request_record_of(cache.identity());
  const release_tuple tuple{.release_id = release_id("12"),
                            .checkpoint_id = checkpoint_id("3f9a"),
                            .position_method = description("causal"),
                            .table_rows = 0,
                            .config_max_position_embeddings = 4096,
                            .position_id_policy = position_id_policy("from 3"),
                            .adapter_id = adapter_id("a4"),
                            .runtime_backend = backend_id("cpu")};
  CHECK(group.release_id == tuple.release_id);
  CHECK(group.checkpoint_id == tuple.checkpoint_id);
  CHECK(request.request_id == cache.identity().request);
  CHECK(request.release_id == tuple.release_id);
  CHECK(request.checkpoint_id == tuple.checkpoint_id);
  CHECK(request.adapter_id == tuple.adapter_id);
  CHECK(cache.identity().backend == tuple.runtime_backend);
}

TEST_CASE("caches that no one contract covers are refused", "[cache_record]") {
  const kv_cache one = cache_of(3, 0);
  const auto refused = [&one](const kv_cache& other, errc code, const std::string& words) {
    const std::array uses{cached_request{one, one.identity(), 1}, cached_request{other, other.identity(), 1}};
    for (const error& thrown :
         {refusal([&] { (void)cache_contract_of(uses, none); }), refusal([&] { (void)cache_record_of(uses, none); })}) {
      CHECK(thrown.code() == code);
      CHECK(std::string(thrown.what()) == words);
    }
  };
  refused(cache_of(3, 1, [](cache_identity& c) { c.checkpoint = checkpoint_id("3f9b"); }), errc::cache_identity,
          "cache, checkpoint: expected 3f9a, got 3f9b");
  refused(cache_of(3, 1, [](cache_identity& c) { c.release = release_id("13"); }), errc::cache_identity,
          "cache, release: expected 12, got 13");
  refused(cache_of(3, 1, [](cache_identity& c) { c.frame = coordinate_frame("source"); }), errc::frame_mismatch,
          "cache contract, coordinate frame of a cache: expected target, got source");
  CHECK(refusal([] { (void)cache_contract_of({}, none); }).code() == errc::empty_batch);
  auto wanted = one.identity();
  wanted.mask = mask_id("prefix 2");
  const cached_request other{one, wanted, 1};
  CHECK(std::string(refusal([&] {
                      (void)cache_record_of({&other, 1}, none);
                    }).what()) == "cache, mask: expected prefix 2, got causal");
}

}  // namespace cache_record_test
