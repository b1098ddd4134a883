// SPDX-License-Identifier: MIT
#include <posgeo/json/manifest.hpp>
#include <posgeo/posgeo.hpp>

#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/checkpoints.hpp"
#include "support/toy_identity.hpp"

namespace {

using namespace posgeo;

struct mistake {
  errc code;
  std::string heading;
  std::function<void()> make;
};

const heads four_heads{.query = 4, .key_value = 2, .dim = 8};
const auto scaled = scale::inverse_sqrt_head_dim{};

bias::alibi alibi(index_t count) { return {bias::alibi_slopes::reference(count), bias::alibi_direction::causal}; }

/// One row and one key through an executor.
void run_small(const auto& executor, also wanted) {
  const attention model{heads{}, scale::none{}, visible::everything{}};
  const float number = 1.0F;
  const heads_view<const float> one(&number, {1, 1, 1, 1});
  (void)attend(executor, model.compile<float>(call::prefill_chunk(0, 1)), {one, one, one}, wanted);
}

position_call cross(index_t target_length, index_t first_target_position) {
  const std::vector<index_t> target{target_length};
  const std::vector<index_t> source{5};
  return call::cross_attention({.target_lengths = target,
                                .source_lengths = source,
                                .target_rows = 3,
                                .source_rows = 5,
                                .first_target_position = first_target_position});
}

position_call spelled(const std::vector<index_t>& queries, const std::vector<index_t>& keys,
                      const std::vector<cache_state>& cache = {}) {
  return call::explicit_positions({.query = {.positions = queries, .rows = static_cast<index_t>(queries.size())},
                                   .key = {.positions = keys, .rows = static_cast<index_t>(keys.size())},
                                   .cache = cache});
}

position_call padded(const std::vector<index_t>& lengths, index_t rows) {
  return call::padded_batch({.lengths = lengths,
                             .rows = rows,
                             .side = call::padding_side::right,
                             .positions = call::padded_positions::contiguous()});
}

/// A time2vec of two columns for hours since an origin on the Unix clock.
encode::time2vec<double> time_encoder() {
  const table<double> parameters(std::vector{0.5, 1.5}, 1, 2);
  return {{.time = coordinate::elapsed_time({.clock = coordinate::clock_name("unix utc"),
                                             .stamp_unit = coordinate::time_unit::seconds,
                                             .origin = 1790000000,
                                             .unit = coordinate::time_unit::hours}),
           .function = encode::periodic::sine,
           .linear = encode::linear_term::first,
           .missing = encode::missing_time::refused},
          {.omega = parameters, .phi = parameters}};
}

/// Adds a second segment to the memory of layer 3, whose first one ends at 4.
void remember(index_t layer, index_t first_position) {
  const std::vector<index_t> streams{0};
  const tensor<float, 3> states({1, 4, 8});
  const call::segment_memory<float> empty(
      {.layer = 3, .capacity = 16, .first_position = 0, .gradient = call::memory_gradient::detached}, streams);
  const auto memory = empty.updated({.layer = 3, .first_position = 0, .streams = streams, .states = states.view()});
  (void)memory.updated({.layer = layer, .first_position = first_position, .streams = streams, .states = states.view()});
}

/// The example of each paragraph of docs/errors.md.
std::vector<mistake> mistakes() {
  return {
      {errc::shape_mismatch, "shape_mismatch",
       [] {
         tensor<float, 3> states({1, 6, 8});
         encode::add_positions(encode::sinusoidal{{.width = 8,
                                                   .layout = encode::sinusoid_layout::interleaved,
                                                   .exponent = encode::sinusoid_exponent::paper}},
                               call::prefill_chunk(0, 7), states.view());
       }},
      {errc::head_count, "head_count",
       [] { const attention model({.query = 4, .key_value = 3, .dim = 8}, scaled, visible::causal{}); }},
      {errc::empty_batch, "empty_batch", [] { padded({}, 7); }},
      {errc::row_count, "row_count", [] { cross(4, 0); }},
      {errc::negative_offset, "negative_offset",
       [] { spelled({0}, {0}, {{.committed_length = 0, .past_length = -1}}); }},
      {errc::position_overflow, "position_overflow", [] { cross(3, position_limit - 1); }},
      {errc::position_precision, "position_precision",
       [] {
         const transform::rotary turn(frequency::geometric{{.base = 10000.0, .rotary_dim = 8}},
                                      {.pairs = transform::pairing::halves});
         const attention model(four_heads, scaled, turn, visible::causal{});
         (void)model.compile(spelled({angle_position_limit + 1}, {0}));
       }},
      {errc::position_reused, "position_reused",
       [] {
         spelled({2}, {0, 1, 1});
       }},
      {errc::committed_length, "committed_length", [] { (void)call::decode_step(512, 0); }},
      {errc::frame_mismatch, "frame_mismatch",
       [] {
         const bias::alibi symmetric(bias::alibi_slopes::reference(4), bias::alibi_direction::symmetric);
         (void)attention(four_heads, scaled, symmetric, visible::everything{}).compile(cross(3, 0));
       }},
      {errc::segment_isolation, "segment_isolation",
       [] {
         const std::vector<index_t> lengths{3, 4};
         (void)attention(four_heads, scaled, visible::causal{})
             .compile(call::packed_batch({.lengths = lengths, .positions = call::packed_positions::restart}));
       }},
      {errc::padding_visible, "padding_visible",
       [] {
         (void)attention(four_heads, scaled, visible::everything{}).compile(padded({5, 7}, 7));
       }},
      {errc::future_visible, "future_visible",
       [] { (void)attention(four_heads, scaled, alibi(4), visible::active{}).compile(padded({7}, 7)); }},
      {errc::window_bounds, "window_bounds", [] { (void)visible::window::counting_own_key(0); }},
      {errc::odd_width, "odd_width", [] { frequency::geometric{{.base = 10000.0, .rotary_dim = 7}}; }},
      {errc::frequency_settings, "frequency_settings", [] { frequency::geometric{{.base = 0.0, .rotary_dim = 8}}; }},
      {errc::bucket_settings, "bucket_settings",
       [] {
         coordinate::t5_bucket{
             {.num_buckets = 32, .max_distance = 16, .direction = coordinate::bucket_direction::causal}};
       }},
      {errc::table_rows, "table_rows",
       [] {
         const std::vector<float> values(31 * 4);
         bias::t5(
             table<float>(values, 31, 4),
             coordinate::t5_bucket{
                 {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}});
       }},
      {errc::position_out_of_table, "position_out_of_table",
       [] {
         const std::vector<float> values(514 * 8);
         const encode::learned_absolute positions(table<float>(values, 514, 8), {.row_offset = 2});
         (void)positions.compile<float>(call::prefill_chunk(510, 3));
       }},
      {errc::slope_count, "slope_count",
       [] { (void)attention(four_heads, scaled, alibi(2), visible::causal{}).compile(call::prefill_chunk(0, 7)); }},
      {errc::non_finite, "non_finite",
       [] {
         (void)bias::alibi_slopes::custom({0.5, NAN});
       }},
      {errc::scale_settings, "scale_settings",
       [] { scale::softcap{{.cap = 0.0, .place = scale::softcap_place::before_bias}}; }},
      {errc::position_family, "position_family",
       [] { require_nope(nope::causal, attention(four_heads, scaled, alibi(4), visible::causal{})); }},
      {errc::label_length, "label_length", [] { coordinate_frame{"source document, second revision of the corpus"}; }},
      {errc::memory_overlap, "memory_overlap",
       [] {
         const attention model({.query = 2, .key_value = 2, .dim = 3}, scaled, visible::causal{});
         tensor<float, 4> rows({1, 2, 5, 3});
         attend(eager{}, model.compile(call::prefill_chunk(0, 5)), {rows.view(), rows.view(), rows.view()},
                {rows.view()});
       }},
      {errc::row_identity, "row_identity",
       [] {
         const row_identity rows(1, 2, {{0, 4}, {0, 7}});
         const row_identity sorted(1, 2, {{0, 7}, {0, 4}});
         const row_column<image_cell> cells(sorted, {{1, 2}, {0, 5}});
         annotated_rows<float, row_column<image_cell>>(rows, tensor<float, 3>({1, 2, 8}), cells);
       }},
      {errc::layer_mismatch, "layer_mismatch", [] { remember(/*layer=*/2, /*first_position=*/0); }},
      {errc::memory_mismatch, "memory_mismatch", [] { remember(/*layer=*/3, /*first_position=*/0); }},
      {errc::unit_mismatch, "unit_mismatch",
       [] {
         const auto call = call::prefill_chunk(0, 1);
         (void)time_encoder().at({{row_identity::of(call.query_space()), {1790000000000}},
                                  coordinate::time_unit::milliseconds,
                                  coordinate::clock_name("unix utc")});
       }},
      {errc::missing_value, "missing_value",
       [] {
         const auto call = call::prefill_chunk(0, 2);
         const coordinate::time_column times{{row_identity::of(call.query_space()), {1790000000, std::nullopt}},
                                             coordinate::time_unit::seconds,
                                             coordinate::clock_name("unix utc")};
         (void)time_encoder().at(times).compile<float>(call);
       }},
      {errc::grid_bounds, "grid_bounds",
       [] {
         const coordinate::grid wide({.rows = 3, .columns = 5, .order = coordinate::traversal::row_major});
         (void)wide.position_of(coordinate::cell{4, 2});
       }},
      {errc::graph_structure, "graph_structure",
       [] {
         const std::vector<coordinate::graph_edge> edges{{0, 1}, {1, 2}};
         const coordinate::graph_rows rows({coordinate::graph::undirected(3, edges)}, coordinate::graph_token::at(-1));
         const std::vector<float> numbers(512 * 4);
         const bias::spatial distances(table<float>(numbers, 512, 4), coordinate::distance_id::graphormer(), rows,
                                       table<float>(std::vector<float>(4), 1, 4));
         (void)distances.compile<float>(spelled({0}, {1, 2, 5}), four_heads);
       }},
      {errc::term_set, "term_set",
       [] { (void)content::deberta_terms::parse("c2p|p2p", content::p2c_index::released_code); }},
      {errc::sequence_length, "sequence_length",
       [] {
         const frequency::dynamic_ntk speeds(
             {.base = 10000.0, .rotary_dim = 8, .factor = 2.0, .original_max_position = 2048, .sequence_length = 4096});
         const transform::rotary turn(speeds, {.pairs = transform::pairing::halves});
         (void)turn.compile<float>(spelled({4096}, {4094, 4095}), four_heads);
       }},
      {errc::special_row, "special_row",
       [] {
         const coordinate::graph_rows rows({coordinate::graph::directed(2, {})}, coordinate::graph_token::none());
         const std::vector<double> features(1027 * 4, 0.02);
         const std::vector<double> weights(5 * 4 * 4);
         bias::edge_path(
             table<double>(features, 1027, 4), table<double>(weights, 20, 4), rows,
             {.rows = coordinate::edge_attribute_rows::graphormer(), .hops = 5, .longer = bias::longer_paths::cut});
       }},
      {errc::checkpoint_tensors, "checkpoint_tensors",
       [] {
         contract::require_loadable(contract::report_load({.wanted = {{"pos.table", {6, 4}}},
                                                           .recomputable = {},
                                                           .checkpoint = {{"model.pos.table", {6, 4}}},
                                                           .renamed = {}}));
       }},
      {errc::cache_identity, "cache_identity",
       [] {
         const auto made = test::empty_identity({description("rotary")}, 16);
         auto wanted = made;
         wanted.start = position{0};
         contract::require_same(made, wanted);
       }},
      {errc::offset_out_of_table, "offset_out_of_table",
       [] {
         const std::vector<float> zeros(15 * 8);
         const auto relative = content::relative_key(table<float>(zeros, 15, 8), /*max_position_embeddings=*/8);
         (void)relative.compile<float>(spelled({8}, {0}), four_heads);
       }},
      {errc::position_rule, "position_rule",
       [] {
         (void)call::template_offset({.bos_wanted = 1, .bos_from_tokenizer = 1, .bos_from_template = 1, .markup = 5});
       }},
      {errc::merge_frames, "merge_frames",
       [] {
         const auto part = [](std::string_view frame) {
           return partial_row<float>{.output = {1.0f}, .log_sum_exp = 0.5f, .frame = label(frame)};
         };
         (void)merge(part("sequence"), part("shard 1"));
       }},
      {errc::executor_refusal, "executor_refusal", [] { run_small(fused{}, also::scores); }},
      {errc::cancelled, "cancelled",
       [] {
         const auto stop = [](index_t, index_t) { return progress::cancel; };
         run_small(fused{}.with_progress(stop), also::nothing);
       }},
      {errc::workspace_size, "workspace_size",
       [] {
         std::array<std::byte, 64> small{};
         run_small(fused{}.with_workspace(small), also::nothing);
       }},
      {errc::description, "description",
       [] {
         const attention model{
             heads{}, scale::none{},
             visible::custom([](const position_call&, batch_index, query_index, key_index) { return true; })};
         (void)model.describe();
       }},
      {errc::manifest, "manifest",
       [] {
         const std::string everything_else =
             R"({"schema":0,"request":0,"row_space":0,"query_space":0,"key_space":0,"position_method":0,)"
             R"("visibility":0,"cache":0,"numerical_state":0})";
         (void)json::read(everything_else);
       }},
      {errc::cache_operation, "cache_operation",
       [] {
         contract::kv_cache cache(test::empty_identity({description("learned_absolute")}),
                                  {.slots = 4, .when_full = contract::full_cache::refuse});
         cache.reanchor(relative_offset{3});
       }},
      {errc::geometry_cache, "geometry_cache", [] { (void)contract::geometry_cache({.capacity = 0}); }},
      {errc::checkpoint_contract, "checkpoint_contract",
       [] {
         auto wanted = test::t5_checkpoint();
         wanted.sign = offset_sign::query_minus_key;
         contract::require_same(test::t5_checkpoint(), wanted);
       }},
      {errc::conversion, "conversion",
       [] {
         auto target = test::t5_checkpoint();
         target.scale_factor = 1;
         const auto table = test::random_stored({12, 3}, 1);
         (void)contract::convert(
             {.source = test::t5_checkpoint(), .target = target, .tensors = {{"table", table}}, .roles = {}});
       }},
      {errc::head_partition, "head_partition",
       [] {
         const heads grouped{.query = 6, .key_value = 3, .dim = 8};
         (void)contract::head_partition(grouped, {{0, 2}, {1, 3}, {4, 5}}, contract::key_head_rule::owned);
       }},
      {errc::admission, "admission",
       [] {
         const heads layout{.query = 1, .key_value = 1, .dim = 2};
         const std::vector<float> numbers{0.3F, -1.2F, 0.7F, 0.1F, 0.9F, -0.4F};
         const auto rows = head_tables<float>::shared(table<float>(numbers, 3, 2));
         const auto classes = coordinate::clipped::symmetric(1);
         const attention model{layout, scaled, visible::everything{}, content::shaw_key(rows, classes),
                               value::shaw_value(rows, classes)};
         const contract::declared_executor mask_only{
             "additive mask only",
             {contract::capability::additive_score_bias, contract::capability::computes_in_float,
              contract::capability::binary32_elements},
             contract::relation_memory::materialised};
         (void)contract::admit(model, call::prefill_chunk(0, 4),
                               {.elements = precision::binary32, .output = precision::binary32, .value_dim = 2},
                               contract::reference_fallback::refused, mask_only);
       }},
      {errc::table_migration, "table_migration",
       [] {
         const auto zeros = [](index_t rows) {
           return table<float>(std::vector<float>(static_cast<std::size_t>(2 * rows)), rows, 2);
         };
         contract::require_consistent(contract::position_table<float>{
             .weights = zeros(7),
             .optimizer =
                 contract::optimizer_rows<float>{
                     .first_moment = zeros(5), .second_moment = zeros(7), .master_weights = none},
             .max_position_embeddings = 7,
             .row_offset = 0,
             .ids = {.end = 7}});
       }},
      {errc::release_step, "release_step",
       [] {
         const auto tuple = [](const std::string& id, index_t positions) {
           return contract::release_tuple{.release_id = release_id(id),
                                          .checkpoint_id = checkpoint_id(id),
                                          .position_method = description("learned_absolute"),
                                          .table_rows = positions,
                                          .config_max_position_embeddings = positions,
                                          .position_id_policy = position_id_policy("from 0"),
                                          .adapter_id = none,
                                          .runtime_backend = backend_id("fused")};
         };
         contract::position_release release(tuple("a", 5), tuple("b", 7), contract::training::ends);
         namespace evidence = contract::evidence;
         release.advance(evidence::migrated_table{
             .table_rows = 7, .config_max_position_embeddings = 7, .generated_ids_end = 7, .row_offset = 0});
         contract::load_report report;
         report.loaded = {"position_embeddings.weight"};
         release.advance(evidence::reconciled_checkpoint{.report = report});
         release.advance(evidence::runtime_limit{.backend = backend_id("fused"), .positions = 7});
       }},
      {errc::coverage, "coverage",
       [] {
         const auto taught = [](index_t buckets) {
           audit::coverage_counts counts;
           counts.tables.push_back({"t5", 0, "table", fmt::format("num_buckets {}", buckets), buckets, {}});
           return audit::coverage(counts);
         };
         taught(32).merge(taught(64));
       }},
      {errc::report, "report", [] { audit::html::page("an audit", "").add({.title = "Biases", .words = "none"}); }},
      {errc::card, "card",
       [] {
         (void)audit::card_of(attention{heads{}, scale::none{}, visible::causal{}},
                              {.checkpoint_id = checkpoint_id("m"),
                               .first_position = 0,
                               .padding_side = audit::padded_side::left,
                               .padding_positions = audit::padded_count::contiguous,
                               .packed_positions = audit::packed_count::never_packed,
                               .cached_call_begins_at = audit::cache_offset::no_cache,
                               .configured_length = none,
                               .trained_length = 64,
                               .evaluated = std::vector<audit::measured_quality>{},
                               .resized = none,
                               .coverage = none,
                               .audit = none,
                               .not_claimed = std::vector<std::string>{}},
                              json::xxh3{});
       }},
  };
}

/// A message as the page shows it: how large a workspace must be depends on the instruction set.
std::string shown(const error& e) {
  const std::string message = e.what();
  if (e.code() != errc::workspace_size) return message;
  return std::regex_replace(message, std::regex("at least [0-9]+"), "at least N");
}

/// The page's text from a heading to the next.
std::string section(const std::string& page, const std::string& heading) {
  const auto begin = page.find("\n## " + heading + "\n");
  if (begin == std::string::npos) return "";
  return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

TEST_CASE("each paragraph of the errors page shows the message that its mistake gives", "[docs]") {
  std::ifstream file(POSGEO_ERRORS_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  int number = 0;
  for (const mistake& m : mistakes()) {
    CAPTURE(m.heading);
    CHECK(static_cast<int>(m.code) == ++number);  // none is left out
    try {
      m.make();
      FAIL_CHECK("nothing was thrown");
    } catch (const error& e) {
      CHECK(e.code() == m.code);
      const std::string expected = "```text\n" + shown(e) + "\n```";
      CAPTURE(expected);
      CHECK(section(page, m.heading).find(expected) != std::string::npos);
    }
  }
  int headings = 0;
  for (auto at = page.find("\n## "); at != std::string::npos; at = page.find("\n## ", at + 1)) ++headings;
  CHECK(headings == number);
}

}  // namespace
