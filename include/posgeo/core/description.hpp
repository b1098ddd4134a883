// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/head_tables.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace posgeo {

/// The numbers of a table as a policy holds them: shared with it, not copied, and equal if every number is.
/// Shapes: `extents` name the axes that the values have for the policy, outermost first.
class described_table {
 public:
  using values_type =
      std::variant<table<double>, table<float>, table<Eigen::half>, table<Eigen::bfloat16>, table<index_t>>;

  template <class T>
  explicit described_table(table<T> values) : extents_{values.rows(), values.columns()}, values_(std::move(values)) {}
  /// Throws: errc::shape_mismatch if the extents do not count the values.
  template <class T>
  described_table(table<T> values, std::vector<index_t> extents)
      : extents_(std::move(extents)), values_(std::move(values)) {
    index_t count = 1;
    for (const index_t extent : extents_) count *= extent;
    require(std::cmp_equal(size(), count), errc::shape_mismatch, "described table", "values",
            text("{}, the product of its extents", count), size());
  }

  [[nodiscard]] const std::vector<index_t>& extents() const noexcept { return extents_; }
  [[nodiscard]] const values_type& values() const noexcept { return values_; }
  [[nodiscard]] std::size_t size() const noexcept {
    return std::visit([](const auto& all) { return all.values().size(); }, values_);
  }
  friend bool operator==(const described_table& a, const described_table& b) noexcept {
    return a.extents_ == b.extents_ && a.values_.index() == b.values_.index() &&
           std::visit(
               [&b](const auto& mine) {
                 const auto& others = std::get<std::remove_cvref_t<decltype(mine)>>(b.values_);
                 return mine.values().data() == others.values().data() ||
                        std::equal(mine.values().begin(), mine.values().end(), others.values().begin());
               },
               a.values_);
  }

 private:
  std::vector<index_t> extents_;
  values_type values_;
};

/// What a policy is, as data: the name of its mechanism and everything that it depends on, in a fixed order. An enum is
/// its enumerator's name, an absent choice is `absent`, a rule inside a policy is a description of its own. Fields that
/// mean the same have the same name everywhere: "sign" of an offset, "rule" for what becomes of an offset (clipping or
/// buckets), "table" for learned numbers.
/// Throws: errc::description for a name that is empty or there already, and for a number that is NaN, which equals
///         nothing.
class description {
 public:
  struct field;
  struct absent_t {
    friend bool operator==(absent_t, absent_t) noexcept = default;
  };
  static constexpr absent_t absent{};
  using value = std::variant<absent_t, index_t, double, std::string, std::vector<index_t>, std::vector<double>,
                             described_table, description, std::vector<description>>;

  explicit description(std::string_view name);

  /// Adds a field: a count, a number, a text, a list, a table, a description, or an optional of one of them.
  template <class Given>
  [[nodiscard]] description with(std::string_view name, const Given& given) &&;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<field>& fields() const noexcept { return fields_; }
  /// The field's value, or nullptr.
  [[nodiscard]] const value* find(std::string_view name) const noexcept;

  friend bool operator==(const description& a, const description& b) noexcept;

 private:
  std::string name_;
  std::vector<field> fields_;
};

struct description::field {
  std::string name;
  value what;
  friend bool operator==(const field& a, const field& b) noexcept { return a.name == b.name && a.what == b.what; }
};

namespace detail {

template <class Given>
description::value described(const Given& given) {
  if constexpr (std::integral<Given>) {
    static_assert(!std::same_as<Given, bool>, "description: a choice is the name of an enumerator, not true or false");
    return static_cast<index_t>(given);
  } else if constexpr (std::floating_point<Given>) {
    return static_cast<double>(given);
  } else if constexpr (std::convertible_to<const Given&, std::string_view>) {
    return std::string(std::string_view(given));
  } else if constexpr (requires { given.has_value(); }) {
    return given.has_value() ? described(*given) : description::value(description::absent);
  } else {
    return given;
  }
}

}  // namespace detail

inline description::description(std::string_view name) : name_(name) {
  require(!name_.empty(), errc::description, "description", "name", "at least one character", "none");
}

template <class Given>
description description::with(std::string_view name, const Given& given) && {
  require(!name.empty(), errc::description, name_, "name of a field", "at least one character", "none");
  require(find(name) == nullptr, errc::description, name_, "name of a field", "one that is not there yet", name);
  value what = detail::described(given);
  const auto require_number = [&](double number) {
    require(number == number, errc::description, name_, name, "a number, which equals itself", "NaN");
  };
  if (const double* const number = std::get_if<double>(&what)) require_number(*number);
  if (const auto* const list = std::get_if<std::vector<double>>(&what)) {
    std::for_each(list->begin(), list->end(), require_number);
  }
  fields_.push_back({std::string(name), std::move(what)});
  return std::move(*this);
}

inline const description::value* description::find(std::string_view name) const noexcept {
  const auto found = std::find_if(fields_.begin(), fields_.end(), [name](const field& f) { return f.name == name; });
  return found == fields_.end() ? nullptr : &found->what;
}

inline bool operator==(const description& a, const description& b) noexcept {
  return a.name_ == b.name_ && a.fields_ == b.fields_;
}

/// A policy that says what it is.
template <class P>
concept described_policy = requires(const P& policy) {
  { policy.describe() } -> std::same_as<description>;
};

}  // namespace posgeo
