// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/head_slice.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace posgeo::contract {

/// In how many parts a key head may be.
enum class key_head_rule {
  owned,       ///< in one: its keys and values are computed and cached once
  replicated,  ///< in every part that has one of its query heads
};

/// Lists what keeps slices from being a whole: another whole, a query head that is in no part (the first of a run of
/// them) or in two, a key head in two parts that is to be owned by one.
[[nodiscard]] inline violations check_whole(const heads& whole, std::span<const head_slice> parts, key_head_rule rule) {
  violations found;
  check(whole, found);
  if (!found.empty()) return found;
  const auto said = [](const heads& h) {
    return text("{} query heads, {} key heads, head_dim {}", h.query, h.key_value, h.dim);
  };
  std::vector<index_t> query_heads;
  std::vector<index_t> key_heads;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const heads& given = parts[p].whole();
    const bool same = given.query == whole.query && given.key_value == whole.key_value && given.dim == whole.dim;
    found.expect(same, errc::head_partition, "head partition", text("whole of part {}", p), said(whole), said(given));
    query_heads.insert(query_heads.end(), parts[p].query_heads().begin(), parts[p].query_heads().end());
    key_heads.insert(key_heads.end(), parts[p].key_heads().begin(), parts[p].key_heads().end());
  }
  if (!found.empty()) return found;
  std::sort(query_heads.begin(), query_heads.end());
  std::sort(key_heads.begin(), key_heads.end());
  const auto count = [](const std::vector<index_t>& sorted, index_t head) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), head);
    return last - first;
  };
  index_t next = 0;  // query heads below are in some part
  const auto expect_once = [&](index_t head) {
    found.expect(count(query_heads, head) == 1, errc::head_partition, "head partition",
                 text("parts with query head {}", head), 1, count(query_heads, head));
  };
  for (const index_t head : query_heads) {
    if (head > next) expect_once(next);
    expect_once(head);
    next = head + 1;
  }
  if (next < whole.query) expect_once(next);
  for (const index_t head : key_heads) {
    found.expect(rule == key_head_rule::replicated || count(key_heads, head) == 1, errc::head_partition,
                 "head partition", text("parts with key head {}", head), "1 (or key_head_rule::replicated)",
                 count(key_heads, head));
  }
  return found;
}

/// Refuses slices that are not a whole. Throws: what check_whole lists.
inline void require_whole(const heads& whole, std::span<const head_slice> parts, key_head_rule rule) {
  check_whole(whole, parts, rule).throw_if_any();
}

/// Refuses heads in another order than those that something was made for: a table cut as {0, 2} meets queries cut as
/// {2, 0} without a change of shape. Throws: errc::head_partition, naming the first head that differs.
inline void require_same_heads(const head_slice& made, const head_slice& wanted, std::string_view object) {
  require(made.layout().query == wanted.layout().query, errc::head_partition, object, "query heads",
          wanted.layout().query, made.layout().query);
  for (index_t n = 0; n < wanted.layout().query; ++n) {
    const head_index local{n};
    require(made.global(local) == wanted.global(local), errc::head_partition, object,
            text("global head of local head {}", n), wanted.global(local), made.global(local));
  }
  const auto said = [](const heads& h) {
    return text("{} query heads, {} key heads, head_dim {}", h.query, h.key_value, h.dim);
  };
  require(made == wanted, errc::head_partition, object, "whole", said(wanted.whole()), said(made.whole()));
}

/// How the heads of a layer are shared out: every query head is in exactly one part.
/// Shapes: parts, each a layout of its own.
/// Throws: errc::head_partition for slices that are no whole, and what head_slice throws.
/// Source: tensor parallelism by heads, Shoeybi et al. 2019, section 3.
class head_partition {
 public:
  /// The global query heads of each part, in the part's order.
  head_partition(const heads& whole, const std::vector<std::vector<index_t>>& query_heads, key_head_rule rule)
      : whole_(whole), rule_(rule) {
    for (const std::vector<index_t>& part : query_heads) parts_.emplace_back(whole, part);
    require_whole(whole, parts_, rule);
  }

  /// As many neighbouring heads for each of `count` parts, which must divide the query heads.
  [[nodiscard]] static head_partition even(const heads& whole, index_t count, key_head_rule rule) {
    violations found;
    check(whole, found);
    found.throw_if_any();
    constexpr index_t most = index_t{1} << 20;
    require(whole.query <= most, errc::head_partition, "head partition", "query heads to share out", "at most 2^20",
            whole.query);
    require(count > 0 && whole.query % count == 0, errc::head_partition, "head partition", "parts",
            text("a divisor of {} query heads (or explicit lists)", whole.query), count);
    std::vector<std::vector<index_t>> lists(static_cast<std::size_t>(count));
    for (index_t head = 0; head < whole.query; ++head) {
      lists[static_cast<std::size_t>(head / (whole.query / count))].push_back(head);
    }
    return {whole, lists, rule};
  }

  [[nodiscard]] const heads& whole() const noexcept { return whole_; }
  [[nodiscard]] key_head_rule rule() const noexcept { return rule_; }
  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(parts_.size()); }
  [[nodiscard]] const std::vector<head_slice>& parts() const noexcept { return parts_; }
  /// Throws: errc::head_partition for a part that is not there.
  [[nodiscard]] const head_slice& part(index_t n) const {
    require(n >= 0 && n < size(), errc::head_partition, "head partition", "part", text("0..{}", size() - 1), n);
    return parts_[static_cast<std::size_t>(n)];
  }
  /// The part that a query head is in.
  [[nodiscard]] index_t part_with(head_index global) const {
    index_t n = 0;
    const auto has = [&global](const head_slice& part) {
      const auto& all = part.query_heads();
      return std::find(all.begin(), all.end(), global.value()) != all.end();
    };
    while (n < size() && !has(parts_[static_cast<std::size_t>(n)])) ++n;
    require(n < size(), errc::head_partition, "head partition", "query head", text("0..{}", whole_.query - 1),
            global.value());
    return n;
  }

 private:
  heads whole_;
  key_head_rule rule_;
  std::vector<head_slice> parts_;
};

}  // namespace posgeo::contract
