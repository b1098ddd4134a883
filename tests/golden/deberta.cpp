// SPDX-License-Identifier: MIT
#include <posgeo/call/explicit_positions.hpp>
#include <posgeo/content/deberta.hpp>
#include <posgeo/content/projected_rows.hpp>
#include <posgeo/coordinate/pairwise_offsets.hpp>
#include <posgeo/scale/inverse_sqrt_terms.hpp>
#include <posgeo/visible/custom.hpp>
#include <posgeo/visible/everything.hpp>

#include <map>
#include <regex>

#include "golden/mechanisms.hpp"
#include "golden/modules.hpp"

namespace posgeo::golden {
namespace {

using content::deberta_terms;
using content::p2c_index;
using coordinate::beyond_max_position;
using coordinate::deberta_span;
using coordinate::log_bucket;

/// Buckets by distance; those of the other sign are their negatives.
using column = std::map<index_t, index_t>;

/// Changes one implementation's column into another's where a note "first_vs_second differs at [offset,first,second]:
/// [[-24, -14, -13], ...]" says that they differ. Offsets of max_position and more are clamped before the bucket is
/// formed, so such an entry speaks for max_position - 1.
column with_changes(column buckets, const golden_case& c, const std::string& note_title, std::size_t from,
                    std::size_t to) {
  static const std::regex triple(R"(\[(-?\d+), (-?\d+), (-?\d+)\])");
  const column before = buckets;
  for (const std::string& note : c.notes) {
    if (!note.starts_with(note_title + " differs at ")) continue;
    for (std::sregex_iterator at(note.begin(), note.end(), triple), end; at != end; ++at) {
      const auto number = [&](std::size_t n) { return std::abs(std::stoll((*at)[n])); };
      const index_t distance = std::min<index_t>(number(1), c.integer("max_position") - 1);
      if (before.at(distance) != number(from)) throw std::runtime_error("not the buckets of the note: " + note);
      buckets.at(distance) = number(to);
    }
  }
  return buckets;
}

template <class T>
outputs<T> log_buckets(const golden_case& c) {
  const auto offsets = c.values<index_t>("relative_pos");
  const index_t last = c.integer("max_position") - 1;
  const auto exact = [&](beyond_max_position beyond) {
    const log_bucket bucket(
        {.num_buckets = c.integer("bucket_size"), .max_position = c.integer("max_position"), .beyond = beyond});
    column out;
    for (index_t distance = 0; distance <= std::max(last, -offsets.front()); ++distance) {
      out[distance] = bucket(relative_offset{-distance});  // the key before the query: query - key is positive
    }
    return out;
  };
  const column clamped = exact(beyond_max_position::clamped);
  outputs<T> out;
  const auto add = [&](const char* name, const column& by_distance, index_t farthest) {
    std::vector<index_t> values;
    for (const index_t offset : offsets) {
      const index_t bucket = by_distance.at(std::min(std::abs(offset), farthest));
      values.push_back(offset < 0 ? -bucket : bucket);
    }
    out.add(name, values);
  };
  add("bucket_exact", clamped, offsets.back());
  add("bucket_official", with_changes(clamped, c, "official_vs_exact", 3, 2), last);
  add("bucket_float64", with_changes(clamped, c, "float64_vs_exact", 3, 2), last);
  add("bucket_hf", with_changes(exact(beyond_max_position::runs_on), c, "hf_vs_exact_inside", 3, 2), offsets.back());
  return out;
}

/// Rows 0, 1, ... on each side, which is where the reference functions put them.
position_call rows_from_zero(index_t batch, index_t queries, index_t keys) {
  const auto counted = [batch](index_t rows) {
    std::vector<index_t> positions;
    for (index_t n = 0; n < batch * rows; ++n) positions.push_back(n % rows);
    return positions;
  };
  const auto q = counted(queries);
  const auto k = counted(keys);
  return call::explicit_positions(
      {.entries = batch, .query = {.positions = q, .rows = queries}, .key = {.positions = k, .rows = keys}});
}

/// The span of a configuration, whose buckets are -1 where there are none.
deberta_span span_of(index_t buckets, index_t max_position, beyond_max_position beyond) {
  if (buckets <= 0) return deberta_span::exact(max_position);
  return deberta_span::bucketed(log_bucket({.num_buckets = buckets, .max_position = max_position, .beyond = beyond}));
}

/// bucket(query - key) of every pair of entry 0.
std::vector<index_t> relatives(const deberta_span& span, const position_call& call) {
  std::vector<index_t> out;
  for (const query_index i : indices<query_index>(call.queries())) {
    for (const key_index j : indices<key_index>(call.keys())) {
      out.push_back(span.relative(call.offset(batch_index{0}, i, j)));
    }
  }
  return out;
}

template <class T>
outputs<T> relative_positions(const golden_case& c) {
  const auto call = rows_from_zero(1, c.integer("query_size"), c.integer("key_size"));
  const index_t bucket_size = c.integer("bucket_size");
  // Without buckets the functions return the bare offsets.
  const auto computed = [&](beyond_max_position beyond) {
    if (bucket_size > 0) return relatives(span_of(bucket_size, c.integer("max_position"), beyond), call);
    const auto offsets = coordinate::pairwise_offsets(call, offset_sign::query_minus_key);
    return std::vector<index_t>(offsets.values().begin(), offsets.values().end());
  };
  outputs<T> out;
  out.add("official", computed(beyond_max_position::clamped));
  out.add("hf_v2", computed(beyond_max_position::runs_on));
  if (c.has_output("hf_v1")) out.add("hf_v1", computed(beyond_max_position::clamped));
  return out;
}

/// A disentangled attention layer: weights [out, in] by the names of the release.
template <class T>
class disentangled_layer {
 public:
  explicit disentangled_layer(const golden_case& c)
      : case_(c),
        layout_{.query = c.integer("num_heads"), .key_value = c.integer("num_heads"), .dim = c.integer("head_dim")},
        batch_(c.shape("x")[0]),
        rows_(c.shape("x")[1]),
        call_(rows_from_zero(batch_, rows_, rows_)) {
    for (const T shown : c.values<T>("mask")) allowed_.push_back(shown != T{0});
  }

  [[nodiscard]] const position_call& call() const { return call_; }

  /// The states through a projection, head by head. The rows of the weight are out; an absent bias is no bias.
  [[nodiscard]] std::vector<T> projected(const std::string& weight, const std::string& bias) const {
    const auto b = case_.has_input(bias) ? case_.values<T>(bias) : std::vector<T>{};
    return linear<T>(case_.values<T>("x"), case_.values<T>(weight), b, width());
  }
  /// The relative table through a projection.
  [[nodiscard]] head_tables<T> positions(const std::string& weight, const std::string& bias) const {
    const auto b = case_.has_input(bias) ? case_.values<T>(bias) : std::vector<T>{};
    const index_t rows = case_.shape("rel_embeddings")[0];
    const table<T> relative(case_.values<T>("rel_embeddings"), rows, width());
    return head_tables<T>::by_column(
        content::projected_rows<T>(relative, {.weight = {case_.values<T>(weight), width(), width()}, .bias = b}),
        layout_.query);
  }

  void set_content(std::vector<T> query, std::vector<T> key, std::vector<T> value) {
    query_ = std::move(query);
    key_ = std::move(key);
    value_ = std::move(value);
  }

  /// Scores and results under the case's mask; without the mask if everything is shown.
  template <class... Policies>
  [[nodiscard]] attention_result<T> masked(const Policies&... policies) const {
    const auto shown = [this](const position_call&, batch_index b, query_index i, key_index j) noexcept {
      return allowed_[static_cast<std::size_t>((b.value() * rows_ + i.value()) * rows_ + j.value())] != 0;
    };
    return run(visible::custom(shown), policies...);
  }
  template <class... Policies>
  [[nodiscard]] attention_result<T> open(const Policies&... policies) const {
    return run(visible::everything{}, policies...);
  }

  /// [batch, heads, rows, dim] as [batch, rows, width].
  [[nodiscard]] std::vector<T> context(const attention_result<T>& result) const {
    std::vector<T> out;
    for (index_t b = 0; b < batch_; ++b) {
      for (index_t row = 0; row < rows_; ++row) {
        for (index_t h = 0; h < layout_.query; ++h) {
          const auto from = result.output.view().row(b, h, row);
          out.insert(out.end(), from.begin(), from.end());
        }
      }
    }
    return out;
  }

  /// The scores less the largest of their row.
  [[nodiscard]] std::vector<T> logits(const attention_result<T>& result) const {
    std::vector<T> out(result.scores.values().begin(), result.scores.values().end());
    for (auto row = out.begin(); row != out.end(); row += rows_) {
      const T largest = *std::max_element(row, row + rows_);
      for (auto score = row; score != row + rows_; ++score) *score -= largest;
    }
    return out;
  }

  /// One term of every score, times the scale of the whole.
  template <class Policy>
  [[nodiscard]] std::vector<T> part(const Policy& term, T scale) const {
    const attention model{layout_, scale::inverse_sqrt_terms{}, visible::everything{}, term};
    const auto plan = model.template compile<T>(call_);
    const auto q = view(query_);
    const auto k = view(key_);
    std::vector<T> out;
    for (const batch_index b : indices<batch_index>(batch_)) {
      for (const head_index h : indices<head_index>(layout_.query)) {
        for (const query_index i : indices<query_index>(rows_)) {
          for (const key_index j : indices<key_index>(rows_)) {
            const auto query_row = q.row(b.value(), h.value(), i.value());
            const auto key_row = k.row(b.value(), h.value(), j.value());
            out.push_back(scale * plan.content(b, h, i, j, query_row, key_row));
          }
        }
      }
    }
    return out;
  }
  /// The content term alone, times the scale of the whole.
  [[nodiscard]] std::vector<T> content_part(T scale) const {
    const auto alone = run(visible::everything{});
    std::vector<T> out;
    const T own = std::sqrt(static_cast<T>(layout_.dim));  // takes back its own scale
    for (const T score : alone.scores.values()) out.push_back(score * own * scale);
    return out;
  }
  [[nodiscard]] T scale_of(index_t terms) const {
    return static_cast<T>(scale::inverse_sqrt_terms{}.factor(layout_, 1 + terms));
  }

 private:
  [[nodiscard]] index_t width() const { return layout_.query * layout_.dim; }
  [[nodiscard]] heads_view<const T> view(const std::vector<T>& rows) const {
    return rows_first(rows.data(), batch_, rows_, layout_.query, layout_.dim);
  }
  template <class Visibility, class... Policies>
  [[nodiscard]] attention_result<T> run(const Visibility& visibility, const Policies&... policies) const {
    const attention model{layout_, scale::inverse_sqrt_terms{}, visibility, policies...};
    return attend(eager{}, model.template compile<T>(call_), {view(query_), view(key_), view(value_)},
                  also::everything);
  }

  const golden_case& case_;
  heads layout_;
  index_t batch_;
  index_t rows_;
  position_call call_;
  std::vector<std::uint8_t> allowed_;
  std::vector<T> query_;
  std::vector<T> key_;
  std::vector<T> value_;
};

/// The release's layer, and Transformers' with the same weights.
template <class T>
void official(const golden_case& c, outputs<T>& out) {
  disentangled_layer<T> block(c);
  block.set_content(block.projected("query_proj.weight", "query_proj.bias"),
                    block.projected("key_proj.weight", "key_proj.bias"),
                    block.projected("value_proj.weight", "value_proj.bias"));
  const bool shared = c.flag("share_att_key");
  const auto terms = deberta_terms::parse(c.text("pos_att_type"), p2c_index::released_code);
  content::deberta_tables<T> tables;
  const auto table_of = [&](const std::string& own, const std::string& content) {
    const std::string& name = shared ? content : own;
    return block.positions(name + ".weight", name + ".bias");
  };
  if (terms.has_c2p()) tables.position_keys = table_of("pos_key_proj", "key_proj");
  if (terms.has_p2c()) tables.position_queries = table_of("pos_query_proj", "query_proj");
  const auto policy = [&](const deberta_terms& enabled, beyond_max_position beyond) {
    content::deberta_tables<T> read;
    if (enabled.has_c2p()) read.position_keys = tables.position_keys;
    if (enabled.has_p2c()) read.position_queries = tables.position_queries;
    const auto span = span_of(c.integer("position_buckets"), c.integer("max_relative_positions"), beyond);
    return content::deberta<T>(enabled, span, read);
  };

  const auto released = policy(terms, beyond_max_position::clamped);
  out.add("bucket", relatives(released.span(), block.call()));
  out.add("attention_logits", block.logits(block.open(released)));
  const auto result = block.masked(released);
  out.add("attention_probs", result.probabilities.values());
  out.add("context", block.context(result));
  out.add("hf_context", block.context(block.masked(policy(terms, beyond_max_position::runs_on))));

  const T scale = block.scale_of(terms.count());
  out.add("part_c2c", block.content_part(scale));
  if (terms.has_c2p()) {
    out.add("part_c2p", block.part(policy(deberta_terms::c2p(), beyond_max_position::clamped), scale));
  }
  if (terms.has_p2c()) {
    const auto p2c = deberta_terms::p2c(p2c_index::released_code);
    out.add("part_p2c", block.part(policy(p2c, beyond_max_position::clamped), scale));
  }
}

/// Transformers' first DeBERTa: no key bias, no buckets.
template <class T>
void first_version(const golden_case& c, outputs<T>& out) {
  disentangled_layer<T> block(c);
  block.set_content(block.projected("unfused_query", "q_bias"), block.projected("unfused_key", "none"),
                    block.projected("unfused_value", "v_bias"));
  const content::deberta<T> policy(deberta_terms::parse(c.text("pos_att_type"), p2c_index::released_code),
                                   deberta_span::exact(c.integer("max_relative_positions")),
                                   {.position_keys = block.positions("pos_proj.weight", "pos_proj.bias"),
                                    .position_queries = block.positions("pos_q_proj.weight", "pos_q_proj.bias")});
  const auto result = block.masked(policy);
  out.add("attention_probs", result.probabilities.values());
  out.add("context", block.context(result));
}

template <class T>
outputs<T> disentangled_layers(const golden_case& c) {
  outputs<T> out;
  c.has_input("query_proj.weight") ? official(c, out) : first_version(c, out);
  return out;
}

}  // namespace

mechanism deberta_bucket() { return {"deberta_bucket", log_buckets<double>, log_buckets<float>}; }
mechanism deberta_relpos() { return {"deberta_relpos", relative_positions<double>, relative_positions<float>}; }
mechanism deberta() { return {"deberta", disentangled_layers<double>, disentangled_layers<float>}; }

}  // namespace posgeo::golden
