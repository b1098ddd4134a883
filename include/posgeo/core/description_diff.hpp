// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace posgeo {

/// Adds a sentence for every field in which two descriptions differ: "object, mechanism, field: expected ..., got ...",
/// where the expected value is that of `wanted`. Rules inside a mechanism are gone into, of a list or a table the first
/// element that differs is named. Adds nothing exactly if the two are equal.
void differences(const description& made, const description& wanted, errc code, std::string_view object,
                 violations& found);

/// The same for the policies of an attention, place by place.
void differences(const std::vector<description>& made, const std::vector<description>& wanted, errc code,
                 std::string_view object, violations& found);

namespace detail {

/// Compares two values at one place of a description.
class description_diff {
 public:
  /// What an element of a list of descriptions is called: its own name, or the list's and a number.
  enum class naming { by_name, by_place };

  description_diff(errc code, violations& found) : code_(code), found_(found) {}

  void fields(const description& made, const description& wanted, const std::string& path) const {
    const std::size_t before = found_.size();
    for (const description::field& field : wanted.fields()) {
      const description::value* const other = made.find(field.name);
      if (other == nullptr) {
        expect(path, field.name, said(field.what), "no such field");
      } else if (!(*other == field.what)) {
        values(*other, field.what, path, field.name);
      }
    }
    for (const description::field& field : made.fields()) {
      if (wanted.find(field.name) == nullptr) expect(path, field.name, "no such field", said(field.what));
    }
    if (found_.size() == before && !(made == wanted)) expect(path, "order of fields", names(wanted), names(made));
  }

  void lists(const std::vector<description>& made, const std::vector<description>& wanted, std::string_view path,
             std::string_view axis, naming how) const {
    if (made.size() != wanted.size()) {
      expect(path, how == naming::by_place ? axis : "policies", said(wanted), said(made));
      return;
    }
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      const std::string place = fmt::format("{} {}", axis, n);
      if (made[n].name() != wanted[n].name()) {
        expect(path, place, wanted[n].name(), made[n].name());
      } else {
        fields(made[n], wanted[n], joined(path, how == naming::by_place ? place : wanted[n].name()));
      }
    }
  }

  void expect(std::string_view path, std::string_view axis, const std::string& expected,
              const std::string& actual) const {
    found_.expect(false, code_, path, axis, expected, actual);
  }
  [[nodiscard]] static std::string joined(std::string_view path, std::string_view name) {
    return fmt::format("{}, {}", path, name);
  }

 private:
  /// Two values that differ.
  void values(const description::value& made, const description::value& wanted, const std::string& path,
              const std::string& name) const {
    if (made.index() != wanted.index()) {
      const bool optional = made.index() == 0 || wanted.index() == 0;
      expect(path, name, optional ? said(wanted) : kind(wanted) + said(wanted),
             optional ? said(made) : kind(made) + said(made));
      return;
    }
    std::visit(
        [&](const auto& expected) {
          alike(std::get<std::remove_cvref_t<decltype(expected)>>(made), expected, path, name);
        },
        wanted);
  }

  template <class Value>
  void alike(const Value& made, const Value& wanted, const std::string& path, const std::string& name) const {
    if constexpr (std::same_as<Value, description>) {
      if (made.name() != wanted.name()) {
        expect(path, name, wanted.name(), made.name());
      } else {
        fields(made, wanted, joined(path, name));
      }
    } else if constexpr (std::same_as<Value, std::vector<description>>) {
      lists(made, wanted, path, name, naming::by_place);
    } else if constexpr (std::same_as<Value, described_table>) {
      tables(made, wanted, path, name);
    } else if constexpr (std::same_as<Value, std::vector<index_t>> || std::same_as<Value, std::vector<double>>) {
      if (made.size() != wanted.size()) {
        expect(path, name, fmt::format("{} elements", wanted.size()), fmt::format("{} elements", made.size()));
        return;
      }
      std::size_t at = 0;
      while (made[at] == wanted[at]) ++at;
      expect(path, fmt::format("{}, element {}", name, at), fmt::format("{}", wanted[at]), fmt::format("{}", made[at]));
    } else {
      expect(path, name, said(wanted), said(made));
    }
  }

  void tables(const described_table& made, const described_table& wanted, const std::string& path,
              const std::string& name) const {
    if (made.extents() != wanted.extents()) {
      expect(path, name, said(wanted), said(made));
      return;
    }
    if (made.values().index() != wanted.values().index()) {
      expect(path, name, element(wanted), element(made));
      return;
    }
    std::visit(
        [&](const auto& table_of_wanted) {
          const auto b = table_of_wanted.values();
          const auto a = std::get<std::remove_cvref_t<decltype(table_of_wanted)>>(made.values()).values();
          std::size_t at = 0;
          while (a[at] == b[at]) ++at;
          const auto number = [](const auto& value) {
            if constexpr (std::integral<std::remove_cvref_t<decltype(value)>>)
              return fmt::format("{}", value);
            else
              return fmt::format("{}", static_cast<double>(value));
          };
          expect(path, fmt::format("{}, value {}", name, place(wanted.extents(), at)), number(b[at]), number(a[at]));
        },
        wanted.values());
  }

  /// "[2, 1]": where the value stands that comes after `flat` others.
  [[nodiscard]] static std::string place(const std::vector<index_t>& extents, std::size_t flat) {
    std::vector<std::size_t> at(extents.size());
    for (std::size_t n = extents.size(); n-- > 0;) {
      const auto extent = static_cast<std::size_t>(extents[n]);
      at[n] = flat % extent;
      flat /= extent;
    }
    return fmt::format("[{}]", fmt::join(at, ", "));
  }
  [[nodiscard]] static std::string element(const described_table& table) {
    constexpr std::array names{"binary64", "binary32", "binary16", "bfloat16", "integers"};
    return names[table.values().index()];
  }
  [[nodiscard]] static std::string kind(const description::value& value) {
    constexpr std::array kinds{"", "integer ", "number ", "text ", "integers ", "numbers ", "", "", ""};
    return kinds[value.index()];
  }
  [[nodiscard]] static std::string names(const description& of) {
    std::vector<std::string> all;
    for (const description::field& field : of.fields()) all.push_back(field.name);
    return fmt::format("{}", fmt::join(all, ", "));
  }

  /// A value in a few words.
  [[nodiscard]] static std::string said(const description::value& value) {
    return std::visit([](const auto& given) { return said(given); }, value);
  }
  [[nodiscard]] static std::string said(description::absent_t) { return "none"; }
  [[nodiscard]] static std::string said(index_t value) { return fmt::format("{}", value); }
  [[nodiscard]] static std::string said(double value) { return fmt::format("{}", value); }
  [[nodiscard]] static std::string said(const std::string& value) { return value; }
  [[nodiscard]] static std::string said(const description& value) { return value.name(); }
  [[nodiscard]] static std::string said(const described_table& value) {
    return fmt::format("a table [{}]", fmt::join(value.extents(), ", "));
  }
  [[nodiscard]] static std::string said(const std::vector<description>& all) {
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const description& one : all) names.push_back(one.name());
    return fmt::format("{} ({})", all.size(), fmt::join(names, ", "));
  }
  template <class Number>
  [[nodiscard]] static std::string said(const std::vector<Number>& all) {
    constexpr std::size_t most = 8;
    const auto shown = std::min(most, all.size());
    return fmt::format("[{}{}]", fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                       all.size() > most ? ", ..." : "");
  }

  errc code_;
  violations& found_;
};

}  // namespace detail

inline void differences(const description& made, const description& wanted, errc code, std::string_view object,
                        violations& found) {
  const detail::description_diff compare(code, found);
  if (made.name() != wanted.name()) {
    compare.expect(object, "mechanism", wanted.name(), made.name());
  } else {
    compare.fields(made, wanted, detail::description_diff::joined(object, wanted.name()));
  }
}

inline void differences(const std::vector<description>& made, const std::vector<description>& wanted, errc code,
                        std::string_view object, violations& found) {
  using diff = detail::description_diff;
  diff(code, found).lists(made, wanted, object, "policy", diff::naming::by_name);
}

}  // namespace posgeo
