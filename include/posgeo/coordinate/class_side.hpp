// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/offset_bounds.hpp>
#include <posgeo/coordinate/relation_rows.hpp>

#include <concepts>
#include <span>

namespace posgeo::coordinate {

/// One side of a product with class rows: of(key - query) gives the class, row(h, class, out) the class's row in T,
/// and shift(h, row) adds to a copy of the query or key row what it gets before this product. At and below the lowest
/// offset of constant_beyond() the class is one, at and above the highest likewise. A view: the term that gave it must
/// outlive it, unmoved.
template <class S, class T>
concept class_side = std::copyable<S> &&
    requires(const S& side, head_index h, index_t c, relative_offset offset, std::span<T> row) {
  { side.classes() } -> std::same_as<index_t>;
  { side.of(offset) } -> std::same_as<index_t>;
  { side.constant_beyond() } -> std::same_as<offset_bounds>;
  requires noexcept(side.classes())&& noexcept(side.of(offset))&& noexcept(side.constant_beyond());
  requires noexcept(side.row(h, c, row));
  requires noexcept(side.shift(h, row));
};

/// Writes a table's row in T.
template <class T, class Element>
void write_row(std::span<const Element> from, std::span<T> out) noexcept {
  for (std::size_t d = 0; d < from.size(); ++d) out[d] = static_cast<T>(from[d]);
}

/// The class_side of relation rows; nothing is shifted.
template <class T, class Element>
class relation_side {
 public:
  explicit relation_side(const relation_rows<Element>& relations) noexcept : relations_(&relations) {}

  [[nodiscard]] index_t classes() const noexcept { return relations_->classes().classes(); }
  [[nodiscard]] index_t of(relative_offset key_minus_query) const noexcept {
    return relations_->classes()(key_minus_query);
  }
  [[nodiscard]] offset_bounds constant_beyond() const noexcept { return relations_->classes().constant_beyond(); }
  void row(head_index h, index_t c, std::span<T> out) const noexcept { write_row(relations_->rows().row(h, c), out); }
  void shift(head_index, std::span<T>) const noexcept {}

 private:
  const relation_rows<Element>* relations_;
};

}  // namespace posgeo::coordinate
