// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/card_record.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace posgeo::test {

namespace detail {

template <class T>
using emit = std::function<void(T changed, const std::string& path)>;

/// Calls put(changed, path) with each value that differs from the given one in one place.
template <class T>
void each_change(const T& given, const std::string& path, const emit<T>& put);

inline void each_policy_change(const manifest::policy_record& given, const std::string& path,
                               const emit<manifest::policy_record>& put) {
  put({given.name() + "2", given.settings()}, path + ".name");
  for (std::size_t n = 0; n < given.settings().size(); ++n) {
    const manifest::policy_record::setting& one = given.settings()[n];
    auto settings = given.settings();
    settings[n].what = std::string("another");
    put({given.name(), settings}, path + "." + one.name);
    const auto* const table = std::get_if<manifest::table_record>(&one.what);
    if (table == nullptr) continue;
    each_change<manifest::table_record>(*table, path + "." + one.name, [&](auto changed, const std::string& where) {
      settings[n].what = changed;
      put({given.name(), settings}, where);
    });
  }
}

template <class T>
struct parts_of {
  static constexpr bool list = false, stated = false;
};
template <class T>
struct parts_of<std::vector<T>> {
  static constexpr bool list = true, stated = false;
  using part = T;
};
template <class T>
struct parts_of<posgeo::stated<T>> {
  static constexpr bool list = false, stated = true;
  using part = T;
};

template <class T>
void each_change(const T& given, const std::string& path, const emit<T>& put) {
  if constexpr (parts_of<T>::list) {
    using part = typename parts_of<T>::part;
    if (!given.empty()) put(T(given.begin(), given.end() - 1), path + "[]");
    for (std::size_t n = 0; n < given.size(); ++n) {
      each_change<part>(given[n], path + "[" + std::to_string(n) + "]", [&](part changed, const std::string& where) {
        T all = given;
        all[n] = std::move(changed);
        put(std::move(all), where);
      });
    }
  } else if constexpr (parts_of<T>::stated) {
    using part = typename parts_of<T>::part;
    if (given.value()) {
      put(none, path);
      each_change<part>(*given.value(), path,
                        [&](part changed, const std::string& where) { put(std::move(changed), where); });
    } else if constexpr (std::same_as<part, index_t> || std::same_as<part, double>) {
      put(part{7}, path);
    } else if constexpr (std::same_as<part, std::string>) {
      put(std::string("stated"), path);
    }
  } else if constexpr (manifest::record<T>) {
    manifest::each_field<T>([&](const auto& field) {
      using member = typename std::remove_cvref_t<decltype(field)>::type;
      each_change<member>(given.*field.member, path + "." + std::string(field.key),
                          [&](member changed, const std::string& where) {
                            T whole = given;
                            whole.*field.member = std::move(changed);
                            put(std::move(whole), where);
                          });
    });
  } else if constexpr (manifest::named_enum<T>) {
    put(static_cast<T>((static_cast<std::size_t>(given) + 1) % names_of(given).size()), path);
  } else if constexpr (std::same_as<T, manifest::policy_record>) {
    each_policy_change(given, path, put);
  } else if constexpr (std::same_as<T, index_t>) {
    put(given == 0 ? 1 : 2 * given, path);
  } else if constexpr (std::same_as<T, double>) {
    put(given + 1.5, path);
  } else if constexpr (std::same_as<T, std::string>) {
    put(given + " more", path);
  } else if constexpr (std::same_as<T, manifest::digest128>) {
    put({given.high, given.low + 1}, path);
  } else {
    put(T(given.name() + "0"), path);  // an identifier
  }
}

}  // namespace detail

/// A card that differs from another in the place of the path.
struct changed_card {
  std::string path;
  audit::positional_card card;
};

/// The card with each of its fields changed, one at a time.
[[nodiscard]] inline std::vector<changed_card> every_change(const audit::positional_card& card) {
  std::vector<changed_card> all;
  detail::each_change<audit::positional_card>(card, "$",
                                              [&all](audit::positional_card changed, const std::string& path) {
                                                all.push_back({path, std::move(changed)});
                                              });
  return all;
}

}  // namespace posgeo::test
