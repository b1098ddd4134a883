// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/core/policy.hpp>
#include <posgeo/core/tensor.hpp>
#include <posgeo/model/policy_descriptions.hpp>
#include <posgeo/scale/softcap.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace posgeo {

/// An attention bound to a call: immutable, copyable, allocates nothing when asked. The members name the stages of the
/// score order in model/attention.hpp. Made by attention::compile.
template <class T, class Transforms, class Contents, class Biases, class Values, class Visibilities, class Sinks>
class plan {
 public:
  using scalar = T;
  static constexpr bool has_transforms = std::tuple_size_v<Transforms> != 0;
  static constexpr bool has_contents = std::tuple_size_v<Contents> != 0;
  static constexpr bool has_biases = std::tuple_size_v<Biases> != 0;
  static constexpr bool has_values = std::tuple_size_v<Values> != 0;
  static constexpr bool has_sink = std::tuple_size_v<Sinks> != 0;

  plan(const heads& layout, position_call call, policy_descriptions method, double scale,
       std::optional<scale::softcap> cap, Transforms transforms, Contents contents, Biases biases, Values values,
       Visibilities visibilities, Sinks sinks)
      : layout_(layout),
        call_(std::move(call)),
        method_(std::move(method)),
        scale_(static_cast<T>(scale)),
        cap_(cap),
        transforms_(std::move(transforms)),
        contents_(std::move(contents)),
        biases_(std::move(biases)),
        values_(std::move(values)),
        visibilities_(std::move(visibilities)),
        sinks_(std::move(sinks)) {}

  [[nodiscard]] const heads& layout() const noexcept { return layout_; }
  [[nodiscard]] const position_call& call() const noexcept { return call_; }
  /// What the policies are, as attention::describe() says; shared by every plan of one attention.
  /// Throws: errc::description if a policy has no describe(). Nothing else of the plan asks for it.
  [[nodiscard]] const std::vector<description>& method() const { return method_.all(); }
  [[nodiscard]] T scale() const noexcept { return scale_; }
  /// The cap that applies at a place of the score order, if there is one.
  [[nodiscard]] std::optional<T> cap(scale::softcap_place place) const noexcept {
    if (!cap_ || cap_->place() != place) return std::nullopt;
    return static_cast<T>(cap_->cap());
  }
  /// The logit of the softmax sink, if there is one.
  [[nodiscard]] std::optional<T> sink([[maybe_unused]] head_index h) const noexcept {
    if constexpr (has_sink) return std::get<0>(sinks_)(h);
    return std::nullopt;
  }

  /// The compiled terms of each family, for executors that ask them for their block forms.
  [[nodiscard]] const Transforms& transforms() const noexcept { return transforms_; }
  [[nodiscard]] const Contents& contents() const noexcept { return contents_; }
  [[nodiscard]] const Biases& biases() const noexcept { return biases_; }
  [[nodiscard]] const Values& values() const noexcept { return values_; }
  [[nodiscard]] const Visibilities& visibilities() const noexcept { return visibilities_; }
  [[nodiscard]] const Sinks& sinks() const noexcept { return sinks_; }

  void transform_query(batch_index b, head_index h, query_index i, std::span<T> row) const noexcept {
    std::apply([&](const auto&... term) { (term.query(b, h, i, row), ...); }, transforms_);
  }
  void transform_key(batch_index b, head_index h, key_index j, std::span<T> row) const noexcept {
    std::apply([&](const auto&... term) { (term.key(b, h, j, row), ...); }, transforms_);
  }
  [[nodiscard]] T content(batch_index b, head_index h, query_index i, key_index j, std::span<const T> query,
                          std::span<const T> key) const noexcept {
    return std::apply([&](const auto&... term) { return (T{0} + ... + term(b, h, i, j, query, key)); }, contents_);
  }
  /// The sum of the biases; -infinity exactly if one of them is.
  [[nodiscard]] T bias(batch_index b, head_index h, query_index i, key_index j) const noexcept {
    constexpr T lowest = std::numeric_limits<T>::lowest();
    T sum{0};
    bool removed = false;
    const auto add = [&](T part) {
      removed = removed || part < lowest;
      sum += part;
    };
    std::apply([&](const auto&... term) { (add(term(b, h, i, j)), ...); }, biases_);
    return sum < lowest && !removed ? lowest : sum;  // finite penalties hide no key, whatever their sum
  }
  /// Whether a bias reads memory of the caller's that the view can reach.
  template <class View>
  [[nodiscard]] bool reads(const View& written) const noexcept {
    const auto shared = [&written](const auto& term) {
      if constexpr (requires { term.reads(); }) return overlap(written, term.reads());
      return false;
    };
    return std::apply([&](const auto&... term) { return (shared(term) || ...); }, biases_);
  }
  /// Calls visit(width) for each value term that adds rows of a width of its own.
  template <class Visit>
  void each_value_width(const Visit& visit) const {
    const auto ask = [&visit](const auto& term) {
      if constexpr (requires { term.width(); }) visit(term.width());
    };
    std::apply([&](const auto&... term) { (ask(term), ...); }, values_);
  }
  [[nodiscard]] bool visible(batch_index b, query_index i, key_index j) const noexcept {
    return std::apply([&](const auto&... term) { return (term(b, i, j) && ...); }, visibilities_);
  }
  /// Keys outside of which visible(b, i, j) is false; within [0, keys).
  [[nodiscard]] key_range keys(batch_index b, query_index i) const noexcept {
    key_range range{key_index{0}, key_index{call_.keys()}};
    const auto narrow = [&range](key_range part) {
      range = {std::max(range.begin, part.begin), std::min(range.end, part.end)};
    };
    std::apply([&](const auto&... term) { (narrow(term.keys(b, i)), ...); }, visibilities_);
    return range;
  }
  void accumulate(batch_index b, head_index h, query_index i, key_index j, T weight,
                  std::span<T> out_row) const noexcept {
    std::apply([&](const auto&... term) { (term.accumulate(b, h, i, j, weight, out_row), ...); }, values_);
  }

 private:
  heads layout_;
  position_call call_;
  policy_descriptions method_;
  T scale_;
  std::optional<scale::softcap> cap_;
  Transforms transforms_;
  Contents contents_;
  Biases biases_;
  Values values_;
  Visibilities visibilities_;
  Sinks sinks_;
};

}  // namespace posgeo
