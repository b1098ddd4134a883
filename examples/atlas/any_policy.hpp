// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/content.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/model/attention.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

// Policies that are chosen when the program runs. Every attention of the atlas is of one of two types, so that what
// audits and draws it is compiled twice. A library's own kernel would not pay a call for each pair; a report does.
namespace posgeo::atlas {

/// What is chosen when the program runs already.
struct chosen {};
template <class P>
concept fixed = !std::derived_from<P, chosen>;

template <class T>
struct any_bias_term {
  std::function<T(batch_index, head_index, query_index, key_index)> of;
  [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j) const noexcept {
    return of ? of(b, h, i, j) : T{0};
  }
  template <class Term>
  [[nodiscard]] static any_bias_term around(const Term& term) {
    return {term};
  }
};

template <class T>
struct any_content_term {
  using row = std::span<const T>;
  std::function<T(batch_index, head_index, query_index, key_index, row, row)> of;
  [[nodiscard]] T operator()(batch_index b, head_index h, query_index i, key_index j, row query,
                             row key) const noexcept {
    return of ? of(b, h, i, j, query, key) : T{0};
  }
  template <class Term>
  [[nodiscard]] static any_content_term around(const Term& term) {
    return {term};
  }
};

template <class T>
struct any_value_term {
  std::function<void(batch_index, head_index, query_index, key_index, T, std::span<T>)> of;
  void accumulate(batch_index b, head_index h, query_index i, key_index j, T weight, std::span<T> row) const noexcept {
    if (of) of(b, h, i, j, weight, row);
  }
  template <class Term>
  [[nodiscard]] static any_value_term around(const Term& term) {
    return {[term](batch_index b, head_index h, query_index i, key_index j, T weight, std::span<T> row) {
      term.accumulate(b, h, i, j, weight, row);
    }};
  }
};

template <class T>
struct any_transform_term {
  std::function<void(batch_index, head_index, query_index, std::span<T>)> of_query;
  std::function<void(batch_index, head_index, key_index, std::span<T>)> of_key;
  void query(batch_index b, head_index h, query_index i, std::span<T> row) const noexcept {
    if (of_query) of_query(b, h, i, row);
  }
  void key(batch_index b, head_index h, key_index j, std::span<T> row) const noexcept {
    if (of_key) of_key(b, h, j, row);
  }
  template <class Term>
  [[nodiscard]] static any_transform_term around(const Term& term) {
    return {[term](batch_index b, head_index h, query_index i, std::span<T> row) { term.query(b, h, i, row); },
            [term](batch_index b, head_index h, key_index j, std::span<T> row) { term.key(b, h, j, row); }};
  }
};

template <class T>
struct any_visible_term {
  std::function<bool(batch_index, query_index, key_index)> of;
  std::function<key_range(batch_index, query_index)> range;
  [[nodiscard]] bool operator()(batch_index b, query_index i, key_index j) const noexcept { return of(b, i, j); }
  [[nodiscard]] key_range keys(batch_index b, query_index i) const noexcept { return range(b, i); }
  template <class Term>
  [[nodiscard]] static any_visible_term around(const Term& term) {
    return {term, [term](batch_index b, query_index i) { return term.keys(b, i); }};
  }
};

/// A policy of one family, or none.
template <class Family, template <class> class Term>
class any_policy : public chosen {
 public:
  using family = Family;
  static constexpr std::string_view absent = "absent";

  any_policy() = default;  ///< none
  template <class P>
  requires(fixed<P>&& member_of<P, Family>) any_policy(P policy)
      : held_(std::make_shared<holder<P>>(std::move(policy))) {}  // NOLINT: converts, as a variant does

  [[nodiscard]] bool any() const noexcept { return held_ != nullptr; }
  [[nodiscard]] description describe() const { return held_ ? held_->describe() : description(absent); }
  [[nodiscard]] reads positional_reads() const noexcept { return held_ ? held_->positional_reads() : reads::nothing; }
  [[nodiscard]] positional_range range() const noexcept { return held_ ? held_->range() : positional_range{}; }
  [[nodiscard]] bool looks_back_only() const noexcept { return held_ && held_->looks_back_only(); }
  void check(const position_call& call, const heads& layout, violations& found) const {
    if (held_) held_->check(call, layout, found);
  }
  template <class T>
  [[nodiscard]] Term<T> compile(const position_call& call, const heads& layout) const {
    if constexpr (std::same_as<T, double>) return held_ ? held_->compile(call, layout) : Term<double>{};
    return {};
  }

 protected:
  struct base {
    virtual ~base() = default;
    [[nodiscard]] virtual description describe() const = 0;
    [[nodiscard]] virtual reads positional_reads() const noexcept = 0;
    [[nodiscard]] virtual positional_range range() const noexcept = 0;
    [[nodiscard]] virtual bool looks_back_only() const noexcept = 0;
    [[nodiscard]] virtual index_t dot_products() const noexcept = 0;
    [[nodiscard]] virtual hides hidden() const noexcept = 0;
    [[nodiscard]] virtual any_policy unmasked() const = 0;
    virtual void check(const position_call& call, const heads& layout, violations& found) const = 0;
    [[nodiscard]] virtual Term<double> compile(const position_call& call, const heads& layout) const = 0;
  };
  template <class P>
  struct holder final : base {
    explicit holder(P given) : policy(std::move(given)) {}
    [[nodiscard]] description describe() const override { return policy.describe(); }
    [[nodiscard]] reads positional_reads() const noexcept override { return policy.positional_reads(); }
    [[nodiscard]] positional_range range() const noexcept override { return range_of(policy); }
    [[nodiscard]] bool looks_back_only() const noexcept override {
      if constexpr (posgeo::looks_back_only<P>) return policy.looks_back_only();
      return false;
    }
    [[nodiscard]] index_t dot_products() const noexcept override {
      if constexpr (requires { policy.dot_products(); }) return policy.dot_products();
      return 0;
    }
    [[nodiscard]] hides hidden() const noexcept override {
      if constexpr (requires { policy.hidden(); }) return policy.hidden();
      return hides::nothing;
    }
    [[nodiscard]] any_policy unmasked() const override {
      if constexpr (visibility<P>) {
        return any_policy(visible::without_mask(policy));
      } else {
        return any_policy(policy);
      }
    }
    void check(const position_call& call, const heads& layout, violations& found) const override {
      check_policy(policy, call, layout, found);
    }
    [[nodiscard]] Term<double> compile(const position_call& call, const heads& layout) const override {
      return Term<double>::around(policy.template compile<double>(call, layout));
    }
    P policy;
  };

  std::shared_ptr<const base> held_;
};

using any_bias = any_policy<family::score_bias, any_bias_term>;
using any_value = any_policy<family::value_term, any_value_term>;
using any_transform = any_policy<family::qk_transform, any_transform_term>;

struct any_content : any_policy<family::content_term, any_content_term> {
  using any_policy::any_policy;
  [[nodiscard]] index_t dot_products() const noexcept { return held_ ? held_->dot_products() : 0; }
};

struct any_visible : any_policy<family::visibility, any_visible_term> {
  using any_policy::any_policy;
  any_visible(const any_policy& other) : any_policy(other) {}  // NOLINT: the same thing
  [[nodiscard]] hides hidden() const noexcept { return held_ ? held_->hidden() : hides::nothing; }
  [[nodiscard]] any_visible unmasked() const { return held_->unmasked(); }
};

class any_scale : public chosen {
 public:
  using family = posgeo::family::score_scale;
  template <class P>
  requires(fixed<P>&& score_scale<P>) any_scale(const P& policy)  // NOLINT: converts, as a variant does
      : what_(policy.describe()),
        factor_([policy](const heads& layout, index_t products) { return policy.factor(layout, products); }) {}
  [[nodiscard]] static reads positional_reads() noexcept { return reads::nothing; }
  [[nodiscard]] description describe() const { return what_; }
  [[nodiscard]] double factor(const heads& layout, index_t products) const noexcept {
    return factor_(layout, products);
  }

 private:
  description what_;
  std::function<double(const heads&, index_t)> factor_;
};

/// The policies of an attention of the atlas: a transform, or terms.
struct parts {
  heads layout;
  any_scale scale;
  any_visible visible;
  any_transform transform = {};
  any_content content = {};
  any_bias bias = {};
  any_bias second_bias = {};
  any_value value = {};
};
/// Two types, not one: a content term beside a transform would meet turned rows, which reads more than either.
using turned_attention = attention<any_scale, any_visible, any_transform>;
using related_attention = attention<any_scale, any_visible, any_content, any_bias, any_bias, any_value>;

/// Content of the rows, chosen when the program runs.
class any_rows : public chosen {
 public:
  any_rows() : any_rows(audit::random_content{}) {}
  template <class Content>
  requires(fixed<Content>&& audit::audited_content<Content>)
      any_rows(const Content& content)  // NOLINT: converts, as a variant does
      : value_dim_([content](const heads& layout) { return content.value_dim(layout); }),
        reads_(content.positional_reads()),
        what_(content.describe()),
        fill_([content](const position_call& call, const audit::edited_call& from, const heads& layout,
                        audit::content_rows& rows) { content.fill(call, from, layout, rows); }) {}

  [[nodiscard]] index_t value_dim(const heads& layout) const { return value_dim_(layout); }
  [[nodiscard]] reads positional_reads() const noexcept { return reads_; }
  [[nodiscard]] std::vector<description> describe() const { return what_; }
  void fill(const position_call& call, const audit::edited_call& from, const heads& layout,
            audit::content_rows& rows) const {
    fill_(call, from, layout, rows);
  }

 private:
  std::function<index_t(const heads&)> value_dim_;
  reads reads_ = reads::nothing;
  std::vector<description> what_;
  std::function<void(const position_call&, const audit::edited_call&, const heads&, audit::content_rows&)> fill_;
};

}  // namespace posgeo::atlas
