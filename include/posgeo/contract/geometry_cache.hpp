// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/same_geometry.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/model/attention.hpp>

#include <list>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace posgeo::contract {

/// What a geometry cache has done so far.
struct geometry_counters {
  index_t hits = 0;
  index_t misses = 0;
  index_t evictions = 0;
  friend bool operator==(const geometry_counters&, const geometry_counters&) noexcept = default;
};

struct geometry_cache_settings {
  required<index_t> capacity;  ///< plans that are kept
};

/// Compiled plans, found again by everything that they were compiled from: the types of the policies, the number type,
/// the head layout, the descriptions of all policies and the whole call. How many queries and keys there are is never
/// enough. When full, the plan leaves that was asked for longest ago; who holds it keeps it. For one thread at a time.
/// Throws: errc::geometry_cache for a capacity of less than one plan, and for a plan that reads memory of the caller's,
///         which may change; errc::description for a policy without describe(); what attention::compile throws.
/// Source: the positional-call manifest numinens.position-call.v1, derived-cache identity.
class geometry_cache {
 public:
  explicit geometry_cache(const geometry_cache_settings& settings) : capacity_(settings.capacity) {
    require(capacity_ >= 1, errc::geometry_cache, "geometry cache", "capacity", "at least 1 plan", capacity_);
  }

  /// The plan that attention.compile<T>(call) makes, be it from an earlier call.
  template <class T = float, class... Policies>
  [[nodiscard]] auto plan_for(const attention<Policies...>& model, const position_call& call) {
    using plan_type = std::remove_cvref_t<decltype(model.template compile<T>(call))>;
    auto method = model.describe();
    const auto same = [&](const entry& kept) {
      return kept.type == &type_of<attention<Policies...>, T> && same_layout(kept.layout, model.layout()) &&
             same_geometry(kept.call, call) && kept.method == method;
    };
    const auto found = std::find_if(entries_.begin(), entries_.end(), same);
    if (found != entries_.end()) {
      ++counters_.hits;
      entries_.splice(entries_.begin(), entries_, found);
      return std::static_pointer_cast<const plan_type>(found->plan);
    }
    auto made = std::make_shared<const plan_type>(model.template compile<T>(call));
    std::apply([](const auto&... term) { (refuse_foreign_memory(term), ...); }, made->biases());
    ++counters_.misses;
    entries_.push_front({&type_of<attention<Policies...>, T>, model.layout(), std::move(method), call, made});
    if (size() > capacity_) {
      entries_.pop_back();
      ++counters_.evictions;
    }
    return std::shared_ptr<const plan_type>(std::move(made));
  }

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(entries_.size()); }
  [[nodiscard]] index_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] const geometry_counters& counters() const noexcept { return counters_; }
  /// Forgets every plan; the counters stay.
  void clear() noexcept { entries_.clear(); }

 private:
  struct entry {
    const char* type;
    heads layout;
    std::vector<description> method;
    position_call call;
    std::shared_ptr<const void> plan;
  };

  /// Its address stands for the type of an attention and the type that it computes in.
  template <class Attention, class T>
  static constexpr char type_of = 0;

  [[nodiscard]] static bool same_layout(const heads& a, const heads& b) noexcept {
    return a.query == b.query && a.key_value == b.key_value && a.dim == b.dim;
  }
  template <class Term>
  static void refuse_foreign_memory(const Term& term) {
    require(
        !requires { term.reads(); }, errc::geometry_cache, "geometry cache", "bias of the plan",
        "one that holds its own numbers", "one that reads memory of the caller's");
  }

  index_t capacity_;
  std::list<entry> entries_;  ///< the one that was asked for last comes first
  geometry_counters counters_;
};

}  // namespace posgeo::contract
