// SPDX-License-Identifier: MIT
// The rows of the report and what each is held to.
#include "report/rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "families/families.hpp"
#include "support/peaks.hpp"

namespace posgeo::report {

namespace {

using bench::element;
using bench::executor;
using bench::mask;
using bench::prepared;
using bench::request;

std::string said(mask m) { return m == mask::full ? "full" : "causal"; }
std::string said(element type) { return type == element::bf16 ? "bf16" : "f32"; }

/// Seconds of one run: the mean of as many as take 20 ms.
double seconds_per_run(const prepared& it) {
  constexpr double least = 0.02;
  const double first = bench::seconds_of(it.run);
  if (first >= least) return first;
  const auto count = static_cast<int>(std::ceil(least / first));
  return bench::seconds_of([&] {
           for (int n = 0; n < count; ++n) it.run();
         }) /
         count;
}

/// Prepared cases, shared by the rows of a group that compare with the same one.
using case_ref = std::shared_ptr<const prepared>;
struct known_case {
  std::string name;
  request of;
  std::weak_ptr<const prepared> held;
};
std::vector<known_case>& known_cases() {
  static std::vector<known_case> known;
  return known;
}
template <class Make>
case_ref shared_case(const std::string& name, const request& r, const Make& make) {
  std::vector<known_case>& known = known_cases();
  std::erase_if(known, [](const known_case& one) { return one.held.expired(); });
  for (const known_case& one : known) {
    if (one.name == name && one.of == r) return one.held.lock();
  }
  auto made = make();
  if (!made) return nullptr;
  auto out = std::make_shared<const prepared>(std::move(*made));
  known.push_back({name, r, out});
  return out;
}
case_ref prepared_case(const std::string& family, const request& r) {
  return shared_case(family, r, [&] { return bench::family_named(family).prepare(r); });
}

using sampler = std::optional<std::function<sample()>>;

/// The share of a peak, which is measured right before and right after.
template <class Peak>
sampler share_of(const Peak& peak, const case_ref& it, double work) {
  if (!it) return std::nullopt;
  return [=] {
    const double before = peak();
    const double rate = work / seconds_per_run(*it);
    return sample{rate / ((before + peak()) / 2), rate / 1e9};
  };
}

/// The time of one case over that of another, which runs right before and right after, divided by `allowance`.
sampler time_ratio(const case_ref& it, const case_ref& base, double allowance = 1.0) {
  if (!it || !base) return std::nullopt;
  return [=] {
    const double before = seconds_per_run(*base);
    const double seconds = seconds_per_run(*it);
    return sample{seconds / ((before + seconds_per_run(*base)) / 2) / allowance, seconds * 1e3};
  };
}

request square(index_t length, index_t dim, mask sees) {
  const index_t heads = length > 4096 ? 2 : 8;
  return {.layout = {.query = heads, .key_value = heads, .dim = dim}, .queries = length, .keys = length, .sees = sees};
}
std::string on(const heads& layout) {
  return fmt::format("D={}, {} on {} heads", layout.dim, layout.query, layout.key_value);
}
std::string said(const request& r) { return fmt::format("D={}, S={}, {}", r.layout.dim, r.keys, said(r.sees)); }

/// Collects the rows of a report.
class plan_of_rows {
 public:
  explicit plan_of_rows(effort how) : how_(how) {}

  void prefill(const std::string& group, const request& full_size, bound must, double required) {
    const request r = sized(full_size);
    const bool is_eager = r.runs_on == executor::eager;
    add(group, said(full_size) + (is_eager ? ", eager" : ""), "the FMA peak", "GFLOP/s", must, required, [r] {
      const case_ref it = prepared_case("none", r);
      return share_of(bench::fma_peak<float>, it, it ? it->does.attention : 0);
    });
  }
  void bfloat16_prefill(request full_size, double required) {
    full_size.type = element::bf16;
    const request r = sized(full_size);
    add("bf16", said(full_size), "the bf16 dot-product peak", "GFLOP/s", bound::at_least, required, [r]() -> sampler {
      if (!bench::bfloat16_dot_peak()) return std::nullopt;
      const case_ref it = prepared_case("none", r);
      return share_of([] { return bench::bfloat16_dot_peak().value(); }, it, it ? it->does.attention : 0);
    });
  }
  void over_no_bias(const std::string& group, const std::string& family, const request& full_size, bound must,
                    double required) {
    const request r = sized(full_size);
    add(group, fmt::format("{}, {}", family, said(full_size)), "no bias", "ms", must, required,
        [=] { return time_ratio(prepared_case(family, r), prepared_case("none", r)); });
  }
  /// The time over that which as many flops take without the terms.
  void over_its_products(const std::string& group, const std::string& family, const request& full_size,
                         double required) {
    const request r = sized(full_size);
    add(group, fmt::format("{}, {}", family, said(full_size)), "its dot products", "ms", bound::at_most, required,
        [=]() -> sampler {
          const case_ref it = prepared_case(family, r);
          if (!it) return std::nullopt;
          return time_ratio(it, prepared_case("none", r), it->does.counted() / it->does.attention);
        });
  }
  void gather(const std::string& family, const request& full_size, double required) {
    const request affine = sized(full_size);
    request r = affine;
    r.rows = bench::spacing::irregular;
    add("gather", fmt::format("{}, {}", family, said(full_size)), "affine positions", "ms", bound::at_most, required,
        [=] { return time_ratio(prepared_case(family, r), prepared_case(family, affine)); });
  }
  void decode(const heads& layout, index_t keys, element type, double required) {
    const request r = step(layout, keys, type);
    // A group for each length, so that not all caches are there at once.
    add(fmt::format("decode {} K={}", said(type), keys), on(layout), "the DRAM read bandwidth", "GB/s", bound::at_least,
        required, [r] {
          const case_ref it = prepared_case("none", r);
          return share_of([] { return bench::reader().bandwidth(); }, it, it ? it->does.bytes : 0);
        });
  }
  void reproducible_decode(const heads& layout, index_t keys, double required) {
    const request r = step(layout, keys, element::f32);
    request ordered = r;
    ordered.runs_on = executor::reproducible;
    add("order", fmt::format("decode K={}, {}", keys, on(layout)), "the default order", "ms", bound::at_most, required,
        [=] { return time_ratio(prepared_case("none", ordered), prepared_case("none", r)); });
  }
  void two_threads(const request& full_size, double required) {
    const request r = sized(full_size);
    request both = r;
    both.runs_on = executor::two_threads;
    add("threads", said(full_size), "one thread", "ms", bound::at_least, required, [=]() -> sampler {
      const sampler ratio = time_ratio(prepared_case("none", both), prepared_case("none", r));
      if (!ratio) return std::nullopt;
      return [ratio] {
        const sample s = (*ratio)();
        return sample{1 / s.figure, s.absolute};
      };
    });
  }

  void training(const request& full_size, double required) {
    const request r = sized(full_size);
    add("training", "forward and backward, " + said(full_size), "the FMA peak", "GFLOP/s", bound::at_least, required,
        [r] {
          const case_ref it = shared_training("none", r);
          return share_of(bench::fma_peak<float>, it, it->does.attention);
        });
  }
  void training_over_no_bias(const std::string& family, const request& full_size, double required) {
    const request r = sized(full_size);
    add("training", fmt::format("{}, forward and backward, {}", family, said(full_size)), "no bias", "ms",
        bound::at_most, required, [=] { return time_ratio(shared_training(family, r), shared_training("none", r)); });
  }

  std::vector<planned_row> rows;

 private:
  static case_ref shared_training(const std::string& family, const request& r) {
    return shared_case("training " + family, r, [&] { return bench::training_case(family, r); });
  }
  template <class Prepare>
  void add(const std::string& group, const std::string& name, const std::string& of, const std::string& unit,
           bound must, double required, const Prepare& prepare) {
    rows.push_back({group, name, of, unit, must, required, prepare});
  }
  [[nodiscard]] request sized(request r) const {
    if (how_ == effort::full) return r;
    r.queries = r.keys = std::min<index_t>(r.keys, 192);
    return r;
  }
  /// One query against caches that no level of cache memory holds.
  [[nodiscard]] request step(const heads& layout, index_t keys, element type) const {
    if (how_ == effort::quick) keys = std::min<index_t>(keys, 1024);
    const auto of_one = 2 * layout.key_value * keys * layout.dim * index_t{type == element::bf16 ? 2 : 4};
    const auto caches = (static_cast<index_t>(bench::memory_reader::bytes) + of_one - 1) / of_one;
    return {.layout = layout,
            .queries = 1,
            .keys = keys,
            .sees = mask::causal,
            .type = type,
            .layers = how_ == effort::quick ? 1 : caches};
  }

  effort how_;
};

}  // namespace

std::vector<planned_row> rows_of(const std::string& build, effort how) {
  plan_of_rows plan(how);
  constexpr std::array both{mask::full, mask::causal};
  const auto pick = [](mask m, double full, double causal) { return m == mask::full ? full : causal; };

  if (build != "native") {
    const bool narrow = build == "avx2";
    for (const index_t dim : {64, 128}) {
      for (const mask m : both) {
        const bool held = narrow && m == mask::full;
        plan.prefill("prefill", square(2048, dim, m), held ? bound::at_least : bound::none, held ? 0.88 : 0);
      }
    }
    return plan.rows;
  }

  for (const mask m : both) {
    for (const index_t length : {2048, 4096}) {
      plan.prefill("prefill", square(length, 64, m), bound::at_least, pick(m, 0.90, 0.86));
    }
    for (const index_t length : {2048, 4096, 8192}) {
      plan.prefill("prefill", square(length, 128, m), bound::at_least, pick(m, 0.92, 0.89));
    }
  }
  plan.prefill("short", square(128, 64, mask::full), bound::at_least, 0.80);
  plan.prefill("short", square(512, 64, mask::full), bound::at_least, 0.86);
  plan.prefill("short", square(512, 128, mask::full), bound::at_least, 0.89);
  plan.prefill("short", square(128, 64, mask::causal), bound::at_least, 0.66);
  plan.prefill("short", square(512, 64, mask::causal), bound::at_least, 0.80);

  for (const index_t length : {2048, 8192}) {
    for (const mask m : both) {
      for (const char* const family : {"alibi", "t5", "learned_relative_128"}) {
        plan.over_no_bias("bias", family, square(length, 64, m), bound::at_most, 1.02);
      }
    }
    plan.over_no_bias("bias", "alibi_key_position", square(length, 64, mask::causal), bound::at_most, 1.02);
  }
  for (const mask m : both) {
    const request r = square(2048, 64, m);
    for (const char* const family : {"shaw_key_16", "shaw_key_64"}) {
      plan.over_no_bias("content", family, r, bound::at_most, 1.08);
    }
    for (const char* const family : {"transformer_xl", "deberta", "tupe"}) {
      plan.over_its_products("content", family, r, 1.08);
    }
  }
  for (const mask m : both) {
    for (const char* const family : {"shaw_16", "shaw_64"}) {
      plan.over_no_bias("value", family, square(2048, 64, m), bound::at_most, 1.12);
    }
  }
  for (const mask m : both) {
    for (const char* const family : {"alibi", "t5", "shaw_key_64"}) plan.gather(family, square(2048, 64, m), 1.35);
  }
  for (const mask m : both) {
    for (const char* const family :
         {"rotary", "softcap", "window_256", "pair", "pair_broadcast", "shaw_key_128", "shaw_128", "transformer_xl",
          "deberta", "tupe", "tupe_relative", "relative_key_query"}) {
      plan.over_no_bias("other terms", family, square(2048, 64, m), bound::none, 0);
    }
    plan.over_no_bias("other terms", "spatial", square(512, 64, m), bound::none, 0);
  }
  for (const index_t length : {2048, 4096}) {
    plan.bfloat16_prefill(square(length, 64, mask::full), 0.80);
    plan.bfloat16_prefill(square(length, 128, mask::full), 0.86);
  }
  for (const element type : {element::f32, element::bf16}) {
    const double required = type == element::f32 ? 0.92 : 0.90;
    for (const index_t keys : {8192, 32768, 131072}) {
      plan.decode({.query = 8, .key_value = 8, .dim = 64}, keys, type, required);
      plan.decode({.query = 32, .key_value = 8, .dim = 64}, keys, type, required);
      if (keys == 8192) plan.decode({.query = 32, .key_value = 8, .dim = 128}, keys, type, required);
    }
  }
  const request trained = square(2048, 64, mask::causal);
  plan.training(trained, 0.70);
  plan.training_over_no_bias("t5", trained, 1.05);
  plan.training_over_no_bias("alibi", trained, 1.05);
  plan.training_over_no_bias("shaw_64", trained, 1.25);
  for (const index_t dim : {64, 128}) plan.two_threads(square(2048, dim, mask::full), 1.9);
  plan.two_threads(square(2048, 64, mask::causal), 1.9);
  plan.reproducible_decode({.query = 8, .key_value = 8, .dim = 64}, 8192, 1.25);
  plan.reproducible_decode({.query = 32, .key_value = 8, .dim = 64}, 8192, 1.25);

  for (const index_t length : {64, 128, 256, 512, 1024, 2048, 4096, 8192}) {
    for (const index_t dim : {64, 128}) {
      for (const mask m : both) {
        request r = square(length, dim, m);
        plan.prefill("lengths", r, bound::none, 0);
        r.runs_on = executor::eager;
        if (length <= 2048) plan.prefill("lengths", r, bound::none, 0);
      }
    }
  }
  return plan.rows;
}

}  // namespace posgeo::report
