// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/bias/score_bias.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/head_parts.hpp>
#include <posgeo/core/narrow.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/table_gradient.hpp>
#include <posgeo/core/tensor.hpp>

#include <limits>

namespace posgeo::bias {

/// The gradient of a pair bias: one number for each of the caller's, those of broadcast axes summed.
/// Shapes: the extents of the pair.
template <class T>
class pair_gradient : public table_gradients<T, 1> {
 public:
  explicit pair_gradient(const std::array<index_t, 4>& extents)
      : table_gradients<T, 1>(table_gradient<T>("pair", extents[0] * extents[1] * extents[2],
                                                std::max<index_t>(extents[3], 1), {extents.begin(), extents.end()})),
        extents_(extents) {}

  [[nodiscard]] const std::array<index_t, 4>& extents() const noexcept { return extents_; }
  void add(index_t b, index_t h, index_t i, index_t j, T d) noexcept {
    (*this)[0].add((b * extents_[1] + h) * extents_[2] + i, j, d);
  }
  using table_gradients<T, 1>::add;

  /// Adds it to a tensor of the caller's. Throws: errc::shape_mismatch for other extents than the pair's.
  void add_to(tensor_view<T, 4> caller) const {
    require(caller.extents() == extents_, errc::shape_mismatch, "gradient of a pair bias", "caller's tensor",
            text("{} x {} x {} x {}", extents_[0], extents_[1], extents_[2], extents_[3]), "other extents");
    for (index_t row = 0; row < extents_[0] * extents_[1] * extents_[2]; ++row) {
      const auto to = caller.row(row / extents_[2] / extents_[1], row / extents_[2] % extents_[1], row % extents_[2]);
      for (std::size_t j = 0; j < to.size(); ++j) to[j] += (*this)[0](row, static_cast<index_t>(j));
    }
  }

 private:
  std::array<index_t, 4> extents_;
};

/// Adds the caller's own number for each pair. Axes of extent 1 are broadcast and never expanded.
/// Shapes: [batch or 1, query heads or 1, queries or 1, keys or 1]; the memory stays the caller's and must outlive use.
/// Units:  score, added after the scale. -infinity removes exactly that key. The values must not change after compile,
///         which checks them, and no output may share their memory.
/// Throws: errc::shape_mismatch for an axis that is neither 1 nor the call's, errc::non_finite for NaN or +infinity.
///         When compiled.
/// Source: the additive attention bias of Graphormer, AlphaFold and ONNX Attention.
template <class Element>
requires(std::numeric_limits<Element>::has_infinity) class pair {
 public:
  using family = posgeo::family::score_bias;

  explicit pair(tensor_view<const Element, 4> values) : values_(values) {}

  /// The numbers are the caller's, and may be many: `identity` stands for them. Use named{identity, pair}. An axis
  /// whose extent is 1 is broadcast.
  [[nodiscard]] description describe_as(std::string_view identity) const {
    const auto& extents = values_.extents();
    return description("pair")
        .with("identity", identity)
        .with("extents", std::vector<index_t>(extents.begin(), extents.end()))
        .with("element", name_of(precision_of<Element>));
  }

  /// The storage rows, unless one number stands for every pair.
  [[nodiscard]] reads positional_reads() const noexcept {
    const bool one = values_.extent(0) == 1 && values_.extent(2) == 1 && values_.extent(3) == 1;
    return one ? reads::nothing : reads::row;
  }

  /// The view of the given heads; all of it where they share one.
  /// Throws: errc::head_partition for heads without a common distance, which no view of the same memory has.
  [[nodiscard]] pair part(const head_slice& slice) const {
    if (values_.extent(1) == 1) return *this;
    slice.require_of(values_.extent(1), "pair bias");
    const std::vector<index_t>& wanted = slice.query_heads();
    const index_t step = wanted.size() > 1 ? wanted[1] - wanted[0] : 1;
    for (std::size_t n = 1; n < wanted.size(); ++n) {
      require(wanted[n] - wanted[n - 1] == step, errc::head_partition, "pair bias", text("local head {}", n),
              text("head {}, {} from the one before it, as a view has", wanted[n - 1] + step, step), wanted[n]);
    }
    auto extents = values_.extents();
    auto strides = values_.strides();
    extents[1] = slice.layout().query;
    strides[1] *= step;
    if (values_.empty()) return pair(tensor_view<const Element, 4>(values_.data(), extents, strides));
    return pair(tensor_view<const Element, 4>(values_.data() + wanted[0] * values_.strides()[1], extents, strides));
  }

  void check(const position_call& call, const heads& layout, violations& found) const {
    const index_t expected[] = {call.batch(), layout.query, call.queries(), call.keys()};
    const char* const axis[] = {"batch", "query heads", "queries", "keys"};
    for (std::size_t a = 0; a < 4; ++a) {
      found.expect(values_.extent(a) == 1 || values_.extent(a) == expected[a], errc::shape_mismatch, "pair bias",
                   axis[a], text("1 or {}", expected[a]), values_.extent(a));
    }
    each_row([&](std::span<const Element> row) {
      for (const Element value : row) {
        found.expect(value < std::numeric_limits<Element>::infinity(), errc::non_finite, "pair bias", "value",
                     "a number or -infinity", static_cast<double>(value));  // NaN is not below infinity either
      }
    });
  }

  template <class T>
  class term {
   public:
    /// What attend must not write to.
    [[nodiscard]] const tensor_view<const Element, 4>& reads() const noexcept { return values_; }
    [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j) const noexcept {
      const bias_line<Element> of_query = line(b, h, i);
      return static_cast<T>(of_query.first[j.value() * of_query.step]);
    }
    [[nodiscard]] bias_line<Element> line(batch_index b, head_index h, query_index i) const noexcept {
      const auto along = [this](std::size_t axis, index_t at) { return values_.extent(axis) == 1 ? 0 : at; };
      return {values_.row(along(0, b.value()), along(1, h.value()), along(2, i.value())).data(),
              values_.extent(3) == 1 ? 0 : 1};
    }
    [[nodiscard]] pair_gradient<T> gradient() const { return pair_gradient<T>(values_.extents()); }
    void add_gradient(batch_index b, head_index h, query_index i, key_index j, T d_score,
                      pair_gradient<T>& to) const noexcept {
      const auto along = [this](std::size_t axis, index_t at) { return values_.extent(axis) == 1 ? 0 : at; };
      to.add(along(0, b.value()), along(1, h.value()), along(2, i.value()), along(3, j.value()), d_score);
    }

   private:
    friend class pair;
    explicit term(tensor_view<const Element, 4> values) : values_(values) {}
    tensor_view<const Element, 4> values_;
  };

  template <class T>
  [[nodiscard]] term<T> compile(const position_call& call, const heads& layout) const {
    require_fit(*this, call, layout);
    each_row([](std::span<const Element> row) {
      for (const Element value : row) {
        const Element removed = -std::numeric_limits<Element>::infinity();
        require(value == removed || fits<T>(value), errc::non_finite, "pair bias", "value",
                "a number that the type of the plan can hold", static_cast<double>(value));
      }
    });
    return term<T>{values_};
  }

 private:
  template <class Visit>
  void each_row(const Visit& visit) const {
    for (index_t b = 0; b < values_.extent(0); ++b) {
      for (index_t h = 0; h < values_.extent(1); ++h) {
        for (index_t i = 0; i < values_.extent(2); ++i) visit(values_.row(b, h, i));
      }
    }
  }

  tensor_view<const Element, 4> values_;
};

template <class Element>
pair(tensor_view<Element, 4>) -> pair<std::remove_const_t<Element>>;

}  // namespace posgeo::bias
