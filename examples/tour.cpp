// SPDX-License-Identifier: MIT
// What tells a Transformer the order of its words? Seven mechanisms, measured on two sentences.
#include <posgeo/attend/eager.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/bias/t5.hpp>
#include <posgeo/encode/learned_absolute.hpp>
#include <posgeo/encode/sinusoidal.hpp>
#include <posgeo/frequency/geometric.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/inverse_sqrt_head_dim.hpp>
#include <posgeo/transform/rotary.hpp>
#include <posgeo/visible/causal.hpp>
#include <posgeo/visible/everything.hpp>

#include <fstream>
#include <iostream>

#include "tour/laws.hpp"

namespace {

using namespace posgeo;
using tour::mechanism;

/// A mechanism that lives in the attention alone.
template <class Attention>
mechanism from_attention(std::string name, const Attention& model, std::vector<std::string> explanations) {
  const auto attend = [model](const tour::states& x, const position_call& call) {
    return tour::run_layer(model, x, call);
  };
  return {std::move(name), std::move(explanations), [](const position_call&, tour::states&) {}, attend};
}

/// A mechanism that adds to the states and leaves the attention plain.
template <class Encoder, class Attention>
mechanism from_encoder(std::string name, const Encoder& encoder, const Attention& model,
                       std::vector<std::string> explanations) {
  mechanism out = from_attention(std::move(name), model, std::move(explanations));
  out.encode = [encoder](const position_call& call, tour::states& x) {
    encode::add_positions(encoder, call, x.view());
  };
  return out;
}

/// The library in one function: an attention is a head layout, a scale, who may see whom, and the mechanism, if any.
tour::cast make_cast() {
  const heads& layout = tour::layout;
  const scale::inverse_sqrt_head_dim scale;
  const attention plain{layout, scale, visible::everything{}};
  const attention plain_causal{layout, scale, visible::causal{}};

  const encode::sinusoidal sinusoidal{{.width = tour::width,
                                       .layout = encode::sinusoid_layout::interleaved,
                                       .exponent = encode::sinusoid_exponent::paper}};

  const index_t capacity = tour::max_words + 1 + tour::shift;
  const table<double> rows{tour::numbers(tour::seed::learned_table).take(capacity * tour::width), capacity,
                           tour::width};
  const encode::learned_absolute<double> learned{rows, {.row_offset = 0}};

  const auto slopes = bias::alibi_slopes::reference(layout.query);
  const attention alibi{layout, scale, visible::causal{}, bias::alibi{slopes, bias::alibi_direction::causal}};

  const coordinate::t5_bucket bucket{
      {.num_buckets = 32, .max_distance = 128, .direction = coordinate::bucket_direction::bidirectional}};
  const table<double> weights{tour::numbers(tour::seed::bucket_table).take(32 * layout.query), 32, layout.query};
  const attention t5{layout, scale, visible::everything{}, bias::t5<double>{weights, bucket}};

  const transform::rotary turn{frequency::geometric{{.base = 10000.0, .rotary_dim = layout.dim}},
                               {.pairs = transform::pairing::halves}};
  const attention rotary{layout, scale, visible::everything{}, turn};

  return {.nope = from_attention("NoPE, unmasked", plain, {"Nothing names a place: the weights follow the words."}),
          .nope_causal = from_attention("NoPE, causal", plain_causal,
                                        {"<end> sees every word, and the words of one layer are a set.",
                                         "Each word brings what it saw before it: order is read, distance is not."}),
          .sinusoidal = from_encoder("sinusoidal", sinusoidal, plain,
                                     {"Content and phase mix in the projections: even a common shift moves weights."}),
          .learned = from_encoder("learned absolute", learned, plain,
                                  {"Each position is a vector of its own: a shift reads other rows of the table."}),
          .alibi = from_attention("ALiBi, causal", alibi,
                                  {"Distance costs: a shift cancels; a gap costs every word more than <end> itself."}),
          .t5 = from_attention("T5", t5, {"Offsets choose learned numbers: a shift keeps them, a gap chooses others."}),
          .rotary = from_attention("rotary", rotary,
                                   {"A common turn of queries and keys cancels; a change of distance does not."}),
          .alibi_slopes = {slopes[head_index{0}], slopes[head_index{1}]}};
}

constexpr std::string_view usage =
    "usage: posgeo_tour [FILE | -]\n"
    "\n"
    "Shows what NoPE, sinusoidal, learned, ALiBi, T5 and rotary positions do to two orders of the same words.\n"
    "\n"
    "  FILE   two lines that hold the same words in different orders (capitals and punctuation count);\n"
    "         else its first line and the reversal\n"
    "  -      the same from standard input\n"
    "  none   'dog bites man' and 'man bites dog'\n"
    "\n"
    "Exit code: 0 if every law holds, 1 if one fails, 2 for input that cannot be used.\n";

std::string read_input(const std::vector<std::string>& arguments) {
  if (arguments.size() > 1) throw tour::bad_input("one file at most");
  if (arguments.empty()) return "dog bites man\nman bites dog\n";
  const std::string& name = arguments.front();
  if (name == "-") return tour::read_all(std::cin, "standard input");
  if (name.starts_with("-")) throw tour::bad_input(fmt::format("unknown option '{}'", name));
  std::ifstream file(name, std::ios::binary);
  if (!file) throw tour::bad_input(fmt::format("'{}' cannot be opened", name));
  return tour::read_all(file, name);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments == std::vector<std::string>{"--help"}) {
    fmt::print("{}", usage);
    return 0;
  }
  try {
    const tour::two_orders text = tour::find_orders(read_input(arguments));
    const tour::cast cast = make_cast();
    tour::print_orders(text);
    if (text.differ()) {
      tour::print_moved_word(cast.all(), text);
      tour::print_verdicts(cast.all(), text);
    }
    tour::print_interventions(cast.all(), text);
    return tour::print_laws(tour::check_laws(cast, text)) ? 0 : 1;
  } catch (const tour::bad_input& problem) {
    fmt::print(stderr, "posgeo_tour: {}\n\n{}", problem.what(), usage);
    return 2;
  }
}
