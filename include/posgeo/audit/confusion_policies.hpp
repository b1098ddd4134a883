// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/confusion.hpp>
#include <posgeo/audit/confusion_numbers.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/window.hpp>

#include <Eigen/Core>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace posgeo::audit {

/// A policy as a kernel that confuses it would have it. `how` is unique among the edits of one policy.
struct policy_edit {
  confusion what;
  std::string how;
  policy_function numbers;
};

/// What of a rotary is rounded to bfloat16.
enum class rounded_angle { nothing, frequency, product, both };

/// Rotary with another pairing, rounded angles, or keys that turn another number of times.
/// Shapes, units: those of transform::rotary.
struct confused_rotary {
  using family = posgeo::family::qk_transform;
  std::vector<double> speeds;
  transform::rotary_settings settings;
  double factor;
  rounded_angle rounded = rounded_angle::nothing;
  int key_turns = 1;

  struct term {
    const confused_rotary* policy;
    position_call call;
    void query(batch_index b, head_index, query_index i, std::span<double> row) const {
      policy->turn(call.at(b, i), row);
    }
    void key(batch_index b, head_index, key_index j, std::span<double> row) const {
      for (int n = 0; n < policy->key_turns; ++n) policy->turn(call.at(b, j), row);
    }
  };
  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads&) const {
    return {this, call};
  }
  void turn(position p, std::span<double> row) const {
    const auto round = [](double x) { return static_cast<double>(Eigen::bfloat16(static_cast<float>(x))); };
    const bool of_frequency = rounded == rounded_angle::frequency || rounded == rounded_angle::both;
    const bool of_product = rounded == rounded_angle::product || rounded == rounded_angle::both;
    for (std::size_t pair = 0; pair < speeds.size(); ++pair) {
      const auto [x, y] = transform::dimensions_of(settings.pairs, pair, speeds.size());
      const auto where = static_cast<double>(p.value() + settings.offset);
      const double speed = of_frequency ? round(speeds[pair]) : speeds[pair];
      const double angle =
          of_product ? round((rounded == rounded_angle::both ? round(where) : where) * speed) : where * speed;
      transform::turn_pair(angle, row[x], row[y], factor);
    }
  }
};

/// DeBERTa's terms with one of them left out, or p2c read by the opposite offset.
template <class Element>
struct confused_deberta {
  using family = posgeo::family::content_term;
  content::deberta<Element> policy;
  confusion what;

  struct term {
    typename content::deberta<Element>::template term<double> right;
    confusion what;
    position_call call;
    [[nodiscard]] double operator()(batch_index b, head_index h, query_index i, key_index j,
                                    std::span<const double> query, std::span<const double> key) const {
      const relative_offset offset = call.offset(b, i, j);
      const relative_offset of_key = what == confusion::p2c_direction ? relative_offset{-offset.value()} : offset;
      double sum = 0.0;
      const auto c2p = right.query_side();
      if (c2p && what != confusion::c2p_dropped) sum += row_product(query, c2p->table_row(h, c2p->of(offset)));
      const auto p2c = right.key_side();
      if (p2c && what != confusion::p2c_dropped) sum += row_product(key, p2c->table_row(h, p2c->of(of_key)));
      return sum;
    }
  };
  template <class T>
  [[nodiscard]] term compile(const position_call& call, const heads& layout) const {
    return {policy.template compile<double>(call, layout), what, call};
  }
};

/// The confusions that a policy's own settings invite: none, where nothing is said about its type.
template <class P>
[[nodiscard]] std::vector<policy_edit> edits_of(const P&, const heads&) {
  return {};
}

[[nodiscard]] inline std::vector<policy_edit> edits_of(const bias::alibi& policy, const heads& layout) {
  std::vector<policy_edit> out;
  const index_t count = layout.query;
  const auto direction = policy.looks_back_only() ? bias::alibi_direction::causal : bias::alibi_direction::symmetric;
  const auto add = [&](confusion what, std::string how, bias::alibi_slopes slopes) {
    out.push_back({what, std::move(how), as_numbers(bias::alibi(std::move(slopes), direction), layout)});
  };
  std::vector<double> slopes;
  for (index_t h = 0; h < count; ++h) slopes.push_back(policy.slopes()[head_index{h}]);
  std::sort(slopes.begin(), slopes.end());
  add(confusion::slopes_sorted, "from the lowest", bias::alibi_slopes::custom(slopes));
  std::reverse(slopes.begin(), slopes.end());
  add(confusion::slopes_sorted, "from the highest", bias::alibi_slopes::custom(slopes));
  add(confusion::slope_generator, "the reference rule", bias::alibi_slopes::reference(count));
  add(confusion::slope_generator, "one geometric sequence", bias::alibi_slopes::geometric(count));
  for (index_t local = 1; 2 * local <= count; ++local) {
    if (count % local != 0) continue;
    for (index_t h = 0; h < count; ++h) {
      slopes[static_cast<std::size_t>(h)] = bias::alibi_slopes::reference(local)[head_index{h % local}];
    }
    add(confusion::local_head_ids, fmt::format("slopes of a model of {} heads", local),
        bias::alibi_slopes::custom(slopes));
  }
  return out;
}

template <class Element>
[[nodiscard]] std::vector<policy_edit> edits_of(const bias::t5<Element>& policy, const heads& layout) {
  const description said = policy.describe();
  const auto& weights = std::get<table<Element>>(std::get<described_table>(*said.find("table")).values());
  coordinate::t5_bucket_settings settings = policy.bucket().settings();
  const bool causal = settings.direction == coordinate::bucket_direction::causal;
  settings.direction = causal ? coordinate::bucket_direction::bidirectional : coordinate::bucket_direction::causal;
  settings.odd = coordinate::odd_buckets::last_unused;
  if (!coordinate::t5_bucket::check(settings).empty()) return {};
  return {{confusion::bucket_mode, std::string(name_of(settings.direction)),
           as_numbers(bias::t5<Element>(weights, coordinate::t5_bucket(settings)), layout)}};
}

template <class Element>
[[nodiscard]] std::vector<policy_edit> edits_of(const content::deberta<Element>& policy, const heads& layout) {
  std::vector<policy_edit> out;
  for (const confusion what : {confusion::p2c_direction, confusion::p2c_dropped, confusion::c2p_dropped}) {
    out.push_back({what, "", as_numbers(confused_deberta<Element>{policy, what}, layout)});
  }
  return out;
}

template <class Frequency>
[[nodiscard]] std::vector<policy_edit> edits_of(const transform::rotary<Frequency>& policy, const heads& layout) {
  std::vector<policy_edit> out;
  const confused_rotary right{policy.speeds(), policy.settings(), policy.attention_factor()};
  const auto add = [&](confusion what, std::string how, const auto& change) {
    confused_rotary other = right;
    change(other);
    out.push_back({what, std::move(how), as_numbers(std::move(other), layout)});
  };
  const bool adjacent = right.settings.pairs == transform::pairing::adjacent;
  const auto other_pairs = adjacent ? transform::pairing::halves : transform::pairing::adjacent;
  add(confusion::pairing_swapped, std::string(name_of(other_pairs)),
      [&](confused_rotary& r) { r.settings.pairs = other_pairs; });
  add(confusion::angle_in_bfloat16, "the frequency", [](confused_rotary& r) { r.rounded = rounded_angle::frequency; });
  add(confusion::angle_in_bfloat16, "the angle", [](confused_rotary& r) { r.rounded = rounded_angle::product; });
  add(confusion::angle_in_bfloat16, "position, frequency and angle",
      [](confused_rotary& r) { r.rounded = rounded_angle::both; });
  add(confusion::keys_turned_twice, "", [](confused_rotary& r) { r.key_turns = 2; });
  add(confusion::keys_not_turned, "", [](confused_rotary& r) { r.key_turns = 0; });
  return out;
}

[[nodiscard]] inline std::vector<policy_edit> edits_of(const visible::window& policy, const heads& layout) {
  std::vector<policy_edit> out;
  const auto add = [&](index_t behind, index_t ahead) {
    const auto farther = [](index_t reach, index_t by) {
      return reach == visible::window::unbounded ? reach : reach + by;
    };
    const visible::window other{.behind = farther(policy.behind, behind), .ahead = farther(policy.ahead, ahead)};
    if (other.behind < 0 || other.ahead < 0) return;
    out.push_back({confusion::window_off_by_one, fmt::format("behind {:+}, ahead {:+}", behind, ahead),
                   as_numbers(other, layout)});
  };
  const auto ignore = [&](std::string how, const visible::window& other) {
    out.push_back({confusion::window_ignored, std::move(how), as_numbers(other, layout)});
  };
  ignore("behind", {.behind = visible::window::unbounded, .ahead = policy.ahead});
  ignore("ahead", {.behind = policy.behind, .ahead = visible::window::unbounded});
  for (const index_t by : {-1, 1}) {
    add(by, 0);
    add(0, by);
    add(by, by);
  }
  return out;
}

}  // namespace posgeo::audit
