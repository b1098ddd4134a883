// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/description.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/policy.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/table_gradient.hpp>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace posgeo::scale {

/// One more logit in each row's softmax that has no value: weights = exp(s - L), L = log(sum exp(s) + exp(sink_h)).
/// Shapes: [query heads].
/// Units:  final score: neither scaled nor capped nor biased.
/// Throws: errc::non_finite, when built, for a logit that is not finite; when compiled, for one that the type of the
///         plan cannot hold; errc::head_count, when compiled, without one logit for each query head.
/// Source: Xiao et al. 2024 (StreamingLLM), equation 2, where it is 0; OpenAI 2025 (gpt-oss), section 2, learned.
class sink {
 public:
  using family = posgeo::family::softmax_sink;

  /// The logit of each query head.
  explicit sink(std::vector<double> logits) {
    for (std::size_t h = 0; h < logits.size(); ++h) {
      require(std::isfinite(logits[h]), errc::non_finite, "softmax sink", text("logit of head {}", h),
              "a finite number", logits[h]);
    }
    logits_ = std::make_shared<const std::vector<double>>(std::move(logits));
  }

  /// A logit of 0 for each head: a 1 is added to every denominator.
  [[nodiscard]] static sink off_by_one(const heads& layout) {
    violations found;
    posgeo::check(layout, found);
    found.throw_if_any();
    return sink(std::vector<double>(static_cast<std::size_t>(layout.query)));
  }

  [[nodiscard]] const std::vector<double>& logits() const noexcept { return *logits_; }

  [[nodiscard]] static constexpr reads positional_reads() noexcept { return reads::nothing; }
  [[nodiscard]] description describe() const { return description("sink").with("logits", *logits_); }

  [[nodiscard]] sink part(const head_slice& slice) const { return sink(numbers_of(*logits_, slice, "softmax sink")); }

  void check(const position_call&, const heads& layout, violations& found) const {
    found.expect(std::cmp_equal(logits_->size(), layout.query), errc::head_count, "softmax sink", "logits",
                 text("{} query heads", layout.query), logits_->size());
  }

  template <class T>
  class term {
   public:
    [[nodiscard]] T operator()(head_index h) const noexcept {
      return static_cast<T>((*logits_)[static_cast<std::size_t>(h.value())]);
    }
    /// Of the logits: [query heads].
    [[nodiscard]] table_gradients<T, 1> gradient() const {
      const auto count = static_cast<index_t>(logits_->size());
      return table_gradients<T, 1>(table_gradient<T>("logits", count, 1, {count}));
    }
    void add_gradient(head_index h, T d_logit, table_gradients<T, 1>& to) const noexcept {
      to[0].add(h.value(), 0, d_logit);
    }

   private:
    friend class sink;
    explicit term(std::shared_ptr<const std::vector<double>> logits) : logits_(std::move(logits)) {}
    std::shared_ptr<const std::vector<double>> logits_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    require_fits<T>(std::span<const double>(*logits_), "softmax sink");
    return term<T>(logits_);
  }

 private:
  std::shared_ptr<const std::vector<double>> logits_;
};

}  // namespace posgeo::scale
