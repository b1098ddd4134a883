// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/heads.hpp>

#include <algorithm>
#include <vector>

namespace posgeo {

/// The heads of one part of a layer, by their numbers in the whole: local query head n is global head query_heads()[n].
/// Query heads that share a key head stand next to one another, as many for each key head, so that the part is a layout
/// of its own. A part may hold a share of a key head's query heads; the key head is then in more than one part.
/// Throws: errc::head_count and errc::shape_mismatch for an impossible whole; errc::head_partition without heads, for a
///         head outside of the whole or twice, and for heads that no layout of their own can hold.
/// Source: tensor parallelism by heads, Shoeybi et al. 2019, section 3.
class head_slice {
 public:
  head_slice(const heads& whole, std::vector<index_t> query_heads)
      : whole_(whole), query_heads_(std::move(query_heads)) {
    violations found;
    check(whole, found);
    found.throw_if_any();
    const auto count = static_cast<index_t>(query_heads_.size());
    require(count > 0, errc::head_partition, "head slice", "query heads", "at least 1", "none");
    for (index_t n = 0; n < count; ++n) {
      const index_t head = global(head_index{n});
      found.expect(head >= 0 && head < whole.query, errc::head_partition, "head slice", text("local head {}", n),
                   text("one of the query heads 0..{}", whole.query - 1), head);
    }
    found.throw_if_any();
    std::vector<index_t> sorted = query_heads_;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    require(twice == sorted.end(), errc::head_partition, "head slice", "query heads", "each once",
            text("head {} twice", twice == sorted.end() ? 0 : *twice));
    index_t group = 0;  // query heads of each key head
    for (index_t n = 0; n < count;) {
      const index_t key = key_head(whole, head_index{global(head_index{n})});
      require(std::find(key_heads_.begin(), key_heads_.end(), key) == key_heads_.end(), errc::head_partition,
              "head slice", text("query heads of key head {}", key), "next to one another", "apart");
      index_t next = n;
      while (next < count && key_head(whole, head_index{global(head_index{next})}) == key) ++next;
      if (n == 0) group = next;
      require(next - n == group, errc::head_partition, "head slice", text("query heads of key head {}", key),
              text("{}, as of key head {}", group, n == 0 ? key : key_heads_.front()), next - n);
      key_heads_.push_back(key);
      n = next;
    }
    layout_ = {.query = count, .key_value = static_cast<index_t>(key_heads_.size()), .dim = whole.dim};
  }

  [[nodiscard]] const heads& whole() const noexcept { return whole_; }
  /// The part's own layout.
  [[nodiscard]] const heads& layout() const noexcept { return layout_; }
  /// Global query heads and key heads in the part's order.
  [[nodiscard]] const std::vector<index_t>& query_heads() const noexcept { return query_heads_; }
  [[nodiscard]] const std::vector<index_t>& key_heads() const noexcept { return key_heads_; }
  /// The head of the whole that a head of the part is.
  [[nodiscard]] index_t global(head_index local) const noexcept {
    return query_heads_[static_cast<std::size_t>(local.value())];
  }

  /// Refuses to cut what has another number of query heads than the whole.
  void require_of(index_t heads, std::string_view object) const {
    require(heads == whole_.query, errc::head_partition, object, "query heads", text("{} of the whole", whole_.query),
            heads);
  }

  [[nodiscard]] description describe() const {
    return description("head_slice")
        .with("query", whole_.query)
        .with("key_value", whole_.key_value)
        .with("dim", whole_.dim)
        .with("query_heads", query_heads_);
  }
  friend bool operator==(const head_slice& a, const head_slice& b) noexcept {
    return a.whole_.query == b.whole_.query && a.whole_.key_value == b.whole_.key_value &&
           a.whole_.dim == b.whole_.dim && a.query_heads_ == b.query_heads_;
  }

 private:
  heads whole_;
  heads layout_;
  std::vector<index_t> query_heads_;
  std::vector<index_t> key_heads_;
};

}  // namespace posgeo
