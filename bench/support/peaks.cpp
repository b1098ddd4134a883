// SPDX-License-Identifier: MIT
#include "support/peaks.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

namespace posgeo::bench {

namespace {

namespace lanes = Eigen::internal;

/// As many chains as hide the latency of two units and leave registers for the two factors.
constexpr int chains = EIGEN_ARCH_DEFAULT_NUMBER_OF_REGISTERS >= 32 ? 24 : 12;
constexpr int steps = 10'000;
/// Of one look. A core that does nothing but multiply raises its clock by a sixth within some ten milliseconds: a
/// longer look would find a peak that attention, which moves data too, is never offered.
constexpr double look = 0.001;

/// Hides from the compiler where a value comes from and whether it is needed.
template <class Value>
void opaque(Value& value) {
  asm volatile("" : "+m"(value));
}

/// Operations per second of rounds of `steps` over the chains.
template <class Round>
double rate_of(double operations_per_step, const Round& run_round) {
  double seconds = 0;
  int rounds = 0;
  for (; seconds < look; ++rounds) seconds += seconds_of(run_round);
  return operations_per_step * steps * rounds / seconds;
}

/// Starts of chains, of which the compiler cannot know that they are equal: it would run equal chains as one.
template <class T>
std::array<T, chains> chain_starts(T start) {
  std::array<T, chains> out;
  out.fill(start);
  opaque(out);
  return out;
}

/// Sums a buffer with 16 accumulators, with or without a prefetch some bytes ahead.
template <int Ahead>
float sum_of(const float* first, const float* last) {
  using packet = lanes::packet_traits<float>::type;
  constexpr int width = lanes::packet_traits<float>::size;
  constexpr int accumulators = chains == 24 ? 16 : 8;
  packet sums[accumulators];
  for (packet& sum : sums) sum = lanes::pset1<packet>(0.0F);
  for (; last - first >= accumulators * width; first += accumulators * width) {
#pragma GCC unroll 16
    for (int n = 0; n < accumulators; ++n) {
      const float* const at = first + n * width;
      if constexpr (Ahead > 0) {
        if (n * width % 16 == 0) __builtin_prefetch(at + Ahead / sizeof(float));
      }
      sums[n] = lanes::padd(sums[n], lanes::ploadu<packet>(at));
    }
  }
  packet total = sums[0];
  for (int n = 1; n < accumulators; ++n) total = lanes::padd(total, sums[n]);
  return lanes::predux(total);
}

/// The same over several streams at once, which is how keys and values of several heads are read.
float sum_of_streams(const float* first, const float* last) {
  constexpr std::ptrdiff_t streams = 4;
  constexpr std::ptrdiff_t piece = 1024;
  const std::ptrdiff_t length = (last - first) / streams / piece * piece;
  float total = 0;
  for (std::ptrdiff_t at = 0; at < length; at += piece) {
    for (std::ptrdiff_t s = 0; s < streams; ++s) {
      const float* const from = first + s * length + at;
      total += sum_of<4096>(from, from + piece);
    }
  }
  return total;
}

}  // namespace

template <class T>
double fma_peak() {
  using packet = typename lanes::packet_traits<T>::type;
  constexpr int width = lanes::packet_traits<T>::size;
  packet factor = lanes::pset1<packet>(T(0.999999));
  packet addend = lanes::pset1<packet>(T(1e-7));
  T sample[width] = {};
  const double rate = rate_of(2.0 * width * chains, [&] {
    opaque(factor);
    opaque(addend);
    const auto starts = chain_starts(T(1));
    packet sums[chains];
    for (std::size_t n = 0; n < chains; ++n) sums[n] = lanes::pset1<packet>(starts[n]);
    for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 24
      for (int n = 0; n < chains; ++n) sums[n] = lanes::pmadd(sums[n], factor, addend);
    }
    for (int n = 1; n < chains; ++n) sums[0] = lanes::padd(sums[0], sums[n]);
    lanes::pstoreu(sample, sums[0]);
    opaque(sample);
  });
  if (!(sample[0] > T(0) && sample[0] < T(chains))) std::abort();  // it has sunk towards addend / (1 - factor) = 0.1
  return rate;
}
template double fma_peak<float>();
template double fma_peak<double>();

std::optional<double> bfloat16_dot_peak() {
#ifdef __AVX512BF16__
  __m512bh left = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5F), _mm512_set1_ps(0.25F));
  float sample[16] = {};
  const double rate = rate_of(2.0 * 32 * chains, [&] {
    opaque(left);
    const auto starts = chain_starts(0.0F);
    __m512 sums[chains];
    for (std::size_t n = 0; n < chains; ++n) sums[n] = _mm512_set1_ps(starts[n]);
    for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 24
      for (int n = 0; n < chains; ++n) sums[n] = _mm512_dpbf16_ps(sums[n], left, left);
    }
    for (int n = 1; n < chains; ++n) sums[0] = _mm512_add_ps(sums[0], sums[n]);
    _mm512_storeu_ps(sample, sums[0]);
    opaque(sample);
  });
  if (!(sample[0] > 0.0F)) std::abort();
  return rate;
#else
  return std::nullopt;
#endif
}

namespace {

using read_loop = memory_reader::read_loop;

/// Seconds in which some cores read equal shares of a buffer.
double seconds_to_read(read_loop loop, const std::vector<float>& values, int cores) {
  const auto share = values.size() / static_cast<std::size_t>(cores);
  std::vector<float> sums(static_cast<std::size_t>(cores));
  const auto read = [&](int core) {
    const float* const first = values.data() + share * static_cast<std::size_t>(core);
    sums[static_cast<std::size_t>(core)] = loop(first, first + share);
  };
  const double seconds = seconds_of([&] {
    std::vector<std::thread> others;
    for (int core = 1; core < cores; ++core) others.emplace_back(read, core);
    read(0);
    for (std::thread& other : others) other.join();
  });
  opaque(sums);
  if (!(sums[0] > 0.0F)) std::abort();
  return seconds;
}

/// The loop that reads fastest, by the medians of five rounds.
read_loop fastest_loop(const std::vector<float>& values) {
  constexpr std::array<read_loop, 5> loops{sum_of<0>, sum_of<2048>, sum_of<4096>, sum_of<8192>, sum_of_streams};
  std::array<std::vector<double>, loops.size()> seconds;
  for (int round = 0; round < 5; ++round) {
    for (std::size_t n = 0; n < loops.size(); ++n) seconds[n].push_back(seconds_to_read(loops[n], values, 1));
  }
  for (std::vector<double>& of_loop : seconds) std::sort(of_loop.begin(), of_loop.end());
  const auto faster = [](const auto& a, const auto& b) { return a[2] < b[2]; };
  return loops[static_cast<std::size_t>(std::min_element(seconds.begin(), seconds.end(), faster) - seconds.begin())];
}

}  // namespace

memory_reader::memory_reader() : values_(bytes / sizeof(float), 1.0F / 1024), loop_(fastest_loop(values_)) {}

double memory_reader::bandwidth(int cores) const {
  return static_cast<double>(bytes) / seconds_to_read(loop_, values_, cores);
}

const memory_reader& reader() {
  static const memory_reader one;
  return one;
}

}  // namespace posgeo::bench
