// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/heads.hpp>
#include <posgeo/core/index.hpp>
#include <posgeo/core/stated.hpp>
#include <posgeo/manifest/policy_record.hpp>

namespace posgeo::manifest {

/// What a policy has to do with positions. `qk_transform` is a rotation of queries and keys.
enum class method_family { fixed_abs, learned_abs, relative, bias, qk_transform, none };
[[nodiscard]] constexpr auto names_of(method_family) noexcept {
  return std::array<std::string_view, 6>{"fixed_abs", "learned_abs", "relative", "bias", "qk_transform", "none"};
}

/// The sign of a policy's offsets. `both` is a policy whose parts differ.
enum class relation_sign { key_minus_query, query_minus_key, both, none };
[[nodiscard]] constexpr auto names_of(relation_sign) noexcept {
  return std::array<std::string_view, 4>{"key_minus_query", "query_minus_key", "both", "none"};
}

/// A table of a policy, by the name of its setting; one inside a rule as "rule.name".
struct state_table {
  std::string name;
  table_record table;
  static constexpr auto fields() {
    return std::make_tuple(field("name", &state_table::name), field("table", &state_table::table));
  }
  friend bool operator==(const state_table&, const state_table&) noexcept = default;
};

/// One policy: what it means, summed up, and every setting. The first four fields follow from the policy.
/// Shapes: score_bias_shape [batch, query heads, queries, keys] for a score bias.
struct method_record {
  method_family family;
  stated<std::vector<state_table>> state_object;
  manifest::relation_sign relation_sign;
  stated<std::string> clipping_or_bucket_rule;  ///< the rule's name; its settings are in the policy
  stated<std::vector<index_t>> score_bias_shape;
  policy_record policy;
  static constexpr auto fields() {
    return std::make_tuple(field("family", &method_record::family), field("state_object", &method_record::state_object),
                           field("relation_sign", &method_record::relation_sign),
                           field("clipping_or_bucket_rule", &method_record::clipping_or_bucket_rule),
                           field("score_bias_shape", &method_record::score_bias_shape),
                           field("policy", &method_record::policy));
  }
  friend bool operator==(const method_record&, const method_record&) noexcept = default;
};

struct heads_record {
  index_t query;
  index_t key_value;
  index_t dim;
  static constexpr auto fields() {
    return std::make_tuple(field("query", &heads_record::query), field("key_value", &heads_record::key_value),
                           field("dim", &heads_record::dim));
  }
  friend bool operator==(const heads_record&, const heads_record&) noexcept = default;
};

[[nodiscard]] inline std::optional<broken_rule> broken(const heads_record& layout) {
  constexpr index_t most = index_t{1} << 31;
  const auto expect = [](std::string_view key, index_t count) -> std::optional<broken_rule> {
    if (count >= 1 && count <= most) return std::nullopt;
    return broken_rule{key, "from 1 to 2^31", std::to_string(count)};
  };
  if (auto rule = expect("query", layout.query)) return rule;
  if (auto rule = expect("key_value", layout.key_value)) return rule;
  if (auto rule = expect("dim", layout.dim)) return rule;
  if (layout.query % layout.key_value == 0) return std::nullopt;
  return broken_rule{"query", fmt::format("a multiple of key_value {}", layout.key_value),
                     std::to_string(layout.query)};
}

[[nodiscard]] inline std::optional<broken_rule> broken(const method_record& method) {
  if (!method.score_bias_shape.value()) return std::nullopt;
  const std::vector<index_t>& shape = *method.score_bias_shape.value();
  const bool counts = std::all_of(shape.begin(), shape.end(), [](index_t extent) { return extent >= 0; });
  if (shape.size() == 4 && counts) return std::nullopt;
  return broken_rule{"score_bias_shape", "4 extents of at least 0", fmt::format("[{}]", fmt::join(shape, ", "))};
}

/// The head layout, and the state encoders and every policy of the attention, in order.
struct position_method_record {
  heads_record heads;
  std::vector<method_record> methods;
  static constexpr auto fields() {
    return std::make_tuple(field("heads", &position_method_record::heads),
                           field("methods", &position_method_record::methods, "method"));
  }
  friend bool operator==(const position_method_record&, const position_method_record&) noexcept = default;
};

namespace detail {

/// Calls visit(name, value) for every setting of the policy and of the policies inside it, names joined by dots.
template <class Visit>
void each_setting(const policy_record& policy, const std::string& prefix, const Visit& visit) {
  for (const policy_record::setting& one : policy.settings()) {
    const std::string name = prefix + one.name;
    visit(name, one.what);
    if (const auto* const inner = std::get_if<policy_record>(&one.what)) each_setting(*inner, name + ".", visit);
    if (const auto* const list = std::get_if<std::vector<policy_record>>(&one.what)) {
      for (std::size_t n = 0; n < list->size(); ++n) {
        each_setting((*list)[n], fmt::format("{}[{}].", name, n), visit);
      }
    }
  }
}

inline std::string family_tag(const policy_record& policy) {
  const auto* const found = policy.find("family");
  const auto* const tag = found == nullptr ? nullptr : std::get_if<std::string>(found);
  require(tag != nullptr, errc::manifest, policy.name(), "family", "the name of its family's tag", "none");
  return *tag;
}

inline method_family family_of(const std::string& tag, relation_sign sign,
                               const stated<std::vector<state_table>>& state) {
  const method_family absolute = state.value() ? method_family::learned_abs : method_family::fixed_abs;
  if (tag == "score_bias") return method_family::bias;
  if (tag == "qk_transform") return method_family::qk_transform;
  if (tag == "state_encoder") return absolute;
  if (tag == "content_term") return sign == relation_sign::none ? absolute : method_family::relative;
  if (tag == "value_term") return method_family::relative;
  return method_family::none;
}

}  // namespace detail

/// Sums up a policy. `bias_shape` is what a score bias has in the call.
/// Throws: errc::manifest for a policy that names no family.
[[nodiscard]] inline method_record method_of(policy_record policy, const std::vector<index_t>& bias_shape) {
  const std::string tag = detail::family_tag(policy);
  std::vector<state_table> tables;
  relation_sign sign = relation_sign::none;
  detail::each_setting(policy, "", [&](const std::string& name, const policy_record::value& what) {
    if (const auto* const table = std::get_if<table_record>(&what)) tables.push_back({name, *table});
    const auto* const word = std::get_if<std::string>(&what);
    const bool is_sign = name == "sign" || name.ends_with(".sign");
    if (!is_sign || word == nullptr) return;
    const auto given = enumerator_of<relation_sign>(*word).value_or(relation_sign::none);
    sign = sign == relation_sign::none || sign == given ? given : relation_sign::both;
  });
  stated<std::string> rule = none;
  if (const auto* const found = policy.find("rule")) {
    if (const auto* const inner = std::get_if<policy_record>(found)) rule = inner->name();
  }
  stated<std::vector<state_table>> state = none;
  if (!tables.empty()) state = tables;
  stated<std::vector<index_t>> shape = none;
  if (tag == "score_bias") shape = bias_shape;
  return {detail::family_of(tag, sign, state), state, sign, rule, shape, std::move(policy)};
}

}  // namespace posgeo::manifest
