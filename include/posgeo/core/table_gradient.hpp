// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/described_tables.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo {

/// What a loss asks of the numbers of one table, d loss / d table; zero at first. It also remembers which rows it was
/// given something for, so that an optimizer may leave the others alone.
/// Shapes: [rows, columns], the memory of the table; `extents` name the axes as the description of the policy does.
template <class T>
class table_gradient {
 public:
  table_gradient(std::string_view name, index_t rows, index_t columns, std::vector<index_t> extents)
      : name_(name),
        extents_(std::move(extents)),
        columns_(columns),
        values_(static_cast<std::size_t>(rows * columns)),
        touched_(static_cast<std::size_t>(rows)) {}
  template <class Element>
  table_gradient(std::string_view name, const table<Element>& of)
      : table_gradient(name, of.rows(), of.columns(), {of.rows(), of.columns()}) {}
  template <class Element>
  table_gradient(std::string_view name, const head_tables<Element>& of)
      : table_gradient(name, of.all().rows(), of.all().columns(), described_tables(of).extents()) {}
  /// Of a table that the policy may have and has not: no rows.
  template <class Table>
  table_gradient(std::string_view name, const std::optional<Table>& of)
      : table_gradient(of ? table_gradient(name, *of) : table_gradient(name, 0, 1, {0})) {}

  /// The table's name in the description of its policy; a dot leads into a description inside it.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<index_t>& extents() const noexcept { return extents_; }
  [[nodiscard]] index_t rows() const noexcept { return static_cast<index_t>(touched_.size()); }
  [[nodiscard]] index_t columns() const noexcept { return columns_; }
  [[nodiscard]] std::span<const T> values() const noexcept { return values_; }
  [[nodiscard]] std::span<const T> row(index_t r) const noexcept {
    return values().subspan(static_cast<std::size_t>(r * columns_), static_cast<std::size_t>(columns_));
  }
  [[nodiscard]] const T& operator()(index_t r, index_t column) const noexcept {
    return values_[static_cast<std::size_t>(r * columns_ + column)];
  }
  /// The rows that were given something, lowest first. The others are zero.
  [[nodiscard]] std::vector<index_t> touched_rows() const {
    std::vector<index_t> out;
    for (index_t r = 0; r < rows(); ++r) {
      if (touched_[static_cast<std::size_t>(r)] != 0) out.push_back(r);
    }
    return out;
  }

  void add(index_t r, index_t column, T d) noexcept {
    touched_[static_cast<std::size_t>(r)] = 1;
    values_[static_cast<std::size_t>(r * columns_ + column)] += d;
  }
  /// Adds factor * d to a row.
  template <class Number>
  void add_row(index_t r, std::span<const Number> d, T factor) noexcept {
    add_from(r * columns_, d, factor);
  }
  /// Adds factor * d to the row that head h reads: heads that share a table meet in it.
  template <class Element, class Number>
  void add_row(const head_tables<Element>& of, head_index h, index_t r, std::span<const Number> d, T factor) noexcept {
    add_from(of.row(h, r).data() - of.values().data(), d, factor);
  }

  [[nodiscard]] bool same_shape(const table_gradient& other) const noexcept {
    return name_ == other.name_ && extents_ == other.extents_ && columns_ == other.columns_;
  }
  /// Throws: errc::shape_mismatch for the gradient of another table.
  void add(const table_gradient& other) {
    require(same_shape(other), errc::shape_mismatch, "table gradient", "gradient to add",
            text("'{}' of {} numbers", name_, values_.size()),
            text("'{}' of {} numbers", other.name_, other.values_.size()));
    for (std::size_t n = 0; n < values_.size(); ++n) values_[n] += other.values_[n];
    for (std::size_t r = 0; r < touched_.size(); ++r) touched_[r] |= other.touched_[r];
  }
  void reset() noexcept {
    std::fill(values_.begin(), values_.end(), T{0});
    std::fill(touched_.begin(), touched_.end(), std::uint8_t{0});
  }

 private:
  template <class Number>
  void add_from(index_t first, std::span<const Number> d, T factor) noexcept {
    touched_[static_cast<std::size_t>(first / columns_)] = 1;
    T* const to = values_.data() + first;
    for (std::size_t n = 0; n < d.size(); ++n) to[n] += factor * static_cast<T>(d[n]);
  }

  std::string name_;
  std::vector<index_t> extents_;
  index_t columns_;
  std::vector<T> values_;
  std::vector<std::uint8_t> touched_;
};

/// The gradients of the tables of one policy.
template <class T, std::size_t Count>
class table_gradients {
 public:
  template <std::same_as<table_gradient<T>>... Tables>
  requires(sizeof...(Tables) == Count) explicit table_gradients(Tables... tables) : tables_{std::move(tables)...} {}

  [[nodiscard]] table_gradient<T>& operator[](std::size_t n) noexcept { return tables_[n]; }
  [[nodiscard]] const table_gradient<T>& operator[](std::size_t n) const noexcept { return tables_[n]; }
  [[nodiscard]] std::span<const table_gradient<T>> tables() const noexcept { return tables_; }
  /// Throws: errc::description for a name that none of the tables has.
  [[nodiscard]] const table_gradient<T>& at(std::string_view name) const {
    const auto found = std::find_if(tables_.begin(), tables_.end(), [&](const auto& t) { return t.name() == name; });
    require(found != tables_.end(), errc::description, "table gradients", "name", "one of the policy's tables", name);
    return *found;
  }

  [[nodiscard]] bool same_shape(const table_gradients& other) const noexcept {
    for (std::size_t n = 0; n < Count; ++n) {
      if (!tables_[n].same_shape(other.tables_[n])) return false;
    }
    return true;
  }
  /// Throws: errc::shape_mismatch for the gradients of other tables; nothing is added then.
  void add(const table_gradients& other) {
    require(same_shape(other), errc::shape_mismatch, "table gradients", "gradients to add", "those of the same tables",
            "others");
    for (std::size_t n = 0; n < Count; ++n) tables_[n].add(other.tables_[n]);
  }
  void reset() noexcept {
    for (table_gradient<T>& one : tables_) one.reset();
  }

 private:
  std::array<table_gradient<T>, Count> tables_;
};

/// The gradient of a term that has no learned numbers.
struct nothing_learned {
  [[nodiscard]] static constexpr std::array<table_gradient<double>, 0> tables() noexcept { return {}; }
  [[nodiscard]] static constexpr bool same_shape(nothing_learned) noexcept { return true; }
  static constexpr void add(nothing_learned) noexcept {}
  static constexpr void reset() noexcept {}
};

/// What gradient() of a compiled term gives: it owns its numbers, adds up and starts again.
template <class G>
concept gradient_value = std::copyable<G> && requires(G& gradient, const G& other) {
  { other.same_shape(other) } -> std::same_as<bool>;
  gradient.add(other);
  gradient.reset();
  other.tables();
};

/// A compiled term that says what it learns: gradient() is a zero of the type that its learned numbers need.
template <class Term>
concept says_gradient = requires(const Term& term) {
  { term.gradient() } -> gradient_value;
};
template <says_gradient Term>
using gradient_of = decltype(std::declval<const Term&>().gradient());

/// A compiled term that collects by class, distance or pair while it is given gradients, and makes of it what its
/// learned numbers get when it has all of them.
template <class Term>
concept finishes_gradient = says_gradient<Term> && requires(const Term& term, gradient_of<Term>& gradient) {
  term.finish_gradient(gradient);
};

}  // namespace posgeo
