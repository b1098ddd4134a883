// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_space.hpp>
#include <posgeo/core/description_diff.hpp>
#include <posgeo/core/identifier.hpp>
#include <posgeo/core/index.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/required.hpp>
#include <posgeo/core/stated.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <tuple>
#include <vector>

namespace posgeo::contract {

/// The token ids of a prefix, themselves: equal hashes are not equal tokens.
class token_ids {
 public:
  explicit token_ids(std::vector<index_t> ids) : ids_(std::move(ids)) {}
  [[nodiscard]] const std::vector<index_t>& ids() const noexcept { return ids_; }
  void append(index_t id) { ids_.push_back(id); }
  /// Leaves the first `count`, of at least so many.
  void truncate(std::size_t count) { ids_.resize(std::min(count, ids_.size())); }
  friend bool operator==(const token_ids&, const token_ids&) = default;

 private:
  std::vector<index_t> ids_;
};

/// The configuration of the method: what each policy of the attention is, as its describe() says, and what each state
/// encoder before it is.
/// Throws: errc::cache_identity for an empty list.
class method_configuration {
 public:
  method_configuration(std::vector<description> policies)  // implicit: the field reads like its type
      : policies_(std::move(policies)) {
    require(!policies_.empty(), errc::cache_identity, "cache identity", "policies of the method", "at least 1", 0);
  }
  method_configuration(std::initializer_list<description> policies)
      : method_configuration(std::vector<description>(policies)) {}
  [[nodiscard]] const std::vector<description>& policies() const noexcept { return policies_; }
  friend bool operator==(const method_configuration&, const method_configuration&) = default;

 private:
  std::vector<description> policies_;
};

/// The transform that stored keys have gone through. A key of a row at position p was transformed for p + offset.
struct baked_transform {
  description transform;
  required<index_t> offset;  ///< 0 where rows stand where they were written
  friend bool operator==(const baked_transform& a, const baked_transform& b) {
    return a.transform == b.transform && index_t{a.offset} == index_t{b.offset};
  }
};

/// What stored keys and values are. They may serve another request only if every field is equal; a field left out does
/// not compile.
/// Units:  positions and lengths in tokens.
/// Source: the positional-call manifest numinens.position-call.v1, cache identity.
struct cache_identity {
  request_id request;
  required<index_t> sequence;  ///< of the request: the one that owns the rows
  checkpoint_id checkpoint;
  stated<adapter_id> adapter;
  release_id release;
  stated<cache_salt> salt;
  token_ids tokens;                    ///< committed so far, evicted ones included
  required<index_t> committed_length;  ///< where the next token stands
  required<coordinate_frame> frame;
  stated<position> start;    ///< of the first token; none where keys and values do not depend on it
  stated<offset_sign> sign;  ///< of the method; none where it subtracts no positions
  method_configuration method;
  mask_id mask;
  required<precision> format;
  backend_id backend;
  implementation_revision revision;
  stated<baked_transform> baked;  ///< none where keys are stored as they were projected
};

namespace detail {

/// Every field, in order. A field that is added does not compile until it is named here, in both lists.
inline auto fields_of(const cache_identity& c) {
  const auto& [request, sequence, checkpoint, adapter, release, salt, tokens, committed_length, frame, start, sign,
               method, mask, format, backend, revision, baked] = c;
  return std::tie(request, sequence, checkpoint, adapter, release, salt, tokens, committed_length, frame, start, sign,
                  method, mask, format, backend, revision, baked);
}

}  // namespace detail

/// What the fields are called in a refusal, in order. Of tokens, the method and the baked transform the place is named.
inline constexpr std::array<std::string_view, 17> cache_identity_fields{"request",
                                                                        "sequence",
                                                                        "checkpoint",
                                                                        "adapter",
                                                                        "release",
                                                                        "salt",
                                                                        "token",
                                                                        "committed length",
                                                                        "coordinate frame",
                                                                        "start position",
                                                                        "sign",
                                                                        "method",
                                                                        "mask",
                                                                        "number format",
                                                                        "backend",
                                                                        "implementation revision",
                                                                        "baked"};
static_assert(std::tuple_size_v<decltype(detail::fields_of(std::declval<const cache_identity&>()))> ==
              cache_identity_fields.size());

[[nodiscard]] inline bool operator==(const cache_identity& a, const cache_identity& b) {
  return detail::fields_of(a) == detail::fields_of(b);
}

namespace detail {

template <class Tag>
std::string said(const identifier<Tag>& id) {
  return id.name();
}
inline std::string said(index_t value) { return std::to_string(value); }
inline std::string said(position at) { return std::to_string(at.value()); }
inline std::string said(const coordinate_frame& frame) { return std::string(frame.name()); }
inline std::string said(offset_sign sign) { return std::string(name_of(sign)); }
inline std::string said(precision format) { return std::string(name_of(format)); }
template <class Value>
std::string said(const required<Value>& value) {
  return said(Value(value));
}
template <class Value>
std::string said(const stated<Value>& field) {
  return field.value() ? said(*field.value()) : "none";
}
template <class Tag>
std::string said(const stated<identifier<Tag>>& field) {  // an id may be called "none"
  return field.value() ? fmt::format("'{}'", field.value()->name()) : "none";
}
inline std::string said(const token_ids& tokens, std::size_t at) {
  return at < tokens.ids().size() ? std::to_string(tokens.ids()[at]) : "none";
}

template <class Field>
void compare(std::string_view name, const Field& made, const Field& wanted, violations& found) {
  if (made == wanted) return;
  found.expect(false, errc::cache_identity, "cache", name, said(wanted), said(made));
}
inline void compare(std::string_view name, const token_ids& made, const token_ids& wanted, violations& found) {
  if (made == wanted) return;
  const auto& a = made.ids();
  const auto& b = wanted.ids();
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  found.expect(false, errc::cache_identity, "cache", text("{} {}", name, at), said(wanted, at), said(made, at));
}
inline void compare(std::string_view name, const method_configuration& made, const method_configuration& wanted,
                    violations& found) {
  if (made == wanted) return;
  differences(made.policies(), wanted.policies(), errc::cache_identity, fmt::format("cache, {}", name), found);
}
inline void compare(std::string_view name, const stated<baked_transform>& made, const stated<baked_transform>& wanted,
                    violations& found) {
  if (made == wanted) return;
  if (made.value() && wanted.value()) {
    const std::string object = fmt::format("cache, {}", name);
    differences(made.value()->transform, wanted.value()->transform, errc::cache_identity, object, found);
    compare("baked offset", made.value()->offset, wanted.value()->offset, found);
    return;
  }
  const auto name_of_transform = [](const stated<baked_transform>& baked) {
    return baked.value() ? baked.value()->transform.name() : "none";
  };
  found.expect(false, errc::cache_identity, "cache", text("{} transform", name), name_of_transform(wanted),
               name_of_transform(made));
}

/// Compares the fields for which `wanted_field(index)` holds.
template <class Choose>
violations differences_of(const cache_identity& made, const cache_identity& wanted, const Choose& choose) {
  violations found;
  const auto a = fields_of(made);
  const auto b = fields_of(wanted);
  const auto each = [&]<std::size_t... N>(std::index_sequence<N...>) {
    ((choose(cache_identity_fields[N]) ? compare(cache_identity_fields[N], std::get<N>(a), std::get<N>(b), found)
                                       : void()),
     ...);
  };
  each(std::make_index_sequence<cache_identity_fields.size()>{});
  return found;
}

}  // namespace detail

/// Every field that differs, in the order of the fields; of tokens the first. Empty exactly if the two are equal.
[[nodiscard]] inline violations differences(const cache_identity& made, const cache_identity& wanted) {
  return detail::differences_of(made, wanted, [](std::string_view) { return true; });
}

/// Refuses a cache that was made under another identity than the request's.
/// Throws: errc::cache_identity, naming the field, what the request has and what the cache has.
inline void require_same(const cache_identity& made, const cache_identity& wanted) {
  differences(made, wanted).throw_if_any();
}

}  // namespace posgeo::contract
