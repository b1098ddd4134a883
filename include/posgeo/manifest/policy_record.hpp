// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/manifest/fields.hpp>

#include <fmt/format.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace posgeo::manifest {

/// A 128-bit hash: XXH3, 128 bits, seed 0, whose canonical form is the 32 hex digits of text().
struct digest128 {
  std::uint64_t high;
  std::uint64_t low;
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}{:016x}", high, low); }
  friend bool operator==(const digest128&, const digest128&) noexcept = default;
};

/// What makes a digest of bytes: json::xxh3.
template <class Hash>
concept byte_hash = requires(const Hash& hash, std::span<const std::byte> bytes) {
  { hash(bytes) } -> std::same_as<digest128>;
};

enum class element_type { int64, float64, float32, float16, bfloat16 };
[[nodiscard]] constexpr auto names_of(element_type) noexcept {
  return std::array<std::string_view, 5>{"int64", "float64", "float32", "float16", "bfloat16"};
}

/// A table without its numbers: two tables are the same if all three fields are.
struct table_record {
  std::vector<index_t> extents;
  manifest::element_type element_type;
  digest128 digest;  ///< of the numbers as little-endian bytes, in the order of the extents
  static constexpr auto fields() {
    return std::make_tuple(field("extents", &table_record::extents), field("element_type", &table_record::element_type),
                           field("digest", &table_record::digest));
  }
  friend bool operator==(const table_record&, const table_record&) noexcept = default;
};

[[nodiscard]] inline std::optional<broken_rule> broken(const table_record& table) {
  index_t count = 1;
  for (const index_t extent : table.extents) {
    if (extent < 1) return broken_rule{"extents", "at least 1 each", std::to_string(extent)};
    if (extent > position_limit / count) return broken_rule{"extents", "less than 2^62 numbers in all", "more"};
    count *= extent;
  }
  return std::nullopt;
}

/// A policy as data: its name and its settings, sorted by name. As core's description, with digests for the numbers of
/// tables.
class policy_record {
 public:
  struct setting;
  struct absent_t {
    friend bool operator==(absent_t, absent_t) noexcept = default;
  };
  using value = std::variant<absent_t, index_t, double, std::string, std::vector<index_t>, std::vector<double>,
                             table_record, policy_record, std::vector<policy_record>>;

  /// Throws: errc::manifest for an empty name, a setting twice, or a number that is NaN, which equals nothing.
  policy_record(std::string name, std::vector<setting> settings);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::vector<setting>& settings() const noexcept { return settings_; }
  /// The setting's value, or nullptr.
  [[nodiscard]] const value* find(std::string_view name) const noexcept;
  friend bool operator==(const policy_record& a, const policy_record& b) noexcept;

 private:
  std::string name_;
  std::vector<setting> settings_;
};

struct policy_record::setting {
  std::string name;
  value what;
  friend bool operator==(const setting& a, const setting& b) noexcept { return a.name == b.name && a.what == b.what; }
};

inline policy_record::policy_record(std::string name, std::vector<setting> settings)
    : name_(std::move(name)), settings_(std::move(settings)) {
  require(!name_.empty(), errc::manifest, "policy", "name", "at least one character", "none");
  std::sort(settings_.begin(), settings_.end(), [](const setting& a, const setting& b) { return a.name < b.name; });
  const auto is_nan = [](double number) { return !(number == number); };
  for (std::size_t n = 0; n < settings_.size(); ++n) {
    const setting& one = settings_[n];
    require(!one.name.empty(), errc::manifest, name_, "name of a setting", "at least one character", "none");
    require(n == 0 || settings_[n - 1].name != one.name, errc::manifest, name_, "settings", "each once",
            text("{} twice", one.name));
    const double* const number = std::get_if<double>(&one.what);
    const auto* const numbers = std::get_if<std::vector<double>>(&one.what);
    require(!(number && is_nan(*number)) && !(numbers && std::any_of(numbers->begin(), numbers->end(), is_nan)),
            errc::manifest, name_, one.name, "numbers that equal themselves", "NaN");
  }
}

inline const policy_record::value* policy_record::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(settings_.begin(), settings_.end(), [name](const setting& one) { return one.name == name; });
  return found == settings_.end() ? nullptr : &found->what;
}

inline bool operator==(const policy_record& a, const policy_record& b) noexcept {
  return a.name_ == b.name_ && a.settings_ == b.settings_;
}

namespace detail {

template <class T>
constexpr element_type element_type_of = element_type::int64;
template <>
inline constexpr element_type element_type_of<double> = element_type::float64;
template <>
inline constexpr element_type element_type_of<float> = element_type::float32;
template <>
inline constexpr element_type element_type_of<Eigen::half> = element_type::float16;
template <>
inline constexpr element_type element_type_of<Eigen::bfloat16> = element_type::bfloat16;

template <class T>
digest128 digest_of(const table<T>& numbers, const byte_hash auto& hash) {
  const auto bytes = std::as_bytes(numbers.values());
  if constexpr (std::endian::native == std::endian::little) {
    return hash(bytes);
  } else {
    std::vector<std::byte> little(bytes.begin(), bytes.end());
    for (std::size_t n = 0; n < little.size(); n += sizeof(T)) {
      const auto begin = little.begin() + static_cast<std::ptrdiff_t>(n);
      std::reverse(begin, begin + static_cast<std::ptrdiff_t>(sizeof(T)));
    }
    return hash(std::span<const std::byte>(little));
  }
}

}  // namespace detail

/// The table's extents, element type and digest.
[[nodiscard]] table_record record_of(const described_table& given, const byte_hash auto& hash) {
  return std::visit(
      [&](const auto& numbers) {
        using T = std::remove_cvref_t<decltype(numbers.values()[0])>;
        return table_record{given.extents(), detail::element_type_of<T>, detail::digest_of(numbers, hash)};
      },
      given.values());
}

/// The description as a record.
[[nodiscard]] policy_record record_of(const description& given, const byte_hash auto& hash) {
  std::vector<policy_record::setting> settings;
  for (const description::field& one : given.fields()) {
    settings.push_back({one.name, std::visit(
                                      [&](const auto& what) -> policy_record::value {
                                        using V = std::remove_cvref_t<decltype(what)>;
                                        if constexpr (std::same_as<V, description::absent_t>) {
                                          return policy_record::absent_t{};
                                        } else if constexpr (std::same_as<V, described_table> ||
                                                             std::same_as<V, description>) {
                                          return record_of(what, hash);
                                        } else if constexpr (std::same_as<V, std::vector<description>>) {
                                          std::vector<policy_record> all;
                                          for (const description& part : what) all.push_back(record_of(part, hash));
                                          return all;
                                        } else {
                                          return what;
                                        }
                                      },
                                      one.what)});
  }
  return {given.name(), std::move(settings)};
}

}  // namespace posgeo::manifest
