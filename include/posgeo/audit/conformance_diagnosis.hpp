// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/attend/eager.hpp>
#include <posgeo/audit/conformance_result.hpp>
#include <posgeo/audit/confusion_trials.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace posgeo::audit {

namespace detail {

/// One run of the function and what eager gives for the same rows.
struct observed_call {
  std::string name;
  const position_call* call = nullptr;
  attention_rows rows;
  attention_numbers given;
  attention_numbers right;
  conformity result = conformity::passed;
  std::string message;
};

[[nodiscard]] inline double relative_gap(double given, double expected) noexcept {
  if (given == expected) return 0.0;
  const double by = std::abs(given - expected) / (1.0 + std::abs(expected));
  return std::isnan(by) ? std::numeric_limits<double>::infinity() : by;
}

enum class rows_compared { all, with_keys };

/// Calls visit(b, h, i, row) for each row whose query is a token.
template <class Visit>
void each_query(const observed_call& one, const Visit& visit) {
  std::size_t row = 0;
  for (index_t b = 0; b < one.rows.batch; ++b) {
    for (index_t h = 0; h < one.rows.layout.query; ++h) {
      for (index_t i = 0; i < one.rows.queries; ++i, ++row) {
        if (one.call->active(batch_index{b}, query_index{i})) visit(b, h, i, row);
      }
    }
  }
}

/// Whether the function wrote a log-sum-exp.
[[nodiscard]] inline bool gives_log_sum_exp(const observed_call& one) {
  bool any = false;
  each_query(one,
             [&](index_t, index_t, index_t, std::size_t row) { any = any || !std::isnan(one.given.log_sum_exp[row]); });
  return any;
}

/// The largest difference of two results of a call, and the first beyond the tolerance.
struct comparison {
  double largest = 0.0;
  std::optional<first_difference> first;
};
[[nodiscard]] inline comparison compare_rows(const observed_call& one, const attention_numbers& given,
                                             const attention_numbers& expected, double tolerance, rows_compared which) {
  comparison out;
  const auto width = static_cast<std::size_t>(one.rows.value_dim);
  const auto keys = static_cast<std::size_t>(one.rows.keys);
  const bool with_log_sum_exp = gives_log_sum_exp(one);
  each_query(one, [&](index_t b, index_t h, index_t i, std::size_t row) {
    const double* const weights = one.right.weights.data() + row * keys;
    const double* const heaviest = std::max_element(weights, weights + keys);
    const bool sees = keys > 0 && *heaviest > 0.0;
    if (!sees && which == rows_compared::with_keys) return;
    const auto add = [&](compared of, index_t dimension, double a, double e) {
      const double by = relative_gap(a, e);
      out.largest = std::max(out.largest, by);
      if (by <= tolerance || out.first) return;
      out.first =
          first_difference{of, b, h, i, dimension, sees ? heaviest - weights : -1, sees ? *heaviest : 0.0, e, a};
    };
    for (std::size_t d = 0; d < width; ++d) {
      add(compared::output, static_cast<index_t>(d), given.output[row * width + d], expected.output[row * width + d]);
    }
    if (with_log_sum_exp) add(compared::log_sum_exp, 0, given.log_sum_exp[row], expected.log_sum_exp[row]);
  });
  return out;
}

/// Looks for confusions that explain what was given. Those that fail in a call are not tried in the next.
class explanation_search {
 public:
  explanation_search(const attention_source& source, double tolerance) : source_(source), tolerance_(tolerance) {}

  /// In every call if there are such, else in some; of each confusion the place that explains the most, and of those
  /// the first that was tried.
  [[nodiscard]] std::vector<explanation> of(const std::vector<const observed_call*>& differing,
                                            const std::vector<const observed_call*>& passing) {
    for (const observed_call* one : differing) run(*one, one == differing.front() ? trying::all : trying::unbroken);
    for (const observed_call* one : passing) run(*one, trying::unbroken);
    const auto unbroken = [&](const auto& entry) { return entry.second.unbroken(differing.size()); };
    const bool everywhere = std::any_of(all_.begin(), all_.end(), unbroken);
    if (!everywhere) {
      all_.clear();
      for (const observed_call* one : differing) run(*one, trying::all);
    }
    std::map<confusion, const found*> best;
    for (const auto& entry : all_) {
      if (entry.second.calls.empty() || (everywhere && !unbroken(entry))) continue;
      const found*& so_far = best[entry.first.first];
      if (so_far == nullptr || entry.second.before(*so_far)) so_far = &entry.second;
    }
    if (best.size() > 1) best.erase(confusion::empty_row);  // it says less than any other
    std::vector<explanation> out;
    out.reserve(best.size());
    for (const auto& [what, it] : best)
      out.push_back({what, it->where, it->calls, everywhere ? explained::every_call : explained::some_calls});
    return out;
  }

 private:
  enum class trying { all, unbroken };
  struct found {
    std::string where;
    std::size_t tried = 0;  ///< before it
    std::vector<std::string> calls;
    bool broken = false;  ///< whether it changes a call to something else than was given
    [[nodiscard]] bool unbroken(std::size_t differing) const noexcept { return !broken && calls.size() == differing; }
    [[nodiscard]] bool before(const found& other) const noexcept {
      return calls.size() != other.calls.size() ? calls.size() > other.calls.size() : tried < other.tried;
    }
  };

  void run(const observed_call& one, trying which) {
    const auto same = [&](const attention_numbers& a, const attention_numbers& b, rows_compared rows) {
      return compare_rows(one, a, b, tolerance_, rows).largest <= tolerance_;
    };
    const auto note = [&](confusion what, const std::string& where, bool agrees) {
      const auto [at, fresh] = all_.try_emplace({what, where});
      found& it = at->second;
      if (fresh) it.tried = all_.size();
      it.where = where;
      it.broken = it.broken || !agrees;
      if (agrees) it.calls.push_back(one.name);
    };
    const auto wants = [&](confusion what, const std::string& where) {
      if (which == trying::all) return true;
      const auto at = all_.find({what, where});
      return at != all_.end() && !at->second.broken;
    };
    const auto take = [&](confusion what, const std::string& where, const attention_numbers& numbers) {
      if (!same(numbers, one.right, rows_compared::all)) {
        note(what, where, same(one.given, numbers, rows_compared::all));
      }
    };
    confused_attention(source_, *one.call, one.rows).each({wants, take});
    if (one.result == conformity::differs && wants(confusion::empty_row, "")) {
      note(confusion::empty_row, "", same(one.given, one.right, rows_compared::with_keys));
    }
  }

  const attention_source& source_;
  double tolerance_;
  std::map<std::pair<confusion, std::string>, found> all_;
};

template <class T, std::size_t Rank>
[[nodiscard]] tensor<T, Rank> random_numbers(const std::array<index_t, Rank>& extents, std::mt19937_64& engine) {
  tensor<T, Rank> out(extents);
  // sums of four uniform numbers: the same on every platform, unlike std::normal_distribution
  for (T& x : out.values()) {
    double sum = -2.0;
    for (int n = 0; n < 4; ++n) sum += std::ldexp(static_cast<double>(engine() >> 11), -53);
    x = static_cast<T>(1.7 * sum);
  }
  return out;
}

template <class To, class From, std::size_t Rank>
[[nodiscard]] tensor<To, Rank> converted(const tensor<From, Rank>& from) {
  tensor<To, Rank> out(from.extents());
  std::transform(from.values().begin(), from.values().end(), out.values().begin(),
                 [](From x) { return static_cast<To>(x); });
  return out;
}
template <class Tensor>
[[nodiscard]] std::vector<double> as_doubles(const Tensor& from) {
  return {from.values().begin(), from.values().end()};
}

/// The width of values: that of the value terms, or the one that is asked for.
template <class Plan>
[[nodiscard]] index_t value_width(const Plan& plan, const conformance_settings& settings) {
  index_t width = settings.value_dim.value_or(plan.layout().dim);
  plan.each_value_width([&](index_t w) { width = w; });
  return width;
}

/// A function under audit, without its type, as every plan of one attention calls it.
template <class T, class... Policies>
using plan_for =
    decltype(std::declval<const attention<Policies...>&>().template compile<T>(std::declval<const position_call&>()));
template <class T, class... Policies>
using function_for = std::function<void(const plan_for<T, Policies...>&, const qkv<T>&, const attention_output<T>&)>;

template <class T, class... Policies>
[[nodiscard]] observed_call observe_call(const function_for<T, Policies...>& function,
                                         const attention<Policies...>& model, const position_call& call,
                                         const conformance_settings& settings) {
  observed_call out;
  out.call = &call;
  const violations broken = model.check(call);
  if (!broken.empty()) {
    out.result = conformity::not_taken;
    out.message = broken.front().message;
    return out;
  }
  const auto plan = model.template compile<T>(call);
  const heads& layout = model.layout();
  const index_t width = value_width(plan, settings);
  std::mt19937_64 engine(settings.seed);
  const auto query = random_numbers<T, 4>({call.batch(), layout.query, call.queries(), layout.dim}, engine);
  const auto key = random_numbers<T, 4>({call.batch(), layout.key_value, call.keys(), layout.dim}, engine);
  const auto value = random_numbers<T, 4>({call.batch(), layout.key_value, call.keys(), width}, engine);
  out.rows = {.batch = call.batch(),
              .queries = call.queries(),
              .keys = call.keys(),
              .value_dim = width,
              .layout = layout,
              .key_heads = {},
              .query = as_doubles(query),
              .key = as_doubles(key),
              .value = as_doubles(value)};
  for (const head_index h : indices<head_index>(layout.query)) out.rows.key_heads.push_back(key_head(layout, h));

  const auto wide_query = converted<double>(query);
  const auto wide_key = converted<double>(key);
  const auto wide_value = converted<double>(value);
  const auto right = attend(eager{}, model.template compile<double>(call),
                            {wide_query.view(), wide_key.view(), wide_value.view()}, also::everything);
  out.right = {as_doubles(right.output), as_doubles(right.log_sum_exp), as_doubles(right.probabilities)};

  constexpr T unwritten = std::numeric_limits<T>::quiet_NaN();
  tensor<T, 4> output({call.batch(), layout.query, call.queries(), width});
  tensor<T, 3> log_sum_exp({call.batch(), layout.query, call.queries()});
  std::fill(output.values().begin(), output.values().end(), unwritten);
  std::fill(log_sum_exp.values().begin(), log_sum_exp.values().end(), unwritten);
  const qkv<T> in{query.view(), key.view(), value.view()};
  const attention_output<T> to{output.view(), log_sum_exp.view()};
  try {
    function(plan, in, to);
  } catch (const std::exception& refusal) {
    out.result = conformity::refused;
    out.message = refusal.what();
    return out;
  }
  out.given = {as_doubles(output), as_doubles(log_sum_exp), {}};
  return out;
}

}  // namespace detail

/// Holds function(plan, in, out) against the eager executor in double, and, where it differs, tries every known
/// confusion: one is named if eager with it gives what the function gives, in the calls that differ and in those that
/// do not.
/// Shapes: random rows that fit the calls; out.log_sum_exp is given, scores and probabilities are not. What the
///         function leaves unwritten of the log-sum-exp is not compared, nor are query rows that are padding.
/// Units:  T is the type of the plan and of the rows.
/// Throws: what the policies throw for a call that the attention takes.
template <class T = double, class Function, class... Policies>
[[nodiscard]] diagnosis diagnose(std::string name, const Function& given, const attention<Policies...>& model,
                                 const std::vector<named_call>& calls, const conformance_settings& settings = {}) {
  const detail::function_for<T, Policies...> function = std::cref(given);
  diagnosis out{.name = std::move(name), .calls = {}, .explanations = {}};
  out.tolerance = settings.tolerance.value_or(4096.0 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  std::vector<detail::observed_call> observed;
  for (const named_call& one : calls) {
    detail::observed_call seen = detail::observe_call<T, Policies...>(function, model, one.call, settings);
    seen.name = one.name;
    call_conformance result{.call = one.name, .result = seen.result, .first = {}, .message = seen.message};
    if (seen.result == conformity::passed) {
      const auto compared =
          detail::compare_rows(seen, seen.given, seen.right, out.tolerance, detail::rows_compared::all);
      result.largest = compared.largest;
      result.first = compared.first;
      if (compared.first) result.result = seen.result = conformity::differs;
    }
    out.calls.push_back(std::move(result));
    observed.push_back(std::move(seen));
  }
  std::vector<const detail::observed_call*> differing;
  std::vector<const detail::observed_call*> passing;
  for (const detail::observed_call& one : observed) {
    if (one.result == conformity::differs) differing.push_back(&one);
    if (one.result == conformity::passed) passing.push_back(&one);
  }
  if (differing.empty()) return out;
  const attention_source source = source_of(model);
  out.explanations = detail::explanation_search(source, out.tolerance).of(differing, passing);
  return out;
}

/// The same for one call of one's own.
template <class T = double, class Function, class... Policies>
[[nodiscard]] diagnosis diagnose(const Function& function, const attention<Policies...>& model,
                                 const position_call& call, const conformance_settings& settings = {}) {
  return diagnose<T>("attention", function, model, {{"call", call}}, settings);
}

}  // namespace posgeo::audit
