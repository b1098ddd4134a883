// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/contract/cache_identity.hpp>
#include <posgeo/contract/shift_rules.hpp>
#include <posgeo/core/tensor.hpp>
#include <posgeo/transform/key_shift.hpp>

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

namespace posgeo::contract {

/// What a new row finds when every slot is taken.
enum class full_cache {
  refuse,            ///< no place
  overwrite_oldest,  ///< the slot of the oldest row: a ring buffer
};

/// Whether a ring buffer may go back behind rows that were overwritten on the way.
enum class overwritten_rows { refused, given_up };

struct kv_cache_settings {
  required<index_t> slots;  ///< rows of the storage
  required<full_cache> when_full;
};

/// A row that is stored.
struct cached_row {
  position at;   ///< where it stands
  index_t slot;  ///< the storage row that holds it
  friend bool operator==(const cached_row&, const cached_row&) noexcept = default;
};

/// Which storage row holds the key and value of which position of one sequence, and what they were made under. It keeps
/// books and stores no keys: append says where to write them. A value: a copy shares nothing with it.
/// Units:  positions and lengths in tokens.
/// Throws: errc::cache_operation, before anything changes, for an operation that would leave the books or the keys
///         untrue; errc::cache_identity for rows that were made under another identity than the one that wants them;
///         errc::position_overflow for a position that is none.
/// Source: the positional-call manifest numinens.position-call.v1, cache.
class kv_cache {
 public:
  /// An empty cache under an identity that has no tokens yet.
  kv_cache(cache_identity identity, const kv_cache_settings& settings)
      : identity_(std::move(identity)), settings_(settings) {
    violations found;
    constexpr index_t most = index_t{1} << 31;
    const auto expect = [&found](bool ok, std::string_view axis, const auto& expected, const auto& actual) {
      found.expect(ok, errc::cache_operation, "empty cache", axis, expected, actual);
    };
    const index_t length = identity_.committed_length;
    expect(settings_.slots >= 1 && settings_.slots <= most, "slots", "from 1 to 2^31", index_t{settings_.slots});
    expect(identity_.tokens.ids().empty(), "tokens", "none", identity_.tokens.ids().size());
    expect(length >= 0 && length <= position_limit, "committed length", "from 0 to 2^62", length);
    const auto& start = identity_.start.value();
    expect(!start || start->value() == length, "start position", text("committed length {}", length),
           start.value_or(position{0}).value());
    expect(owed().value() == 0, "offset of the baked transform", 0, -owed().value());
    found.throw_if_any();
  }

  [[nodiscard]] const cache_identity& identity() const noexcept { return identity_; }
  [[nodiscard]] const kv_cache_settings& settings() const noexcept { return settings_; }
  /// Where the next token stands.
  [[nodiscard]] index_t committed_length() const noexcept { return identity_.committed_length; }
  /// Rows that are stored: the past_length of the next call.
  [[nodiscard]] index_t size() const noexcept { return stored_; }
  /// Committed rows whose slot a later row has taken.
  [[nodiscard]] index_t overwritten() const noexcept { return overwritten_; }
  /// Whether the stored rows stand next to each other and end at committed_length().
  [[nodiscard]] bool contiguous() const noexcept {
    return stored_ == 0 || committed_length() - rows_[oldest_].at == stored_;
  }
  /// What stored keys have yet to be turned by.
  [[nodiscard]] relative_offset owed() const {
    const auto& baked = identity_.baked.value();
    return relative_offset{baked ? -baked->offset : 0};
  }

  /// Calls visit(cached_row) for every stored row, in the order of positions.
  template <class Visit>
  void each_row(const Visit& visit) const {
    for (std::size_t n = oldest_; n < rows_.size(); ++n) {
      if (rows_[n].state == row_state::stored) visit(cached_row{position{rows_[n].at}, rows_[n].slot});
    }
  }
  [[nodiscard]] std::vector<cached_row> rows() const {
    std::vector<cached_row> all;
    each_row([&all](const cached_row& row) { all.push_back(row); });
    return all;
  }

  /// Commits tokens at positions that ascend from committed_length() on. Gives the slot of each, to be written in this
  /// order: of two rows with one slot, the later stays.
  std::vector<index_t> append(std::span<const index_t> tokens, std::span<const position> at) {
    require(at.size() == tokens.size(), errc::cache_operation, "append", "positions", text("{} tokens", tokens.size()),
            at.size());
    index_t next = committed_length();
    for (std::size_t n = 0; n < at.size(); ++n) {
      require(at[n].value() >= next, errc::cache_operation, "append", text("position of token {}", n),
              text("at least {}", next), at[n].value());
      require(at[n].value() < position_limit, errc::position_overflow, "append", text("position of token {}", n),
              "less than 2^62", at[n].value());
      next = at[n].value() + 1;
    }
    const auto& start = identity_.start.value();
    require(!start || !rows_.empty() || at.empty() || at.front() == *start, errc::cache_operation, "append",
            "position of token 0", text("start position {}", start.value_or(position{0}).value()),
            at.empty() ? 0 : at.front().value());
    require_settled("append");
    const index_t free = settings_.slots - stored_;
    require(settings_.when_full == full_cache::overwrite_oldest || std::cmp_less_equal(tokens.size(), free),
            errc::cache_operation, "append", "rows", text("at most {} free slots", free), tokens.size());
    std::vector<index_t> slots;
    slots.reserve(tokens.size());
    rows_.reserve(rows_.size() + tokens.size());
    for (std::size_t n = 0; n < tokens.size(); ++n) {
      identity_.tokens.append(tokens[n]);
      slots.push_back(store(at[n].value()));
    }
    identity_.committed_length = next;
    return slots;
  }
  /// Commits tokens at the next positions.
  std::vector<index_t> append(std::span<const index_t> tokens) {
    std::vector<position> at;
    for (std::size_t n = 0; n < tokens.size(); ++n) {
      at.emplace_back(saturating_add(committed_length(), static_cast<index_t>(n)));
    }
    return append(tokens, at);
  }

  /// Goes back to an earlier committed length: later rows are gone, evicted ones stay evicted.
  void truncate(index_t length, overwritten_rows lost = overwritten_rows::refused) {
    const index_t lowest = std::max(index_t{0}, first_length());
    require(length >= lowest && length <= committed_length(), errc::cache_operation, "truncate", "committed length",
            text("from {} to {}", lowest, committed_length()), length);
    const std::size_t kept = count_before(length);
    require_apart(kept, "truncate");
    for (std::size_t n = kept; n < rows_.size() && lost == overwritten_rows::refused; ++n) {
      const index_t gone = rows_[n].displaced;
      require(gone == nothing || std::cmp_greater_equal(gone, kept), errc::cache_operation, "truncate",
              text("row at position {}", gone == nothing ? 0 : rows_[static_cast<std::size_t>(gone)].at),
              "stored (or overwritten_rows::given_up)", text("overwritten by the row at {}", rows_[n].at));
    }
    while (rows_.size() > kept) {
      if (rows_.back().state == row_state::stored) release(rows_.size() - 1);
      if (rows_.back().state == row_state::overwritten) --overwritten_;
      rows_.pop_back();
    }
    identity_.tokens.truncate(kept);
    identity_.committed_length = length;
    find_oldest();
  }

  /// Drops the stored rows at positions [first, last). Those of later rows stay what they are.
  void evict(position first, position last) {
    const std::size_t end = count_before(last.value());
    std::vector<std::size_t> going;
    for (std::size_t n = count_before(first.value()); n < end; ++n) {
      if (rows_[n].state == row_state::stored) going.push_back(n);
    }
    require(!going.empty(), errc::cache_operation, "evict",
            text("stored rows at positions {} to {}", first.value(), last.value()), "at least 1", 0);
    for (const std::size_t n : going) drop(n);
    find_oldest();
  }
  /// Drops the rows at the positions, each of which is named once.
  void evict(std::span<const position> at) {
    std::vector<std::size_t> going;
    for (const position p : at) {
      going.push_back(count_before(p.value()));
      const bool committed = going.back() < rows_.size() && rows_[going.back()].at == p.value();
      require(committed && rows_[going.back()].state == row_state::stored, errc::cache_operation, "evict",
              text("row at position {}", p.value()), "stored", committed ? "gone" : "never committed");
    }
    std::sort(going.begin(), going.end());
    const auto twice = std::adjacent_find(going.begin(), going.end());
    require(twice == going.end(), errc::cache_operation, "evict", "positions", "each once",
            text("position {} twice", twice == going.end() ? 0 : rows_[*twice].at));
    for (const std::size_t n : going) drop(n);
    find_oldest();
  }

  /// The same rows for another sequence, as after sampling it twice. Its keys are a copy, slot for slot.
  [[nodiscard]] kv_cache fork(request_id request, index_t sequence) const {
    kv_cache copy = *this;
    copy.identity_.request = std::move(request);
    copy.identity_.sequence = sequence;
    return copy;
  }

  /// The first `count` tokens and their rows for another request, which has them at its beginning. Its keys are a copy,
  /// slot for slot.
  [[nodiscard]] kv_cache prefix(index_t count, const cache_identity& wanted) const {
    const auto has = [&](std::string_view whose, const token_ids& tokens) {
      require(count >= 0 && std::cmp_less_equal(count, tokens.ids().size()), errc::cache_operation, "prefix", whose,
              text("from 0 to {}", tokens.ids().size()), count);
    };
    has("tokens of the cache", identity_.tokens);
    has("tokens of the request", wanted.tokens);
    const auto kept = static_cast<std::size_t>(count);
    cache_identity mine = identity_;
    cache_identity theirs = wanted;
    mine.tokens.truncate(kept);
    theirs.tokens.truncate(kept);
    detail::differences_of(mine, theirs, [](std::string_view field) {
      return field != "request" && field != "sequence" && field != "committed length";
    }).throw_if_any();
    require_settled("prefix");
    require_apart(kept, "prefix");
    for (std::size_t n = 0; n < kept; ++n) {
      require(rows_[n].state == row_state::stored, errc::cache_operation, "prefix",
              text("row at position {}", rows_[n].at), "stored", "gone");
    }
    kv_cache taken = *this;
    taken.truncate(kept == 0 ? first_length() : rows_[kept - 1].at + 1, overwritten_rows::given_up);
    theirs.committed_length = taken.committed_length();
    taken.identity_ = std::move(theirs);
    return taken;
  }

  /// Moves every row and the next position by a shift, as when the beginning of a sequence was dropped. Keys that are
  /// stored as they were projected stay right. Rotated keys owe the shift until they are turned; meanwhile nothing is
  /// appended to the cache or read from it. Refused where anything reads more than differences of positions.
  void reanchor(relative_offset by) {
    if (const auto why = why_not_shifted(identity_.method.policies())) {
      require(false, errc::cache_operation, "reanchor", "method", "one that reads differences of positions alone",
              *why);
    }
    const auto& baked = identity_.baked.value();
    if (baked) {
      const description& transform = baked->transform;
      const auto why = why_not_shifted(transform);
      require(transform.name() == "rotary" && !why, errc::cache_operation, "reanchor", "baked transform",
              "a rotation, which composes", why.value_or(transform.name()));
    }
    const index_t lowest = stored_ > 0 ? rows_[oldest_].at : committed_length();
    const index_t moved = saturating_add(lowest, by.value());
    require(moved >= 0, errc::cache_operation, "reanchor", "first position", "at least 0", moved);
    const index_t before = rows_.empty() ? lowest : std::min(lowest, rows_.front().at);
    const index_t first = saturating_add(before, by.value());
    const index_t length = saturating_add(committed_length(), by.value());
    const index_t owing = saturating_add(owed().value(), by.value());
    for (const index_t reached : {first, length, owing}) {
      require(reached >= -position_limit && reached <= position_limit, errc::position_overflow, "reanchor", "position",
              "an integer less than 2^62 from zero", reached);
    }
    for (entry& one : rows_) one.at += by.value();
    identity_.committed_length = length;
    const auto& start = identity_.start.value();
    if (start) identity_.start = position{start->value() + by.value()};
    if (baked) identity_.baked = baked_transform{.transform = baked->transform, .offset = -owing};
  }

  /// Turns the stored keys of batch entry b by what they owe, which is nothing afterwards.
  /// Shapes: keys [batch, key heads, slots, head_dim].
  /// Throws: also what transform::key_shift throws.
  template <class Frequency, class T>
  void turn_keys(const transform::rotary<Frequency>& turn, const heads_view<T>& keys, batch_index b) {
    const auto& baked = identity_.baked.value();
    require(baked.has_value(), errc::cache_operation, "turn keys", "baked transform", "a rotation", "none");
    violations found;
    differences(turn.describe(), baked->transform, errc::cache_operation, "turn keys", found);
    found.expect(b.value() >= 0 && b.value() < keys.extent(0) && keys.extent(2) == settings_.slots,
                 errc::cache_operation, "turn keys", "batch entry and rows of the storage",
                 text("below {}, and {} slots", keys.extent(0), index_t{settings_.slots}),
                 text("{} and {}", b.value(), keys.extent(2)));
    found.throw_if_any();
    const auto turned = [&](index_t at, std::span<T> key) {
      transform::key_shift shift(position{at - owed().value()});
      shift.shift(owed());
      shift.apply(turn, key);
    };
    if (stored_ > 0) {  // what one key is refused for is refused for all, and before the first is touched
      std::vector<T> tried(static_cast<std::size_t>(keys.extent(3)));
      turned(rows_[oldest_].at, tried);
      turned(rows().back().at.value(), tried);
    }
    each_row([&](const cached_row& stored) {
      for (index_t h = 0; h < keys.extent(1); ++h) turned(stored.at.value(), keys.row(b.value(), h, stored.slot));
    });
    keys_are_turned();
  }
  /// For a caller who has turned every stored key by owed() himself.
  void keys_are_turned() {
    const auto& baked = identity_.baked.value();
    if (baked) identity_.baked = baked_transform{.transform = baked->transform, .offset = 0};
  }

  /// Refuses the cache to a request of another identity, and to any while its keys owe a shift.
  void require_usable(const cache_identity& request, std::string_view object) const {
    require_settled(object);
    require_same(identity_, request);
  }

  /// Equal books: the same rows in the same slots under the same identity.
  friend bool operator==(const kv_cache& a, const kv_cache& b) {
    return a.identity_ == b.identity_ && a.settings_.slots == b.settings_.slots &&
           a.settings_.when_full == b.settings_.when_full && a.rows_ == b.rows_;
  }

 private:
  static constexpr index_t nothing = -1;
  enum class row_state { stored, evicted, overwritten };
  /// A committed token.
  struct entry {
    index_t at;
    index_t slot;
    row_state state;
    index_t displaced;  ///< the row that it overwrote, by number
    friend bool operator==(const entry&, const entry&) noexcept = default;
  };

  [[nodiscard]] std::size_t count_before(index_t at) const {
    const auto end =
        std::lower_bound(rows_.begin(), rows_.end(), at, [](const entry& one, index_t p) { return one.at < p; });
    return static_cast<std::size_t>(end - rows_.begin());
  }
  [[nodiscard]] index_t first_length() const {
    const auto& start = identity_.start.value();
    return start ? start->value() : (rows_.empty() ? committed_length() : rows_.front().at);
  }
  /// Rows that saw later ones cannot do without them.
  void require_apart(std::size_t kept, std::string_view object) const {
    require(kept == rows_.size() || sees_no_later_rows(identity_.method.policies()), errc::cache_operation, object,
            "rows that are kept", "ones that saw none of the others (visible::causal)",
            "a method that shows later rows");
  }
  void require_settled(std::string_view object) const {
    require(owed().value() == 0, errc::cache_operation, object, "stored keys", "turned for where they stand",
            text("keys that owe a shift of {}", owed().value()));
  }

  index_t store(index_t at) {
    index_t displaced = nothing;
    if (stored_ == settings_.slots) {
      displaced = static_cast<index_t>(oldest_);
      release(oldest_);
      rows_[oldest_].state = row_state::overwritten;
      ++overwritten_;
      find_oldest();
    }
    index_t slot = untouched_;
    if (free_.empty()) {
      ++untouched_;
    } else {
      std::pop_heap(free_.begin(), free_.end(), std::greater<>{});
      slot = free_.back();
      free_.pop_back();
    }
    rows_.push_back({at, slot, row_state::stored, displaced});
    ++stored_;
    find_oldest();
    return slot;
  }
  void release(std::size_t n) {
    free_.push_back(rows_[n].slot);
    std::push_heap(free_.begin(), free_.end(), std::greater<>{});
    --stored_;
  }
  void drop(std::size_t n) {
    release(n);
    rows_[n].state = row_state::evicted;
  }
  /// Rows before the oldest stored one are gone for good, so the search goes on where it stopped.
  void find_oldest() {
    oldest_ = std::min(oldest_, rows_.size());
    while (oldest_ < rows_.size() && rows_[oldest_].state != row_state::stored) ++oldest_;
  }

  cache_identity identity_;
  kv_cache_settings settings_;
  std::vector<entry> rows_;    ///< every committed token, in the order of positions
  std::vector<index_t> free_;  ///< slots below untouched_ that hold no row: a heap, the lowest first
  index_t untouched_ = 0;      ///< the lowest slot that never held a row
  index_t stored_ = 0;
  index_t overwritten_ = 0;
  std::size_t oldest_ = 0;  ///< the first stored row
};

}  // namespace posgeo::contract
