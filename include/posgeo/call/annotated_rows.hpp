// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/call/row_selection.hpp>
#include <posgeo/core/tensor.hpp>

#include <tuple>

namespace posgeo {

/// How rows are dropped or repeated. take: [entries * rows] storage rows, or no_row for padding at `padded_position`.
struct resampling {
  std::span<const index_t> take;
  required<index_t> rows;
  required<row_numbers> numbers;
  row_times times;
  index_t padded_position = 0;
};

/// Content and everything that belongs to its rows. Every operation moves all of it and gives a new value, so that no
/// box, time, parent or distance is left at another row. Columns are row_column or row_pairs.
/// Shapes: content [entries, rows, width], at most 2^31 rows; columns [entries, rows]; pairs [entries, rows, rows].
/// Throws: errc::shape_mismatch for content of other extents; errc::row_identity for a column of other rows, or of the
///         same rows in another order; what the values' own check lists.
/// Source: X_positioned[i] and its metadata name one row, whatever is sorted, padded, chunked, resampled or joined.
template <class T, class... Columns>
class annotated_rows {
 public:
  static constexpr bool has_parents = (detail::has_parents<Columns> || ...);

  annotated_rows(row_identity rows, tensor<T, 3> content, Columns... columns)
      : annotated_rows(std::move(rows), std::move(content), std::tuple<Columns...>{std::move(columns)...}) {}
  /// Copies the content.
  annotated_rows(row_identity rows, tensor_view<const T, 3> content, Columns... columns)
      : annotated_rows(std::move(rows), copied(content), std::move(columns)...) {}

  [[nodiscard]] const row_identity& rows() const noexcept { return rows_; }
  [[nodiscard]] index_t width() const noexcept { return content_.extent(2); }
  [[nodiscard]] states_view<const T> content() const& { return content_.view(); }
  void content() const&& = delete;  // the memory would be gone
  template <class Column>
  [[nodiscard]] const Column& column() const noexcept {
    return std::get<Column>(columns_);
  }
  template <std::size_t N>
  [[nodiscard]] const auto& column() const noexcept {
    return std::get<N>(columns_);
  }

  /// The same rows and columns with other content, of any width: content plus positions, a projection.
  /// Throws: errc::shape_mismatch unless it has these entries and rows.
  [[nodiscard]] annotated_rows with_content(tensor_view<const T, 3> content) const {
    return annotated_rows(rows_, copied(content), columns_);
  }

  /// Self-attention over the rows, each at its own position.
  [[nodiscard]] position_call call(position_reuse reuse = position_reuse::refused) const {
    explicit_rows spelled;
    each_row([&](index_t b, index_t row) {
      const row_name& name = rows_.name(b, row);
      spelled.positions.push_back(name.position);
      spelled.sequences.push_back(name.sequence);
      spelled.active.push_back(name.active ? 1 : 0);
    });
    const row_space space{rows_.entries(), rows_.rows(), std::move(spelled), rows_.frame(), stream::shared};
    return position_call{
        {.kind = call_kind::explicit_positions, .query = space, .key = space, .cache = {}, .reuse = reuse}};
  }
  /// Refuses a side of a call whose rows are not these, in this order.
  void expect_of(const row_space& space, std::string_view object, violations& found) const {
    rows_.expect_of(space, object, found);
  }

  /// order: [entries * rows], the storage row that comes to each place.
  [[nodiscard]] annotated_rows permuted(std::span<const index_t> order) const {
    check_take(order, rows_.rows(), 0);
    for (index_t b = 0; b < rows_.entries(); ++b) {
      std::set<index_t> seen;
      for (index_t row = 0; row < rows_.rows(); ++row) seen.insert(order[flat(b, row)]);
      require(std::cmp_equal(seen.size(), rows_.rows()), errc::row_identity, "permutation",
              text("storage rows of entry {}", b), text("{}, each once", rows_.rows()), text("{}", seen.size()));
    }
    return taken({.rows = rows_.rows(), .take = {order.begin(), order.end()}});
  }
  /// In ascending order of key(value); rows with equal keys stay in order and padding stays where it is.
  template <class Value, class Key>
  [[nodiscard]] annotated_rows sorted_by(const Key& key) const {
    const auto& values = column<row_column<Value>>();
    std::vector<index_t> order(flat(rows_.entries(), 0));
    for (index_t b = 0; b < rows_.entries(); ++b) {
      std::vector<index_t> places;
      for (index_t row = 0; row < rows_.rows(); ++row) {
        order[flat(b, row)] = row;
        if (rows_.name(b, row).active) places.push_back(row);
      }
      std::vector<index_t> sorted = places;
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](index_t x, index_t y) { return key(values.at(b, x)) < key(values.at(b, y)); });
      for (std::size_t n = 0; n < places.size(); ++n) order[flat(b, places[n])] = sorted[n];
    }
    return taken({.rows = rows_.rows(), .take = std::move(order)});
  }
  /// The same logical rows in the order of `as`. Throws: errc::row_identity unless each of its rows is here once.
  [[nodiscard]] annotated_rows arranged_as(const row_identity& as) const {
    std::vector<index_t> order;
    if (as.entries() == rows_.entries() && as.rows() == rows_.rows()) {
      for (index_t b = 0; b < rows_.entries(); ++b) {
        std::vector<bool> used(static_cast<std::size_t>(rows_.rows()));
        for (index_t row = 0; row < rows_.rows(); ++row) {
          index_t from = 0;
          while (from < rows_.rows() &&
                 (used[static_cast<std::size_t>(from)] || rows_.name(b, from) != as.name(b, row) ||
                  rows_.first_name(b, from) != as.first_name(b, row))) {
            ++from;
          }
          if (from < rows_.rows()) used[static_cast<std::size_t>(from)] = true;
          order.push_back(from == rows_.rows() ? row : from);
        }
      }
    }
    const detail::row_selection arranged{.rows = rows_.rows(), .take = std::move(order)};
    violations found;
    as.expect(arranged.take.size() == flat(rows_.entries(), 0) ? detail::select(rows_, arranged) : rows_,
              "arranged rows", found);
    found.throw_if_any();
    return taken(arranged);
  }

  /// The rows with keep[b, row] != 0, closed up. Entries that keep different numbers of rows need a `padding`.
  [[nodiscard]] annotated_rows filtered(std::span<const std::uint8_t> keep,
                                        std::optional<row_padding> padding = {}) const requires(!has_parents) {
    return filtered(keep, orphans::refused, padding);
  }
  [[nodiscard]] annotated_rows filtered(std::span<const std::uint8_t> keep, orphans parents,
                                        std::optional<row_padding> padding = {}) const {
    require(keep.size() == flat(rows_.entries(), 0), errc::row_count, "filter", "choices", flat(rows_.entries(), 0),
            keep.size());
    std::vector<std::vector<index_t>> kept(static_cast<std::size_t>(rows_.entries()));
    each_row([&](index_t b, index_t row) {
      if (keep[flat(b, row)] != 0) kept[static_cast<std::size_t>(b)].push_back(row);
    });
    std::size_t most = 0;
    for (const auto& entry : kept) most = std::max(most, entry.size());
    std::vector<index_t> take;
    for (auto& entry : kept) {
      require(padding || entry.size() == most, errc::row_count, "filter", "kept rows of an entry",
              text("{} as of the others (or a row_padding)", most), entry.size());
      const bool left = padding && padding->side == call::padding_side::left;
      entry.insert(left ? entry.begin() : entry.end(), most - entry.size(), no_row);
      take.insert(take.end(), entry.begin(), entry.end());
    }
    return taken({.rows = static_cast<index_t>(most),
                  .take = std::move(take),
                  .padded_position = padding ? index_t{padding->position} : 0,
                  .parents = parents});
  }

  /// Storage rows [begin, begin + count) of every entry.
  [[nodiscard]] annotated_rows chunk(index_t begin, index_t count, row_numbers numbers) const requires(!has_parents) {
    return chunk(begin, count, numbers, orphans::refused);
  }
  [[nodiscard]] annotated_rows chunk(index_t begin, index_t count, row_numbers numbers, orphans parents) const {
    require(begin >= 0 && count >= 0 && begin <= rows_.rows() && count <= rows_.rows() - begin, errc::row_count,
            "chunk", "rows", text("a range within 0..{}", rows_.rows()), text("{} rows from {}", count, begin));
    std::vector<index_t> take;
    for (index_t b = 0; b < rows_.entries(); ++b) {
      for (index_t row = 0; row < count; ++row) take.push_back(begin + row);
    }
    return taken({.rows = count, .take = std::move(take), .numbers = numbers, .parents = parents});
  }

  /// `count` storage rows in every entry, the new ones being padding.
  [[nodiscard]] annotated_rows padded(index_t count, const row_padding& padding) const {
    require(count >= rows_.rows() && count <= most_rows, errc::row_count, "padding", "rows",
            text("from {} to 2^31", rows_.rows()), count);
    const index_t before = padding.side == call::padding_side::left ? count - rows_.rows() : 0;
    std::vector<index_t> take;
    for (index_t b = 0; b < rows_.entries(); ++b) {
      for (index_t row = 0; row < count; ++row) {
        const index_t from = row - before;
        take.push_back(from >= 0 && from < rows_.rows() ? from : no_row);
      }
    }
    return taken({.rows = count, .take = std::move(take), .padded_position = padding.position});
  }
  /// Without the storage rows that are padding in every entry.
  [[nodiscard]] annotated_rows without_padding() const {
    std::vector<std::uint8_t> keep(flat(rows_.entries(), 0));
    each_row([&](index_t b, index_t row) {
      for (index_t other = 0; other < rows_.entries(); ++other) {
        if (rows_.name(other, row).active) keep[flat(b, row)] = 1;
      }
    });
    return filtered(keep, orphans::refused);
  }

  /// Drops and repeats rows. Times follow the rule that is named; every other column follows its row.
  [[nodiscard]] annotated_rows resampled(const resampling& how) const requires(!has_parents) {
    return resampled(how, orphans::refused);
  }
  [[nodiscard]] annotated_rows resampled(const resampling& how, orphans parents) const {
    check_take(how.take, how.rows, no_row);
    return taken({.rows = how.rows,
                  .take = {how.take.begin(), how.take.end()},
                  .padded_position = how.padded_position,
                  .numbers = how.numbers,
                  .parents = parents,
                  .times = how.times});
  }

  /// The rows of the parts, one part after another within each entry.
  /// Throws: errc::row_count without parts or for other numbers of entries, errc::shape_mismatch for other widths,
  ///         errc::frame_mismatch for other frames, errc::position_reused if two rows would have one name.
  [[nodiscard]] static annotated_rows concatenated(std::span<const annotated_rows> parts, row_numbers numbers) {
    static_assert(!(detail::has_pairs<Columns> || ...),
                  "annotated_rows: nobody knows the pairs between rows of two parts");
    require(!parts.empty(), errc::row_count, "concatenation", "parts", "at least 1", 0);
    const row_identity& first = parts.front().rows_;
    index_t count = 0;
    for (const annotated_rows& part : parts) {
      require(part.rows_.entries() == first.entries(), errc::row_count, "concatenation", "entries of a part",
              first.entries(), part.rows_.entries());
      require(part.width() == parts.front().width(), errc::shape_mismatch, "concatenation", "width of a part",
              parts.front().width(), part.width());
      require(part.rows_.frame() == first.frame(), errc::frame_mismatch, "concatenation", "coordinate frame of a part",
              first.frame().name(), part.rows_.frame().name());
      count += part.rows_.rows();
    }
    const auto joined = [&](const auto& visit) {
      for (index_t b = 0; b < first.entries(); ++b) {
        for (const annotated_rows& part : parts) {
          for (index_t row = 0; row < part.rows_.rows(); ++row) visit(part, b, row);
        }
      }
    };
    detail::gathered_names names;
    joined([&](const annotated_rows& part, index_t b, index_t row) { names.push(part.rows_, b, row); });
    row_identity rows = detail::numbered(first.entries(), count, std::move(names), numbers, first.frame());
    refuse_repeated(rows);

    tensor<T, 3> content({first.entries(), count, parts.front().width()});
    auto to = content.values().begin();
    joined([&](const annotated_rows& part, index_t b, index_t row) {
      const auto from = part.content().row(b, row);
      to = std::copy(from.begin(), from.end(), to);
    });
    const auto column = [&]<std::size_t N>(std::integral_constant<std::size_t, N>) {
      using Column = std::tuple_element_t<N, std::tuple<Columns...>>;
      std::remove_cvref_t<decltype(std::declval<Column>().values())> values;
      joined([&](const annotated_rows& part, index_t b, index_t row) {
        values.push_back(std::get<N>(part.columns_).at(b, row));
      });
      return Column{rows, std::move(values)};
    };
    auto columns = [&]<std::size_t... N>(std::index_sequence<N...>) {
      return std::tuple<Columns...>{column(std::integral_constant<std::size_t, N>{})...};
    }
    (std::index_sequence_for<Columns...>{});
    return {std::move(rows), std::move(content), std::move(columns)};
  }

 private:
  static constexpr index_t most_rows = index_t{1} << 31;  // so that entries * rows does not overflow

  annotated_rows(row_identity rows, tensor<T, 3> content, std::tuple<Columns...> columns)
      : rows_(std::move(rows)), content_(std::move(content)), columns_(std::move(columns)) {
    violations found;
    found.expect(content_.extent(0) == rows_.entries() && content_.extent(1) == rows_.rows(), errc::shape_mismatch,
                 "annotated rows", "content", text("{} entries x {} rows", rows_.entries(), rows_.rows()),
                 text("{} x {}", content_.extent(0), content_.extent(1)));
    std::apply([&](const auto&... column) { (rows_.expect(column.rows(), "column of annotated rows", found), ...); },
               columns_);
    found.throw_if_any();
    std::apply([&](const auto&... column) { (check_values(column, found), ...); }, columns_);
    found.throw_if_any();
  }

  template <class Value>
  static void check_values(const row_column<Value>& column, violations& found) {
    if constexpr (names_parent<Value>) (void)detail::orders_of(column.rows(), column.values(), found);
    for (index_t b = 0; b < column.rows().entries(); ++b) {
      for (index_t row = 0; row < column.rows().rows(); ++row) {
        const auto axis = text("value of row {} of entry {}", row, b);
        if constexpr (requires { column.at(b, row).check("column", axis, found); }) {
          if (column.rows().name(b, row).active) column.at(b, row).check("column of annotated rows", axis, found);
        }
      }
    }
  }
  template <class Value>
  static void check_values(const row_pairs<Value>&, violations&) {}

  static void refuse_repeated(const row_identity& rows) {
    for (index_t b = 0; b < rows.entries(); ++b) {
      std::set<std::pair<index_t, index_t>> seen;
      for (index_t row = 0; row < rows.rows(); ++row) {
        const row_name& name = rows.name(b, row);
        require(!name.active || seen.insert({name.sequence, name.position}).second, errc::position_reused,
                "concatenation", text("positions of sequence {} in entry {}", name.sequence, b),
                "each once (or row_numbers::restarted)", text("position {} twice", name.position));
      }
    }
  }

  static tensor<T, 3> copied(const tensor_view<const T, 3>& from) {
    tensor<T, 3> out(from.extents());
    auto to = out.values().begin();
    for (index_t b = 0; b < from.extent(0); ++b) {
      for (index_t row = 0; row < from.extent(1); ++row) {
        const auto values = from.row(b, row);
        to = std::copy(values.begin(), values.end(), to);
      }
    }
    return out;
  }

  void check_take(std::span<const index_t> take, index_t count, index_t lowest) const {
    require(count >= 0 && count <= most_rows && std::cmp_equal(take.size(), rows_.entries() * count), errc::row_count,
            "row selection", "rows", text("{} entries x {} rows", rows_.entries(), count), take.size());
    for (const index_t row : take) {
      require(row >= lowest && row < rows_.rows(), errc::row_count, "row selection", "storage row",
              text("{}..{}", lowest, rows_.rows() - 1), row);
    }
  }

  [[nodiscard]] annotated_rows taken(const detail::row_selection& s) const {
    row_identity to = detail::select(rows_, s);
    tensor<T, 3> content({rows_.entries(), s.rows, width()});
    for (index_t b = 0; b < rows_.entries(); ++b) {
      for (index_t row = 0; row < s.rows; ++row) {
        if (s.source(b, row) == no_row) continue;
        const auto from = content_.view().row(b, s.source(b, row));
        std::copy(from.begin(), from.end(), content.view().row(b, row).begin());
      }
    }
    auto columns = std::apply(
        [&](const auto&... column) { return std::tuple<Columns...>{detail::select(column, to, s)...}; }, columns_);
    return {std::move(to), std::move(content), std::move(columns)};
  }

  template <class Visit>
  void each_row(const Visit& visit) const {
    for (index_t b = 0; b < rows_.entries(); ++b) {
      for (index_t row = 0; row < rows_.rows(); ++row) visit(b, row);
    }
  }
  [[nodiscard]] std::size_t flat(index_t b, index_t row) const noexcept {
    return static_cast<std::size_t>(b * rows_.rows() + row);
  }

  row_identity rows_;
  tensor<T, 3> content_;
  std::tuple<Columns...> columns_;
};

}  // namespace posgeo
