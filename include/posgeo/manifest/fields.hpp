// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace posgeo::manifest {

/// One member of a record: its key, where it is, and what an element is called in a sentence if it is a list. A record
/// lists its members once, in their order; writing, reading and comparing all go through that list.
template <class Owner, class Member>
struct field_of {
  using type = Member;
  std::string_view key;
  Member Owner::*member;
  std::string_view element;
};

/// The field `key`; a list of `element`s names them in sentences as "element 3", without its own name.
template <class Owner, class Member>
[[nodiscard]] constexpr field_of<Owner, Member> field(std::string_view key, Member Owner::*member,
                                                      std::string_view element = {}) noexcept {
  return {key, member, element};
}

/// A struct that lists its fields.
template <class T>
concept record = requires {
  std::tuple_size<decltype(T::fields())>::value;
};

/// Calls visit(field) for each field of the record, in order.
template <record T, class Visit>
constexpr void each_field(const Visit& visit) {
  std::apply([&visit](const auto&... all) { (visit(all), ...); }, T::fields());
}

/// A rule of a record that is broken, and the key of the field that breaks it.
struct broken_rule {
  std::string_view key;
  std::string expected;
  std::string actual;
};

/// An enum whose enumerators have names: names_of(E) gives them in order.
template <class E>
concept named_enum = std::is_enum_v<E> && requires {
  names_of(E{}).size();
};

template <named_enum E>
[[nodiscard]] constexpr std::string_view name_of(E value) noexcept {
  return names_of(value)[static_cast<std::size_t>(value)];
}

/// The enumerator of the name, if there is one.
template <named_enum E>
[[nodiscard]] constexpr std::optional<E> enumerator_of(std::string_view name) noexcept {
  const auto names = names_of(E{});
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<E>(at - names.begin());
}

}  // namespace posgeo::manifest
