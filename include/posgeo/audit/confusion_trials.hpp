// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/confusion.hpp>
#include <posgeo/audit/confusion_calls.hpp>
#include <posgeo/audit/confusion_parts.hpp>
#include <posgeo/audit/confusion_sources.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posgeo::audit {

/// An attention over one call with each known confusion in turn: the eager meaning, one part of which is another.
/// Throws: what the policies throw when compiled for the call.
class confused_attention {
 public:
  /// Whether a confusion at a place is asked for, and what takes what the attention gives with it.
  struct taker {
    std::function<bool(confusion, const std::string&)> wants;
    std::function<void(confusion, const std::string&, const attention_numbers&)> take;
  };

  /// The rows are as they go in. The source outlives this.
  confused_attention(const attention_source& source, position_call call, attention_rows rows)
      : source_(source), call_(std::move(call)), rows_(std::move(rows)) {
    for (const policy_source& policy : source_.policies) readings_.push_back({&policy.numbers, &call_});
    right_.resize(readings_.size());
    right_parts_ = parts_of(readings_, rows_, &right_);
  }
  confused_attention(const confused_attention&) = delete;
  confused_attention& operator=(const confused_attention&) = delete;

  /// The attention as it is.
  [[nodiscard]] const score_parts& right() const noexcept { return right_parts_; }

  /// Hands over each wanted confusion that the attention and the call have room for. A confused policy that refuses the
  /// call is left out.
  void each(const taker& take) const {
    edits(take);
    misreadings(take);
    masks(take);
    terms(take);
    order(take);
    heads_of_keys(take);
    if (!take.wants(confusion::base_two_log_sum_exp, "")) return;
    attention_numbers in_base_two = evaluate(right_parts_);
    for (double& log_sum_exp : in_base_two.log_sum_exp) log_sum_exp /= std::log(2.0);
    take.take(confusion::base_two_log_sum_exp, "", in_base_two);
  }

 private:
  /// What a policy is asked with.
  struct reading {
    const policy_function* numbers;
    const position_call* call;
    const std::vector<index_t>* asked_as = nullptr;  ///< the head that a term is asked as
    friend bool operator==(const reading&, const reading&) = default;
  };
  using numbers_pointer = std::shared_ptr<const policy_numbers>;

  [[nodiscard]] static bool is(const policy_source& policy, std::string_view family) { return policy.family == family; }
  [[nodiscard]] static bool is_mask(const policy_source& policy) { return is(policy, family::visibility::name); }
  [[nodiscard]] static bool is_term(const policy_source& policy) {
    return !is_mask(policy) && !is(policy, family::softmax_sink::name);
  }
  [[nodiscard]] static std::string at(const policy_source& policy, std::string_view how) {
    return how.empty() ? policy.name : fmt::format("{}, {}", policy.name, how);
  }

  /// Numbers of readings that are the right ones come from right_, unless the rows they read have changed.
  [[nodiscard]] score_parts parts_of(const std::vector<reading>& readings, attention_rows rows,
                                     std::vector<numbers_pointer>* store = nullptr) const {
    score_parts out;
    out.scale = source_.scale;
    out.cap = source_.cap;
    bool other_rows = rows.key_heads != rows_.key_heads;
    const auto numbers = [&](std::size_t n, bool reads_rows) {
      if (right_[n] && readings[n] == readings_[n] && !(reads_rows && other_rows)) return right_[n];
      rows.asked_as = readings[n].asked_as == nullptr ? std::vector<index_t>{} : *readings[n].asked_as;
      const auto made = std::make_shared<const policy_numbers>((*readings[n].numbers)(*readings[n].call, rows));
      if (store != nullptr) (*store)[n] = made;
      return numbers_pointer(made);
    };
    for (std::size_t n = 0; n < readings.size(); ++n) {
      if (!is(source_.policies[n], family::qk_transform::name)) continue;
      const numbers_pointer turned = numbers(n, false);
      other_rows = other_rows || turned != right_[n];
      rows.query = turned->query;
      rows.key = turned->key;
    }
    for (std::size_t n = 0; n < readings.size(); ++n) {
      const policy_source& policy = source_.policies[n];
      if (is(policy, family::content_term::name)) out.contents.push_back({numbers(n, true)});
      if (is(policy, family::score_bias::name)) out.biases.push_back({numbers(n, false)});
      if (is(policy, family::value_term::name)) out.values.push_back({numbers(n, false)});
      if (is_mask(policy)) out.masks.push_back(numbers(n, false));
      if (is(policy, family::softmax_sink::name)) out.sink = numbers(n, false)->heads;
    }
    out.rows = std::move(rows);
    return out;
  }

  void with_readings(const taker& take, confusion what, const std::string& where,
                     const std::vector<reading>& readings) const {
    if (readings == readings_ || !take.wants(what, where)) return;
    attention_numbers numbers;
    try {
      numbers = evaluate(parts_of(readings, rows_));
    } catch (const error&) {
      return;  // the confused policy does not take this call
    }
    take.take(what, where, numbers);
  }
  template <class Change>
  void with_parts(const taker& take, confusion what, const std::string& where, const Change& change) const {
    if (!take.wants(what, where)) return;
    score_parts parts = right_parts_;
    change(parts);
    take.take(what, where, evaluate(parts));
  }

  void edits(const taker& take) const {
    for (std::size_t n = 0; n < readings_.size(); ++n) {
      for (const policy_edit& edit : source_.policies[n].edits) {
        std::vector<reading> readings = readings_;
        readings[n].numbers = &edit.numbers;
        with_readings(take, edit.what, at(source_.policies[n], edit.how), readings);
      }
    }
  }

  struct misreading {
    misread how;
    confusion of_term;
    confusion of_mask;
    std::string_view said;
  };
  static constexpr std::array misreadings_{
      misreading{misread::mirrored, confusion::flipped_sign, confusion::flipped_sign, "query minus key"},
      misreading{misread::query_at_zero, confusion::query_restarted, confusion::query_restarted, "from 0"},
      misreading{misread::query_at_memory, confusion::query_restarted, confusion::query_restarted,
                 "from the rows of the memory"},
      misreading{misread::query_behind, confusion::query_off_by_one, confusion::causal_off_by_one, "one back"},
      misreading{misread::query_ahead, confusion::query_off_by_one, confusion::causal_off_by_one, "one on"},
      misreading{misread::memory_behind, confusion::memory_off_by_one, confusion::memory_off_by_one, "one back"},
      misreading{misread::memory_ahead, confusion::memory_off_by_one, confusion::memory_off_by_one, "one on"},
      misreading{misread::rows_from_top, confusion::rows_for_positions, confusion::corner_alignment,
                 "from the top left"},
      misreading{misread::rows_from_bottom, confusion::rows_for_positions, confusion::corner_alignment,
                 "from the bottom right"},
      misreading{misread::all_active, confusion::padding_visible, confusion::padding_visible, ""},
      misreading{misread::one_sequence, confusion::segments_ignored, confusion::segments_ignored, ""}};

  /// A term, the mask, all terms, or everything, asked about a call that was misread.
  void misreadings(const taker& take) const {
    for (const misreading& one : misreadings_) {
      std::optional<position_call> call;
      try {
        call.emplace(misread_call(call_, one.how));
      } catch (const error&) {
        continue;  // positions that leave their range
      }
      std::vector<reading> mask = readings_;
      std::vector<reading> every_term = readings_;
      std::vector<reading> everything = readings_;
      const bool of_rows = one.how == misread::all_active || one.how == misread::one_sequence;
      std::size_t terms = 0;
      bool tables = true;
      for (std::size_t n = 0; n < readings_.size(); ++n) {
        const policy_source& policy = source_.policies[n];
        if (is_mask(policy)) mask[n].call = everything[n].call = &*call;
        if (!is_term(policy) || of_rows) continue;
        every_term[n].call = everything[n].call = &*call;
        std::vector<reading> readings = readings_;
        readings[n].call = &*call;
        const bool table = one.how == misread::mirrored && policy.reads_table;
        tables = tables && table;
        ++terms;
        with_readings(take, table ? confusion::table_order : one.of_term, at(policy, one.said), readings);
      }
      const auto said = [&](std::string_view who) {
        return one.said.empty() ? std::string(who) : fmt::format("{}, {}", who, one.said);
      };
      with_readings(take, one.of_mask, said("the mask"), mask);
      if (terms == 0) continue;
      const confusion of_all = tables ? confusion::table_order : one.of_term;
      if (terms > 1) with_readings(take, of_all, said("every term"), every_term);
      with_readings(take, of_all, said("every term and the mask"), everything);
    }
  }

  [[nodiscard]] static confusion ignored(hides hidden) {
    if (includes(hidden, hides::distant)) return confusion::window_ignored;
    if (includes(hidden, hides::other_segments)) return confusion::segments_ignored;
    if (includes(hidden, hides::future)) return confusion::future_visible;
    return includes(hidden, hides::padding) ? confusion::padding_visible : confusion::mask_ignored;
  }

  void masks(const taker& take) const {
    std::size_t mask = 0;
    for (const policy_source& policy : source_.policies) {
      if (!is_mask(policy)) continue;
      const auto drop = [mask](score_parts& parts) {
        parts.masks.erase(parts.masks.begin() + static_cast<std::ptrdiff_t>(mask));
      };
      with_parts(take, ignored(policy.hidden), at(policy, "ignored"), drop);
      ++mask;
    }
    if (mask > 1) {
      with_parts(take, confusion::mask_ignored, "all of them", [](score_parts& parts) { parts.masks.clear(); });
    }
    constexpr double lowest = std::numeric_limits<float>::lowest();
    for (const double number : {-1e4, -1e9, lowest}) {
      for (const auto& [how, said] : {std::pair{mask_number::use::added, "added"},
                                      std::pair{mask_number::use::in_place, "in place of the score"}}) {
        with_parts(take, confusion::finite_mask, fmt::format("{:.3g} {}", number, said),
                   [&, use = how](score_parts& parts) {
                     parts.mask = mask_number{number, use};
                   });
      }
    }
  }

  /// Each way of reading a term of all heads by other heads than its own.
  template <class Offer>
  void head_maps(const Offer& offer) const {
    const index_t count = source_.layout.query;
    const index_t group = count / source_.layout.key_value;
    const auto map = [&](const auto& of) {
      std::vector<index_t> out;
      for (index_t h = 0; h < count; ++h) out.push_back(of(h));
      return out;
    };
    for (index_t local = 2; 2 * local <= count; ++local) {
      if (count % local != 0) continue;
      offer(confusion::local_head_ids, fmt::format("{} heads", local), map([&](index_t h) { return h % local; }));
    }
    if (group > 1 && group < count) {
      offer(confusion::key_head_ids, std::string(), map([&](index_t h) { return h / group; }));
    }
    if (count > 1) offer(confusion::one_head_for_all, std::string(), map([](index_t) { return index_t{0}; }));
  }

  void terms(const taker& take) const {
    std::array<std::size_t, 3> seen{};
    for (std::size_t n = 0; n < readings_.size(); ++n) {
      const policy_source& policy = source_.policies[n];
      if (is(policy, family::qk_transform::name)) transform_uses(take, n);
      constexpr std::array names{family::content_term::name, family::score_bias::name, family::value_term::name};
      constexpr std::array members{&score_parts::contents, &score_parts::biases, &score_parts::values};
      const auto found = static_cast<std::size_t>(std::find(names.begin(), names.end(), policy.family) - names.begin());
      if (found == names.size()) continue;
      const std::size_t place = seen[found]++;
      const auto offer = [&](confusion what, std::string_view how, const auto& change) {
        with_parts(take, what, at(policy, how), [&](score_parts& parts) { change((parts.*members[found])[place]); });
      };
      offer(is(policy, family::value_term::name) ? confusion::value_term_dropped : confusion::term_dropped, "",
            [](added_numbers& term) { term.factor = 0.0; });
      offer(confusion::term_twice, "", [](added_numbers& term) { term.factor = 2.0; });
      offer(confusion::flipped_sign, "negated", [](added_numbers& term) { term.factor = -1.0; });
      head_maps([&](confusion what, const std::string& how, const std::vector<index_t>& heads) {
        std::vector<reading> readings = readings_;
        readings[n].asked_as = &heads;
        with_readings(take, what, at(policy, how), readings);
      });
    }
  }

  void transform_uses(const taker& take, std::size_t n) const {
    const policy_function& right = *readings_[n].numbers;
    const policy_function none = [](const position_call&, const attention_rows& rows) {
      policy_numbers out;
      out.query = rows.query;
      out.key = rows.key;
      return out;
    };
    const policy_function twice = [&right](const position_call& call, attention_rows rows) {
      policy_numbers once = right(call, rows);
      rows.query = std::move(once.query);
      rows.key = std::move(once.key);
      return right(call, rows);
    };
    std::vector<reading> readings = readings_;
    readings[n].numbers = &none;
    with_readings(take, confusion::term_dropped, source_.policies[n].name, readings);
    readings[n].numbers = &twice;
    with_readings(take, confusion::term_twice, source_.policies[n].name, readings);
  }

  void order(const taker& take) const {
    const auto scaled = [&](confusion what, const std::string& where, double scale) {
      with_parts(take, what, where, [scale](score_parts& parts) { parts.scale = scale; });
    };
    const score_parts& right = right_parts_;
    const auto dim = static_cast<double>(source_.layout.dim);
    if (!right.biases.empty()) {
      with_parts(take, confusion::scale_on_bias, "",
                 [](score_parts& parts) { parts.bias_order = scale_order::before_scale; });
    }
    if (!right.contents.empty()) {
      with_parts(take, confusion::content_not_scaled, "",
                 [](score_parts& parts) { parts.content_order = scale_order::after_scale; });
    }
    if (right.scale == 1.0) {
      scaled(confusion::scale_added, "", 1.0 / std::sqrt(dim));
    } else {
      scaled(confusion::scale_dropped, "", 1.0);
      for (index_t terms = 1; terms <= std::max(index_t{3}, source_.dot_products); ++terms) {
        scaled(confusion::terms_miscounted, fmt::format("{} counted", terms),
               1.0 / std::sqrt(dim * static_cast<double>(terms)));
      }
    }
    if (right.cap) {
      const bool before = right.cap->place() == scale::softcap_place::before_bias;
      const auto other = before ? scale::softcap_place::after_bias : scale::softcap_place::before_bias;
      with_parts(take, confusion::softcap_misplaced, std::string(scale::name_of(other)), [&](score_parts& parts) {
        parts.cap.emplace(scale::softcap_settings{.cap = parts.cap->cap(), .place = other});
      });
      with_parts(take, confusion::softcap_dropped, "", [](score_parts& parts) { parts.cap.reset(); });
    }
    if (!right.sink.empty()) {
      with_parts(take, confusion::sink_dropped, "", [](score_parts& parts) { parts.sink.clear(); });
    }
  }

  void heads_of_keys(const taker& take) const {
    const index_t shared = source_.layout.key_value;
    if (shared == 1 || shared == source_.layout.query) return;
    if (!take.wants(confusion::key_heads_interleaved, "")) return;
    attention_rows rows = rows_;
    for (std::size_t h = 0; h < rows.key_heads.size(); ++h) rows.key_heads[h] = static_cast<index_t>(h) % shared;
    take.take(confusion::key_heads_interleaved, "", evaluate(parts_of(readings_, std::move(rows))));
  }

  const attention_source& source_;
  position_call call_;
  attention_rows rows_;
  std::vector<reading> readings_;
  std::vector<numbers_pointer> right_;
  score_parts right_parts_;
};

}  // namespace posgeo::audit
