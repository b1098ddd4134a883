// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/manifest/position_call_record.hpp>

#include <set>

namespace posgeo::manifest {

/// Where two records differ, and what each has there.
struct difference {
  std::string where;  ///< "key space, entry 1, logical positions, first"
  std::string first;
  std::string second;
  [[nodiscard]] std::string sentence() const { return fmt::format("{}: {} against {}", where, first, second); }
};

/// The first `most_kept` differences in the order of the fields, and how many more there are.
class difference_list {
 public:
  static constexpr std::size_t most_kept = 16;
  void add(difference one) {
    if (kept_.size() < most_kept) {
      kept_.push_back(std::move(one));
    } else {
      ++not_kept_;
    }
  }
  [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return kept_.size() + not_kept_; }
  [[nodiscard]] auto begin() const noexcept { return kept_.begin(); }
  [[nodiscard]] auto end() const noexcept { return kept_.end(); }
  [[nodiscard]] const difference& front() const { return kept_.front(); }

 private:
  std::vector<difference> kept_;
  std::size_t not_kept_ = 0;
};

namespace detail {

/// The words that lead to a field.
struct place {
  const place* around = nullptr;
  std::string_view words = {};
  std::size_t number = no_number;
  static constexpr std::size_t no_number = static_cast<std::size_t>(-1);

  [[nodiscard]] std::string said() const {
    std::string all = around == nullptr ? std::string() : around->said();
    if (words.empty()) return all;
    if (!all.empty()) all += ", ";
    std::string own(words);
    std::replace(own.begin(), own.end(), '_', ' ');
    all += own;
    if (number != no_number) all += fmt::format(" {}", number);
    return all;
  }
};

template <class T>
struct is_identifier : std::false_type {};
template <class Tag>
struct is_identifier<identifier<Tag>> : std::true_type {};
template <class T>
struct is_stated : std::false_type {};
template <class T>
struct is_stated<posgeo::stated<T>> : std::true_type {
  using value_type = T;
};
template <class T>
struct is_list : std::false_type {};
template <class T>
struct is_list<std::vector<T>> : std::true_type {};

template <class T>
std::string said(const T& value) {
  if constexpr (is_identifier<T>::value || std::same_as<T, posgeo::coordinate_frame>) {
    return fmt::format("'{}'", value.name());
  } else if constexpr (std::same_as<T, std::string>) {
    return fmt::format("'{}'", value);
  } else if constexpr (named_enum<T>) {
    return std::string(name_of(value));
  } else if constexpr (std::same_as<T, digest128>) {
    return value.text();
  } else if constexpr (std::same_as<T, policy_record>) {
    return value.name();
  } else if constexpr (std::same_as<T, policy_record::absent_t>) {
    return "none";
  } else if constexpr (std::same_as<T, table_record>) {
    return fmt::format("a table [{}]", fmt::join(value.extents, ", "));
  } else if constexpr (is_list<T>::value) {
    return fmt::format("a list of {}", value.size());
  } else if constexpr (is_stated<T>::value) {
    return value.value() ? said(*value.value()) : "none";
  } else if constexpr (record<T>) {
    return "one";
  } else {
    return fmt::format("{}", value);
  }
}

template <class T>
void compare(const T& a, const T& b, const place& at, std::string_view element, difference_list& found);

inline void compare_policies(const policy_record& a, const policy_record& b, const place& at, difference_list& found) {
  if (a.name() != b.name()) return found.add({place{&at, "name"}.said(), a.name(), b.name()});
  std::set<std::string> names;
  for (const auto* const policy : {&a, &b}) {
    for (const policy_record::setting& one : policy->settings()) names.insert(one.name);
  }
  for (const std::string& name : names) {
    const policy_record::value* const mine = a.find(name);
    const policy_record::value* const others = b.find(name);
    const place here{&at, name};
    const auto words = [](const policy_record::value* value) {
      return value == nullptr ? std::string("no such setting")
                              : std::visit([](const auto& what) { return said(what); }, *value);
    };
    if (mine == nullptr || others == nullptr) {
      found.add({here.said(), words(mine), words(others)});
    } else if (mine->index() != others->index()) {
      constexpr std::array kinds{"", "integer ", "number ", "text ", "integers, ", "numbers, ", "", "policy ", ""};
      found.add({here.said(), kinds[mine->index()] + words(mine), kinds[others->index()] + words(others)});
    } else {
      std::visit(
          [&](const auto& what) {
            const auto& other = std::get<std::remove_cvref_t<decltype(what)>>(*others);
            if constexpr (is_list<std::remove_cvref_t<decltype(what)>>::value) {
              if (what.size() != other.size()) found.add({here.said(), said(what), said(other)});
            }
            compare(what, other, here, "", found);
          },
          *mine);
    }
  }
}

template <class T>
void compare(const T& a, const T& b, const place& at, std::string_view element, difference_list& found) {
  if (a == b) return;
  if constexpr (std::same_as<T, policy_record>) {
    compare_policies(a, b, at, found);
  } else if constexpr (record<T>) {
    each_field<T>([&](const auto& one) {
      const place here{&at, one.key};
      const bool named = !one.element.empty();
      const auto& mine = a.*one.member;
      const auto& others = b.*one.member;
      if constexpr (is_list<std::remove_cvref_t<decltype(mine)>>::value) {
        if (mine.size() != others.size()) found.add({here.said(), said(mine), said(others)});
      }
      compare(mine, others, named ? at : here, one.element, found);
    });
  } else if constexpr (is_list<T>::value) {
    const bool alone = a.size() == 1 && b.size() == 1 && element.empty();
    for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
      const place here{&at, element.empty() ? std::string_view("element") : element, n};
      compare(a[n], b[n], alone ? at : here, "", found);
    }
  } else if constexpr (is_stated<T>::value) {
    if (a.value() && b.value()) {
      if constexpr (is_list<typename is_stated<T>::value_type>::value) {
        if (a.value()->size() != b.value()->size()) found.add({at.said(), said(a), said(b)});
      }
      compare(*a.value(), *b.value(), at, element, found);
    } else {
      found.add({at.said(), said(a), said(b)});
    }
  } else {
    found.add({at.said(), said(a), said(b)});
  }
}

}  // namespace detail

/// Everything in which two records differ, in words. Empty exactly if they are equal.
[[nodiscard]] inline difference_list diff(const position_call_record& a, const position_call_record& b) {
  difference_list found;
  detail::compare(a, b, detail::place{}, "", found);
  return found;
}

}  // namespace posgeo::manifest
