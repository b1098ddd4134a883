// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/attend.hpp>
#include <posgeo/core/description.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::test {

/// What is wrong with a hand_attention.
enum class fault {
  none,
  negated,
  query_from_zero,
  query_from_memory,
  query_one_on,
  memory_one_on,
  rows_as_positions,
  mask_from_top_left,
  mask_strict,
  table_by_i_minus_j,
  bias_scaled,
  scaled_like_others,
  other_buckets,
  sorted_slopes,
  geometric_slopes,
  local_slopes,
  local_heads,
  window_wider,
  window_narrower,
  other_pairing,
  angle_in_bfloat16,
  keys_turned_twice,
  keys_not_turned,
  mask_adds_finite,
  mask_writes_finite,
  value_term_missing,
  p2c_opposite,
  p2c_missing,
  c2p_missing,
  content_unscaled,
  terms_uncounted,
  unscaled,
  cap_moved,
  cap_missing,
  sink_missing,
  padding_seen,
  segments_mixed,
  future_seen,
  window_missing,
  everything_seen,
  key_heads_modulo,
  bias_by_key_head,
  bias_of_head_0,
  term_twice,
  term_missing,
  base_two,
  empty_rows_unwritten,
  content_cubed,  ///< nothing that has a name
};

/// Attention as plain loops over what the plan says of itself: positions, layout and the described policies. It asks no
/// compiled term. One fault is planted.
class hand_attention {
 public:
  explicit hand_attention(fault planted) : fault_(planted) {}

  template <class Plan>
  void operator()(const Plan& plan, const qkv<double>& in, const attention_output<double>& out) const {
    run({plan.layout(), plan.call(), plan.method(), in, out});
  }

 private:
  struct job {
    const heads& layout;
    const position_call& call;
    const std::vector<description>& method;
    const qkv<double>& in;
    const attention_output<double>& out;
  };
  struct pair_of_rows {
    const job& of;
    index_t b, h, i, j;
  };
  using row = std::vector<double>;

  [[nodiscard]] bool is(fault planted) const { return fault_ == planted; }

  static const description* find(const job& of, std::string_view name) {
    for (const description& one : of.method) {
      if (one.name() == name) return &one;
    }
    return nullptr;
  }
  static index_t whole(const description& of, std::string_view name) { return std::get<index_t>(*of.find(name)); }
  static std::string word(const description& of, std::string_view name) {
    return std::get<std::string>(*of.find(name));
  }
  static const description& inner(const description& of, std::string_view name) {
    return std::get<description>(*of.find(name));
  }
  /// Element [t, r, d] of a table [tables, rows, dim] or [rows, dim], whose table 0 serves all if it is the only one.
  static double element(const description& of, std::string_view name, index_t t, index_t r, index_t d) {
    const auto& from = std::get<described_table>(*of.find(name));
    const auto& extents = from.extents();
    const auto values = std::get<table<double>>(from.values()).values();
    const index_t tables = extents.size() == 3 ? extents[0] : 1;
    const index_t rows = extents[extents.size() - 2];
    return values[static_cast<std::size_t>(((tables == 1 ? 0 : t) * rows + r) * extents.back() + d)];
  }
  static double dot_row(const row& x, const description& of, std::string_view name, index_t t, index_t r) {
    double sum = 0.0;
    for (std::size_t d = 0; d < x.size(); ++d) sum += x[d] * element(of, name, t, r, static_cast<index_t>(d));
    return sum;
  }

  static index_t first_query(const job& of, index_t b) {
    index_t first = position_limit;
    for (index_t i = 0; i < of.call.queries(); ++i) {
      if (of.call.active(batch_index{b}, query_index{i})) {
        first = std::min(first, of.call.at(batch_index{b}, query_index{i}).value());
      }
    }
    return first;
  }
  [[nodiscard]] index_t query_at(const job& of, index_t b, index_t i) const {
    const index_t at = of.call.at(batch_index{b}, query_index{i}).value();
    if (is(fault::query_from_zero)) return at - first_query(of, b);
    if (is(fault::query_from_memory)) return i + of.call.past_length(batch_index{b});
    if (is(fault::query_one_on)) return at + 1;
    return is(fault::rows_as_positions) ? i + of.call.keys() - of.call.queries() : at;
  }
  [[nodiscard]] index_t key_at(const job& of, index_t b, index_t j) const {
    const index_t at = of.call.at(batch_index{b}, key_index{j}).value();
    if (is(fault::memory_one_on) && at < first_query(of, b)) return at + 1;
    return is(fault::rows_as_positions) ? j : at;
  }

  [[nodiscard]] index_t key_head_of(const job& of, index_t h) const {
    if (is(fault::key_heads_modulo)) return h % of.layout.key_value;
    return h * of.layout.key_value / of.layout.query;
  }
  [[nodiscard]] index_t term_head(const job& of, index_t h) const {
    if (is(fault::local_heads)) return h % (of.layout.query / 2);
    if (is(fault::bias_by_key_head)) return h * of.layout.key_value / of.layout.query;
    return is(fault::bias_of_head_0) ? 0 : h;
  }

  [[nodiscard]] bool visible(const pair_of_rows& p) const {
    if (is(fault::everything_seen)) return true;
    const position_call& call = p.of.call;
    const batch_index b{p.b};
    const query_index i{p.i};
    const key_index j{p.j};
    index_t offset = call.at(b, j).value() - call.at(b, i).value();
    if (is(fault::mask_from_top_left)) offset = p.j - p.i;
    if (is(fault::mask_strict)) ++offset;
    bool all = true;
    for (const description& one : p.of.method) {
      if (one.name() == "causal" && !is(fault::future_seen)) all = all && offset <= 0;
      if (one.name() == "segments") {
        all = all && (is(fault::padding_seen) || call.active(b, j));
        all = all && (is(fault::segments_mixed) || call.sequence(b, i) == call.sequence(b, j));
      }
      if (one.name() == "window" && !is(fault::window_missing)) {
        const index_t more = is(fault::window_wider) ? 1 : is(fault::window_narrower) ? -1 : 0;
        all = all && offset >= -whole(one, "behind") - more;
        if (const auto* ahead = std::get_if<index_t>(one.find("ahead"))) all = all && offset <= *ahead;
      }
    }
    return all;
  }

  void turn(const job& of, index_t at, row& x) const {
    const description* const rotary = find(of, "rotary");
    if (rotary == nullptr) return;
    const description& speeds = inner(*rotary, "frequencies");
    const index_t width = whole(speeds, "rotary_dim");
    const double base = std::get<double>(*speeds.find("base"));
    const bool adjacent = (word(*rotary, "pairs") == "adjacent") != is(fault::other_pairing);
    for (index_t n = 0; n < width / 2; ++n) {
      double angle =
          static_cast<double>(at) * std::pow(base, -2.0 * static_cast<double>(n) / static_cast<double>(width));
      if (is(fault::angle_in_bfloat16)) {
        angle = static_cast<double>(Eigen::bfloat16(static_cast<float>(angle)));
      }
      if (is(fault::negated)) angle = -angle;
      double& a = x[static_cast<std::size_t>(adjacent ? 2 * n : n)];
      double& c = x[static_cast<std::size_t>(adjacent ? 2 * n + 1 : n + width / 2)];
      const double turned = a * std::cos(angle) - c * std::sin(angle);
      c = a * std::sin(angle) + c * std::cos(angle);
      a = turned;
    }
  }

  [[nodiscard]] index_t t5_bucket(const description& rule, index_t offset) const {
    index_t buckets = whole(rule, "num_buckets");
    const bool both = (word(rule, "direction") == "bidirectional") != is(fault::other_buckets);
    index_t distance = -offset;
    index_t first = 0;
    if (both) {
      buckets /= 2;
      if (offset > 0) first = buckets;
      distance = std::abs(distance);
    }
    distance = std::max<index_t>(distance, 0);
    const index_t exact = buckets / 2;
    if (distance < exact) return first + distance;
    const double along = std::log(static_cast<double>(distance) / static_cast<double>(exact)) /
                         std::log(static_cast<double>(whole(rule, "max_distance")) / static_cast<double>(exact));
    const auto step = static_cast<index_t>(along * static_cast<double>(buckets - exact));
    return first + std::min(exact + step, buckets - 1);
  }
  static index_t clipped(const description& rule, index_t offset) {
    const index_t within = std::clamp(offset, -whole(rule, "behind"), whole(rule, "ahead"));
    return word(rule, "sign") == "key_minus_query" ? within + whole(rule, "behind") : whole(rule, "ahead") - within;
  }

  [[nodiscard]] double slope(const job& of, const description& alibi, index_t h) const {
    auto slopes = std::get<std::vector<double>>(*inner(alibi, "slopes").find("values"));
    const auto count = static_cast<double>(slopes.size());
    if (is(fault::sorted_slopes)) std::sort(slopes.rbegin(), slopes.rend());
    if (is(fault::geometric_slopes)) return std::exp2(-8.0 * static_cast<double>(h + 1) / count);
    if (is(fault::local_slopes)) return std::exp2(-8.0 * static_cast<double>(h % 2 + 1) / 2.0);
    return slopes[static_cast<std::size_t>(term_head(of, h))];
  }

  /// Offset of the pair as the terms see it, and as tables do.
  [[nodiscard]] index_t offset_of(const pair_of_rows& p) const {
    const index_t offset = key_at(p.of, p.b, p.j) - query_at(p.of, p.b, p.i);
    return is(fault::table_by_i_minus_j) ? -offset : offset;
  }

  [[nodiscard]] double bias(const pair_of_rows& p) const {
    double sum = 0.0;
    const index_t offset = offset_of(p);
    if (const description* const alibi = find(p.of, "alibi")) {
      sum -= slope(p.of, *alibi, p.h) * static_cast<double>(std::abs(offset));
    }
    if (const description* const t5 = find(p.of, "t5")) {
      sum += element(*t5, "table", 0, t5_bucket(inner(*t5, "rule"), offset), term_head(p.of, p.h));
    }
    if (const description* const learned = find(p.of, "learned_relative")) {
      sum += element(*learned, "table", 0, clipped(inner(*learned, "rule"), offset), term_head(p.of, p.h));
    }
    if (is(fault::negated)) return -sum;
    if (is(fault::term_missing)) return 0.0;
    return is(fault::term_twice) ? 2.0 * sum : sum;
  }

  [[nodiscard]] double content(const pair_of_rows& p, const row& q, const row& k) const {
    double sum = 0.0;
    const index_t offset = offset_of(p);
    const index_t h = term_head(p.of, p.h);
    if (const description* const shaw = find(p.of, "shaw_key")) {
      sum += dot_row(q, *shaw, "table", h, clipped(inner(*shaw, "rule"), offset));
    }
    if (const description* const bert = find(p.of, "relative_key_query")) {
      const index_t r = clipped(inner(*bert, "rule"), offset);
      sum += dot_row(q, *bert, "table", h, r) + dot_row(k, *bert, "table", h, r);
    }
    if (const description* const xl = find(p.of, "transformer_xl")) sum += of_transformer_xl(*xl, h, -offset, q, k);
    if (const description* const deberta = find(p.of, "deberta")) {
      const index_t span = whole(inner(*deberta, "rule"), "span");
      const auto place = [span](index_t d) { return std::clamp(d, -span, span - 1) + span; };
      const bool opposite = (word(*deberta, "p2c_index") == "paper") != is(fault::p2c_opposite);
      if (!is(fault::c2p_missing)) sum += dot_row(q, *deberta, "key_table", h, place(-offset));
      if (!is(fault::p2c_missing)) sum += dot_row(k, *deberta, "query_table", h, place(opposite ? offset : -offset));
    }
    if (const description* const tupe = find(p.of, "tupe")) {
      row at_query;
      for (index_t d = 0; d < p.of.layout.dim; ++d) {
        at_query.push_back(element(*tupe, "query_table", h, query_at(p.of, p.b, p.i), d));
      }
      sum += dot_row(at_query, *tupe, "key_table", h, key_at(p.of, p.b, p.j));
    }
    if (is(fault::term_missing)) return 0.0;
    return is(fault::term_twice) ? 2.0 * sum : sum;
  }
  /// u . k + (q + v) . W R[distance]
  static double of_transformer_xl(const description& xl, index_t h, index_t distance, const row& q, const row& k) {
    const description& rows = inner(xl, "rows");
    const index_t width = std::get<described_table>(*rows.find("table")).extents().back();
    double sum = 0.0;
    for (index_t d = 0; d < static_cast<index_t>(q.size()); ++d) {
      double r = 0.0;
      for (index_t w = 0; w < width; ++w) {
        const double speed =
            std::pow(10000.0, -2.0 * static_cast<double>(w % (width / 2)) / static_cast<double>(width));
        const double phase = static_cast<double>(distance) * speed;
        r += (w < width / 2 ? std::sin(phase) : std::cos(phase)) *
             element(rows, "table", 0, h * static_cast<index_t>(q.size()) + d, w);
      }
      const auto at = static_cast<std::size_t>(d);
      sum += k[at] * element(xl, "content_bias_table", 0, h, d) +
             (q[at] + element(xl, "position_bias_table", 0, h, d)) * r;
    }
    return sum;
  }

  [[nodiscard]] double scale(const job& of) const {
    if (is(fault::unscaled)) return 1.0;
    double terms = 1.0;
    if (find(of, "inverse_sqrt_terms") != nullptr && !is(fault::terms_uncounted)) {
      terms = find(of, "deberta") != nullptr ? 3.0 : 2.0;
    }
    const bool none = find(of, "none") != nullptr && !is(fault::scaled_like_others);
    return none ? 1.0 : 1.0 / std::sqrt(static_cast<double>(of.layout.dim) * terms);
  }

  [[nodiscard]] double capped(const job& of, double score, std::string_view place) const {
    const description* const cap = find(of, "softcap");
    if (cap == nullptr || is(fault::cap_missing) || (word(*cap, "place") == place) == is(fault::cap_moved))
      return score;
    const double bound = std::get<double>(*cap->find("cap"));
    return bound * std::tanh(score / bound);
  }

  [[nodiscard]] double score(const pair_of_rows& p, const row& q, const row& k) const {
    double raw = 0.0;
    for (std::size_t d = 0; d < q.size(); ++d) raw += q[d] * k[d];
    if (is(fault::content_cubed)) raw = raw * raw * raw;
    const double factor = scale(p.of);
    const double more = content(p, q, k);
    double out = (is(fault::content_unscaled) ? raw * factor + more : (raw + more) * factor);
    out = capped(p.of, out, "before_bias");
    out += is(fault::bias_scaled) ? bias(p) * factor : bias(p);
    out = capped(p.of, out, "after_bias");
    if (visible(p)) return out;
    if (is(fault::mask_adds_finite)) return out - 1e4;
    return is(fault::mask_writes_finite) ? -1e9 : -std::numeric_limits<double>::infinity();
  }

  void one_row(const job& of, index_t b, index_t h, index_t i) const {
    const index_t shared = key_head_of(of, h);
    const auto given_q = of.in.query.row(b, h, i);
    row q(given_q.begin(), given_q.end());
    turn(of, query_at(of, b, i), q);
    row weights;
    double highest = -std::numeric_limits<double>::infinity();
    const description* const sinks = is(fault::sink_missing) ? nullptr : find(of, "sink");
    std::optional<double> sink;
    if (sinks != nullptr) {
      sink = std::get<std::vector<double>>(*sinks->find("logits"))[static_cast<std::size_t>(h)];
      highest = *sink;
    }
    for (index_t j = 0; j < of.call.keys(); ++j) {
      const auto given_k = of.in.key.row(b, shared, j);
      row k(given_k.begin(), given_k.end());
      const int turns = is(fault::keys_turned_twice) ? 2 : is(fault::keys_not_turned) ? 0 : 1;
      for (int n = 0; n < turns; ++n) turn(of, key_at(of, b, j), k);
      weights.push_back(score({of, b, h, i, j}, q, k));
      highest = std::max(highest, weights.back());
    }
    const auto out = of.out.output.row(b, h, i);
    if (std::isinf(highest)) {
      if (is(fault::empty_rows_unwritten)) return;
      std::fill(out.begin(), out.end(), 0.0);
      if (of.out.log_sum_exp) of.out.log_sum_exp->row(b, h)[static_cast<std::size_t>(i)] = highest;
      return;
    }
    double sum = sink ? std::exp(*sink - highest) : 0.0;
    for (const double s : weights) sum += std::exp(s - highest);
    std::fill(out.begin(), out.end(), 0.0);
    for (index_t j = 0; j < of.call.keys(); ++j) {
      const double weight = std::exp(weights[static_cast<std::size_t>(j)] - highest) / sum;
      if (weight == 0.0) continue;
      const auto value = of.in.value.row(b, shared, j);
      const description* const shaw = is(fault::value_term_missing) ? nullptr : find(of, "shaw_value");
      for (std::size_t d = 0; d < out.size(); ++d) {
        double v = value[d];
        if (shaw != nullptr) {
          v += element(*shaw, "table", h, clipped(inner(*shaw, "rule"), offset_of({of, b, h, i, j})),
                       static_cast<index_t>(d));
        }
        out[d] += weight * v;
      }
    }
    if (!of.out.log_sum_exp) return;
    const double log_sum_exp = highest + std::log(sum);
    of.out.log_sum_exp->row(b, h)[static_cast<std::size_t>(i)] =
        is(fault::base_two) ? log_sum_exp / std::log(2.0) : log_sum_exp;
  }

  void run(const job& of) const {
    for (index_t b = 0; b < of.call.batch(); ++b) {
      for (index_t h = 0; h < of.layout.query; ++h) {
        for (index_t i = 0; i < of.call.queries(); ++i) one_row(of, b, h, i);
      }
    }
  }

  fault fault_;
};

}  // namespace posgeo::test
