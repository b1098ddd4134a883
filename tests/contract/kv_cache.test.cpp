// SPDX-License-Identifier: MIT
#include <posgeo/contract/kv_cache.hpp>
#include <posgeo/frequency/dynamic_ntk.hpp>
#include <posgeo/frequency/geometric.hpp>

#include <functional>
#include <map>
#include <set>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"
#include "support/toy_identity.hpp"

namespace kv_cache_test {

using namespace posgeo;
using namespace posgeo::test;
using namespace posgeo::contract;

using ids = std::vector<index_t>;

transform::rotary<frequency::geometric> turning(double base = 100.0) {
  return {frequency::geometric({.base = base, .rotary_dim = 4}), {.pairs = transform::pairing::halves}};
}
std::vector<description> rotated() { return {turning().describe(), description("causal")}; }

kv_cache cache_of(index_t slots, full_cache when_full, index_t start = 0) {
  return {empty_identity(rotated(), start), {.slots = slots, .when_full = when_full}};
}
kv_cache growing(index_t slots, index_t start = 0) { return cache_of(slots, full_cache::refuse, start); }
kv_cache ring(index_t slots, index_t start = 0) { return cache_of(slots, full_cache::overwrite_oldest, start); }

std::vector<position> places(const ids& at) {
  std::vector<position> out;
  for (const index_t p : at) out.emplace_back(p);
  return out;
}
ids positions(const kv_cache& cache) {
  ids at;
  cache.each_row([&at](const cached_row& row) { at.push_back(row.at.value()); });
  return at;
}
ids slots(const kv_cache& cache) {
  ids at;
  for (const cached_row& row : cache.rows()) at.push_back(row.slot);
  return at;
}
void expect_refused(const std::function<void()>& action, const std::string& words, errc code = errc::cache_operation) {
  CAPTURE(words);
  const error refused = refusal(action);
  CHECK(refused.code() == code);
  CHECK(std::string(refused.what()).find(words) != std::string::npos);
}

TEST_CASE("appended rows have the positions they are told and the lowest free slots", "[kv_cache]") {
  auto cache = growing(6, 16);
  CHECK(cache.append(ids{7, 8}) == ids{0, 1});
  CHECK(cache.append(ids{9, 4, 4}, places({18, 21, 22})) == ids{2, 3, 4});
  CHECK(positions(cache) == ids{16, 17, 18, 21, 22});
  CHECK(cache.size() == 5);
  CHECK(cache.committed_length() == 23);
  CHECK_FALSE(cache.contiguous());
  CHECK(cache.identity().tokens == token_ids({7, 8, 9, 4, 4}));
  CHECK(index_t{cache.identity().committed_length} == 23);
  CHECK(cache.identity().start == stated<position>(position{16}));
}

TEST_CASE("appending twice is appending once", "[kv_cache]") {
  for (const auto make : {growing, ring}) {
    for (const index_t at : {0, 5}) {
      auto twice = make(7, at);
      twice.append(ids{3, 1, 4});
      twice.append(ids{1, 5});
      auto once = make(7, at);
      CHECK_FALSE(twice == once);
      once.append(ids{3, 1, 4, 1, 5});
      CHECK(twice == once);
    }
  }
}

TEST_CASE("a fork grows without the original", "[kv_cache]") {
  auto cache = growing(8);
  cache.append(ids{3, 1, 4});
  const kv_cache before = cache;
  auto other = cache.fork(request_id("r7"), 5);
  CHECK(index_t{other.identity().sequence} == 5);
  CHECK(other.rows() == cache.rows());
  other.append(ids{9});
  other.evict(position{0}, position{1});
  CHECK(cache == before);
  CHECK(positions(other) == ids{1, 2, 3});
  cache.append(ids{2});
  CHECK(positions(other) == ids{1, 2, 3});
}

TEST_CASE("truncation after appending gives back what was there", "[kv_cache]") {
  auto cache = growing(9, 4);
  cache.append(ids{3, 1, 4, 1});
  cache.evict(position{5}, position{6});
  const kv_cache before = cache;
  cache.append(ids{5, 9, 2});
  CHECK(slots(cache) == ids{0, 2, 3, 1, 4, 5});  // the freed slot is used first
  cache.truncate(8);
  CHECK(cache == before);
  cache.truncate(6);
  CHECK(positions(cache) == ids{4});
  CHECK(cache.committed_length() == 6);
  CHECK(cache.identity().tokens == token_ids({3, 1}));
  cache.truncate(4);
  CHECK(cache.size() == 0);
  CHECK(cache.append(ids{8}) == ids{0});
}

TEST_CASE("evicted rows leave their positions to nobody", "[kv_cache]") {
  auto cache = growing(8);
  cache.append(ids{0, 1, 2, 3, 4, 5});
  cache.evict(position{1}, position{3});
  const auto some = places({5, 3});
  cache.evict(some);
  CHECK(positions(cache) == ids{0, 4});
  CHECK(cache.size() == 2);
  CHECK(cache.committed_length() == 6);
  CHECK_FALSE(cache.contiguous());
  cache.append(ids{6});
  CHECK(positions(cache) == ids{0, 4, 6});
  cache.evict(position{0}, position{5});
  CHECK(cache.contiguous());
}

TEST_CASE("a ring of c slots holds the last c positions", "[kv_cache]") {
  for (const index_t c : {1, 3, 5}) {
    auto one_by_one = ring(c, 2);
    for (index_t n = 1; n <= 2 * c + 3; ++n) {
      one_by_one.append(ids{n});
      ids last;
      for (index_t p = std::max(index_t{2}, 2 + n - c); p < 2 + n; ++p) last.push_back(p);
      CHECK(positions(one_by_one) == last);
      CHECK(one_by_one.overwritten() == std::max(index_t{0}, n - c));
      CHECK(one_by_one.contiguous());
      auto at_once = ring(c, 2);
      ids all;
      for (index_t k = 1; k <= n; ++k) all.push_back(k);
      const ids written = at_once.append(all);
      CHECK(at_once == one_by_one);
      for (index_t k = 0; k < n; ++k) CHECK(written[static_cast<std::size_t>(k)] == k % c);
    }
  }
}

TEST_CASE("a ring goes back behind overwritten rows only when told", "[kv_cache]") {
  auto cache = ring(3);
  cache.append(ids{0, 1, 2});
  auto unwrapped = cache;
  unwrapped.truncate(1);
  CHECK(positions(unwrapped) == ids{0});
  cache.append(ids{3, 4});
  expect_refused([&] { cache.truncate(4); }, "truncate, row at position 1: expected stored");
  CHECK(positions(cache) == ids{2, 3, 4});
  cache.truncate(4, overwritten_rows::given_up);
  CHECK(positions(cache) == ids{2, 3});
  CHECK(cache.overwritten() == 2);
  // Row 5 overwrites row 2, which stays; going back behind both loses nothing.
  cache.append(ids{4, 5});
  cache.truncate(0, overwritten_rows::given_up);
  CHECK(cache.size() == 0);
  CHECK(cache.overwritten() == 0);
}

TEST_CASE("a prefix serves another request with the same beginning", "[kv_cache]") {
  auto cache = growing(8, 16);
  cache.append(ids{3, 1, 4, 1, 5});
  auto wanted = cache.identity();
  wanted.request = request_id("r8");
  wanted.sequence = 2;
  wanted.tokens = token_ids({3, 1, 4, 7, 7, 7, 7});
  wanted.committed_length = 23;
  const kv_cache taken = cache.prefix(3, wanted);
  CHECK(positions(taken) == ids{16, 17, 18});
  CHECK(slots(taken) == ids{0, 1, 2});
  CHECK(taken.committed_length() == 19);
  CHECK(taken.identity().request == request_id("r8"));
  CHECK(index_t{taken.identity().sequence} == 2);
  CHECK(taken.identity().tokens == token_ids({3, 1, 4}));
  CHECK(cache.size() == 5);
  CHECK(cache.prefix(0, wanted).size() == 0);
  CHECK(cache.prefix(0, wanted).committed_length() == 16);

  expect_refused([&] { (void)cache.prefix(4, wanted); }, "cache, token 3: expected 7, got 1", errc::cache_identity);
  expect_refused([&] { (void)cache.prefix(6, wanted); }, "tokens of the cache: expected from 0 to 5, got 6");
  expect_refused([&] { (void)cache.prefix(-1, wanted); }, "got -1");
  auto short_request = wanted;
  short_request.tokens = token_ids({3});
  expect_refused([&] { (void)cache.prefix(2, short_request); }, "tokens of the request");
  const auto expect_field = [&](const std::string& field, const auto& change) {
    auto other = wanted;
    change(other);
    expect_refused([&] { (void)cache.prefix(3, other); }, "cache, " + field + ": expected", errc::cache_identity);
  };
  expect_field("salt", [](cache_identity& c) { c.salt = cache_salt("tenant 4"); });
  expect_field("start position", [](cache_identity& c) { c.start = position{0}; });
  expect_field("method, rotary, frequencies, base", [](cache_identity& c) {
    c.method = {turning(500.0).describe(), description("causal")};
  });
  expect_field("implementation revision", [](cache_identity& c) { c.revision = implementation_revision("2"); });

  cache.evict(position{17}, position{18});
  expect_refused([&] { (void)cache.prefix(3, wanted); }, "prefix, row at position 17: expected stored, got gone");
  CHECK(positions(cache.prefix(1, wanted)) == ids{16});
}

TEST_CASE("rows that saw later ones do not go without them", "[kv_cache]") {
  kv_cache cache(empty_identity({turning().describe(), description("everything")}),
                 {.slots = 8, .when_full = full_cache::refuse});
  cache.append(ids{3, 1, 4});
  auto wanted = cache.identity();
  wanted.request = request_id("r8");
  expect_refused([&] { (void)cache.prefix(2, wanted); }, "a method that shows later rows");
  expect_refused([&] { cache.truncate(2); }, "a method that shows later rows");
  CHECK(cache.prefix(3, wanted).size() == 3);
  CHECK_NOTHROW(cache.truncate(3));
}

TEST_CASE("what would make the books untrue is refused and changes nothing", "[kv_cache]") {
  auto cache = growing(4, 16);
  cache.append(ids{3, 1});
  const kv_cache before = cache;
  expect_refused([&] { cache.append(ids{1}, places({17})); }, "append, position of token 0: expected at least 18");
  expect_refused([&] { cache.append(ids{1, 2}, places({19, 19})); }, "position of token 1: expected at least 20");
  expect_refused([&] { cache.append(ids{1, 2}, places({19})); }, "append, positions: expected 2 tokens, got 1");
  expect_refused([&] { cache.append(ids{1, 2, 3}); }, "append, rows: expected at most 2 free slots, got 3");
  expect_refused([&] { cache.append(ids{1}, places({position_limit})); }, "position of token 0",
                 errc::position_overflow);
  expect_refused([&] { cache.truncate(19); }, "truncate, committed length: expected from 16 to 18, got 19");
  expect_refused([&] { cache.truncate(15); }, "truncate, committed length");
  expect_refused([&] { cache.evict(position{18}, position{30}); }, "expected at least 1, got 0");
  expect_refused([&] { cache.evict(places({16, 18})); }, "row at position 18: expected stored, got never committed");
  expect_refused([&] { cache.evict(places({17, 16, 17})); }, "each once, got position 17 twice");
  CHECK(cache == before);
  cache.evict(places({17}));
  expect_refused([&] { cache.evict(places({17})); }, "row at position 17: expected stored, got gone");
  auto fresh = growing(4, 16);
  expect_refused([&] { fresh.append(ids{1}, places({20})); },
                 "position of token 0: expected start position 16, got 20");
}

TEST_CASE("an empty cache must be empty", "[kv_cache]") {
  const auto expect_bad = [](const std::string& words, const auto& change) {
    auto identity = empty_identity(rotated(), 16);
    kv_cache_settings settings{.slots = 4, .when_full = full_cache::refuse};
    change(identity, settings);
    expect_refused([&] { (void)kv_cache(identity, settings); }, "empty cache, " + words);
  };
  expect_bad("slots: expected from 1", [](auto&, auto& s) { s.slots = 0; });
  expect_bad("tokens: expected none, got 1", [](auto& c, auto&) { c.tokens = token_ids({4}); });
  expect_bad("committed length: ", [](auto& c, auto&) {
    c.committed_length = -1;
    c.start = none;
  });
  expect_bad("start position: expected committed length 16, got 0", [](auto& c, auto&) { c.start = position{0}; });
  expect_bad("offset of the baked transform: expected 0, got -3",
             [](auto& c, auto&) { c.baked = baked_transform{.transform = turning().describe(), .offset = -3}; });
}

TEST_CASE("a cache is used under its own identity only", "[kv_cache]") {
  auto cache = growing(4);
  cache.append(ids{3, 1});
  auto request = cache.identity();
  CHECK_NOTHROW(cache.require_usable(request, "toy"));
  request.mask = mask_id("prefix 2");
  request.format = precision::binary32;
  expect_refused([&] { cache.require_usable(request, "toy"); }, "cache, mask: expected prefix 2, got causal",
                 errc::cache_identity);
}

// Re-anchoring.

TEST_CASE("keys as they were projected move without a debt", "[kv_cache]") {
  auto cache = growing(8, 3);
  cache.append(ids{3, 1, 4, 1});
  cache.evict(position{3}, position{5});
  cache.reanchor(relative_offset{-5});
  CHECK(positions(cache) == ids{0, 1});
  CHECK(cache.committed_length() == 2);
  CHECK(cache.owed() == relative_offset{0});
  CHECK(cache.identity().start == stated<position>(position{-2}));
  CHECK(cache.identity().tokens == token_ids({3, 1, 4, 1}));
  cache.append(ids{6});
  CHECK(positions(cache) == ids{0, 1, 2});
  cache.truncate(1);
  CHECK(positions(cache) == ids{0});
  cache.reanchor(relative_offset{7});
  CHECK(positions(cache) == ids{7});
}

TEST_CASE("rotated keys owe the shift until they are turned", "[kv_cache]") {
  const auto turn = turning();
  auto identity = empty_identity({turn.describe(), description("causal")}, 3);
  identity.baked = baked_transform{.transform = turn.describe(), .offset = 0};
  kv_cache cache(identity, {.slots = 6, .when_full = full_cache::refuse});
  cache.append(ids{3, 1, 4, 1, 5});
  const auto raw = random_tensor<double, 4>({2, 3, 6, 5}, 70);
  auto keys = raw;
  for (const cached_row& row : cache.rows()) {
    for (index_t h = 0; h < 3; ++h) turn.rotate(row.at, keys.view().row(1, h, row.slot));
  }
  cache.evict(position{3}, position{5});
  const auto request = cache.identity();
  cache.reanchor(relative_offset{-4});
  cache.reanchor(relative_offset{-1});
  CHECK(cache.owed() == relative_offset{-5});
  CHECK(positions(cache) == ids{0, 1, 2});
  CHECK(index_t{cache.identity().baked.value()->offset} == 5);
  expect_refused([&] { cache.append(ids{2}); }, "append, stored keys: expected turned for where they stand");
  expect_refused([&] { (void)cache.prefix(0, request); }, "cache, start position: expected 3, got -2",
                 errc::cache_identity);
  expect_refused([&] { (void)cache.prefix(0, cache.identity()); }, "keys that owe a shift of -5");
  expect_refused([&] { cache.require_usable(cache.identity(), "toy"); }, "toy, stored keys");
  CHECK(differences(cache.identity(), request).size() == 3);  // committed length, start position, baked offset

  auto view = keys.view();
  expect_refused([&] { cache.turn_keys(turning(500.0), view, batch_index{1}); },
                 "turn keys, rotary, frequencies, base");
  expect_refused([&] { cache.turn_keys(turn, view, batch_index{2}); }, "turn keys, batch entry");
  auto small = random_tensor<double, 4>({2, 3, 5, 5}, 71);
  expect_refused([&] { cache.turn_keys(turn, small.view(), batch_index{1}); }, "turn keys, batch entry");
  cache.turn_keys(turn, view, batch_index{1});
  CHECK(cache.owed() == relative_offset{0});
  auto fresh = raw;
  for (const cached_row& row : cache.rows()) {
    for (index_t h = 0; h < 3; ++h) {
      turn.rotate(row.at, fresh.view().row(1, h, row.slot));
      CHECK(largest_difference(keys.view().row(1, h, row.slot), fresh.view().row(1, h, row.slot)) < 1e-14);
    }
  }
  CHECK(largest_difference(keys.view().row(0, 1, 2), raw.view().row(0, 1, 2)) == 0.0);  // another entry's key
  CHECK(largest_difference(keys.view().row(1, 1, 5), raw.view().row(1, 1, 5)) == 0.0);  // a free slot
  cache.append(ids{2});
  CHECK(positions(cache) == ids{0, 1, 2, 3});
}

TEST_CASE("keys that cannot be turned are refused before the first is", "[kv_cache]") {
  const auto turn = turning();
  auto identity = empty_identity({turn.describe(), description("causal")}, 1);
  identity.baked = baked_transform{.transform = turn.describe(), .offset = 0};
  kv_cache cache(identity, {.slots = 2, .when_full = full_cache::refuse});
  cache.append(ids{3, 1}, places({1, angle_position_limit - 2}));
  cache.reanchor(relative_offset{3});
  const auto before = random_tensor<double, 4>({1, 2, 2, 4}, 72);
  auto keys = before;
  auto view = keys.view();
  expect_refused([&] { cache.turn_keys(turn, view, batch_index{0}); }, "position", errc::position_precision);
  CHECK(largest_difference(keys.values(), before.values()) == 0.0);
  CHECK(cache.owed() == relative_offset{3});
}

TEST_CASE("a shift is refused where more than differences is read", "[kv_cache]") {
  const auto made_under = [](std::vector<description> method, const stated<baked_transform>& baked) {
    auto identity = empty_identity(std::move(method));
    identity.baked = baked;
    kv_cache cache(identity, {.slots = 4, .when_full = full_cache::refuse});
    cache.append(ids{3, 1});
    return cache;
  };
  const auto expect_kept = [&](std::vector<description> method, const stated<baked_transform>& baked,
                               const std::string& words) {
    auto cache = made_under(std::move(method), baked);
    const kv_cache before = cache;
    expect_refused([&] { cache.reanchor(relative_offset{2}); }, words);
    CHECK(cache == before);
  };
  const description causal("causal");
  const auto baked = [](const description& transform) { return baked_transform{.transform = transform, .offset = 0}; };
  expect_kept({description("learned_absolute"), causal}, none, "got learned_absolute, which reads where rows stand");
  expect_kept({causal, description("sinusoidal")}, none, "got sinusoidal, which reads where rows stand");
  expect_kept({causal, description("a mechanism of somebody")}, none, "which reads where rows stand");
  const transform::rotary dynamic(
      frequency::dynamic_ntk(
          {.base = 100.0, .rotary_dim = 4, .factor = 2.0, .original_max_position = 4, .sequence_length = 8}),
      {.pairs = transform::pairing::halves});
  expect_kept({dynamic.describe(), causal}, none, "got dynamic_ntk");
  expect_kept({causal}, baked(dynamic.describe()), "reanchor, baked transform: expected a rotation");
  expect_kept({causal}, baked(description("xpos")), "got xpos");
  expect_kept({causal}, baked(description("alibi")), "got alibi");
  auto cache = made_under({turning().describe(), causal}, baked(turning().describe()));
  expect_refused([&] { cache.reanchor(relative_offset{-1}); }, "reanchor, first position: expected at least 0, got -1");
  expect_refused([&] { cache.reanchor(relative_offset{position_limit}); }, "reanchor, position",
                 errc::position_overflow);
  CHECK_NOTHROW(cache.reanchor(relative_offset{2}));
  auto raw = made_under({causal}, none);
  auto keys = random_tensor<double, 4>({1, 1, 4, 4}, 73);
  auto view = keys.view();
  expect_refused([&] { raw.turn_keys(turning(), view, batch_index{0}); }, "turn keys, baked transform");
}

// Against a plain model.

/// What a cache must be, kept in the plainest way.
struct plain_cache {
  struct token {
    index_t id;
    index_t slot;  ///< -1 once it is gone
    index_t displaced;
  };
  index_t capacity;
  index_t length;
  std::map<index_t, token> tokens;

  [[nodiscard]] std::set<index_t> free() const {
    std::set<index_t> out;
    for (index_t s = 0; s < capacity; ++s) out.insert(s);
    for (const auto& [at, t] : tokens) out.erase(t.slot);
    return out;
  }
  void append(index_t id, index_t at) {
    index_t displaced = -1;
    if (free().empty()) {
      for (auto& [where, t] : tokens) {
        if (t.slot < 0) continue;
        t.slot = -1;
        displaced = where;
        break;
      }
    }
    const index_t slot = *free().begin();
    tokens[at] = {id, slot, displaced};
    length = at + 1;
  }
  [[nodiscard]] bool loses(index_t to) const {
    for (const auto& [at, t] : tokens) {
      if (at >= to && t.displaced >= 0 && t.displaced < to) return true;
    }
    return false;
  }
  void truncate(index_t to) {
    tokens.erase(tokens.lower_bound(to), tokens.end());
    length = to;
  }
  void shift(index_t by) {
    std::map<index_t, token> moved;
    for (const auto& [at, t] : tokens) moved[at + by] = {t.id, t.slot, t.displaced < 0 ? -1 : t.displaced + by};
    tokens = std::move(moved);
    length += by;
  }
};

void expect_equal(const kv_cache& cache, const plain_cache& plain) {
  std::vector<cached_row> rows;
  ids tokens;
  for (const auto& [at, t] : plain.tokens) {
    if (t.slot >= 0) rows.push_back({position{at}, t.slot});
    tokens.push_back(t.id);
  }
  REQUIRE(cache.rows() == rows);
  REQUIRE(std::cmp_equal(cache.size(), rows.size()));
  REQUIRE(cache.committed_length() == plain.length);
  REQUIRE(cache.identity().tokens.ids() == tokens);
  bool contiguous = true;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    contiguous = contiguous && rows[n].at.value() == plain.length - static_cast<index_t>(rows.size() - n);
  }
  REQUIRE(cache.contiguous() == contiguous);
}

TEST_CASE("random operations leave what a plain model says", "[kv_cache]") {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    dice roll(seed);
    const bool wraps = seed % 2 == 0;
    const index_t capacity = roll.between(3, 9);
    const index_t start = roll.between(0, 5);
    kv_cache cache = wraps ? ring(capacity, start) : growing(capacity, start);
    plain_cache plain{capacity, start, {}};
    index_t applied = 0;
    for (int step = 0; step < 4000; ++step) {
      CAPTURE(seed, step);
      switch (roll.between(0, 5)) {
        case 0:
        case 1: {
          const auto new_ids = roll.row(roll.between(0, 4), 0, 99);
          ids at;
          index_t next = plain.length;
          for (std::size_t n = 0; n < new_ids.size(); ++n) {
            const bool first = plain.tokens.empty() && n == 0;
            at.push_back(next + (!first && roll.chance(0.2) ? roll.between(1, 3) : 0));
            next = at.back() + 1;
          }
          if (!wraps && new_ids.size() > plain.free().size()) {
            CHECK(refusal([&] { cache.append(new_ids, places(at)); }).code() == errc::cache_operation);
            break;
          }
          const ids given = cache.append(new_ids, places(at));
          for (std::size_t n = 0; n < new_ids.size(); ++n) {
            plain.append(new_ids[n], at[n]);
            REQUIRE(plain.tokens.at(at[n]).slot == given[n]);
          }
          ++applied;
          break;
        }
        case 2: {
          const index_t lowest = std::max(index_t{0}, cache.identity().start.value()->value());
          const index_t to = std::max(lowest, plain.length - roll.between(0, 4));
          if (plain.loses(to)) {
            CHECK(refusal([&] { cache.truncate(to); }).code() == errc::cache_operation);
            if (roll.chance(0.5)) break;
            cache.truncate(to, overwritten_rows::given_up);
          } else {
            cache.truncate(to);
          }
          plain.truncate(to);
          ++applied;
          break;
        }
        case 3: {
          const index_t first = plain.length - roll.between(0, 2 * capacity);
          const index_t last = first + roll.between(0, 3);
          bool any = false;
          for (auto& [at, t] : plain.tokens) {
            if (at < first || at >= last || t.slot < 0) continue;
            t.slot = -1;
            any = true;
          }
          if (any) {
            cache.evict(position{first}, position{last});
            ++applied;
          } else {
            CHECK(refusal([&] { cache.evict(position{first}, position{last}); }).code() == errc::cache_operation);
          }
          break;
        }
        case 4: {
          auto other = cache.fork(request_id("r9"), roll.between(0, 9));
          if (other.size() > 0) other.evict(position{-position_limit}, position{position_limit});
          break;  // the cache is what it was
        }
        default: {
          const index_t by = roll.between(-3, 3);
          index_t lowest = plain.length;
          for (const auto& [at, t] : plain.tokens) {
            if (t.slot >= 0) lowest = std::min(lowest, at);
          }
          if (lowest + by < 0) {
            CHECK(refusal([&] { cache.reanchor(relative_offset{by}); }).code() == errc::cache_operation);
          } else {
            cache.reanchor(relative_offset{by});
            plain.shift(by);
            ++applied;
          }
        }
      }
      expect_equal(cache, plain);
      if (cache.identity().tokens.ids().size() > 60) {  // begin again, so that the plain model stays quick
        cache = wraps ? ring(capacity, start) : growing(capacity, start);
        plain = {capacity, start, {}};
      }
    }
    CHECK(applied > 1500);
  }
}

}  // namespace kv_cache_test
