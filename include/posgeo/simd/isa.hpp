// SPDX-License-Identifier: MIT
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "posgeo needs infinities and NaN: build without -ffast-math and -ffinite-math-only"
#endif

#include <Eigen/Core>

// The instruction set that this translation unit is compiled for, as the name of an inline namespace: units with
// different flags then hold different functions, and a program may link them. Not a public macro: it may be used inside
// posgeo, never by a program. It names what Eigen's packets use, so that both always agree.
#if defined(EIGEN_VECTORIZE_AVX512) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define POSGEO_SIMD_AVX512
#if defined(__AVX512BF16__)
#define POSGEO_SIMD_ISA avx512_bf16
#else
#define POSGEO_SIMD_ISA avx512
#endif
#elif defined(EIGEN_VECTORIZE_AVX512)
#define POSGEO_SIMD_ISA avx512f
#elif defined(EIGEN_VECTORIZE_AVX2) && defined(EIGEN_VECTORIZE_FMA) && defined(__F16C__)
#define POSGEO_SIMD_ISA avx2
#elif defined(EIGEN_VECTORIZE_AVX) && defined(EIGEN_VECTORIZE_FMA)
#define POSGEO_SIMD_ISA avx_fma
#elif defined(EIGEN_VECTORIZE_AVX2)
#define POSGEO_SIMD_ISA avx2_without_fma
#elif defined(EIGEN_VECTORIZE_AVX)
#define POSGEO_SIMD_ISA avx
#elif defined(EIGEN_VECTORIZE_SSE4_2)
#define POSGEO_SIMD_ISA sse42
#elif defined(EIGEN_VECTORIZE_SSE)
#define POSGEO_SIMD_ISA sse2
#elif defined(EIGEN_VECTORIZE_NEON)
#define POSGEO_SIMD_ISA neon
#else
#define POSGEO_SIMD_ISA scalar
#endif

#define POSGEO_SIMD_TEXT_OF(name) #name
#define POSGEO_SIMD_TEXT(name) POSGEO_SIMD_TEXT_OF(name)

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace posgeo::simd {
inline namespace POSGEO_SIMD_ISA {

/// The name of the instruction set that the calling translation unit was compiled for.
inline constexpr const char* isa_name = POSGEO_SIMD_TEXT(POSGEO_SIMD_ISA);

}  // namespace POSGEO_SIMD_ISA
}  // namespace posgeo::simd

#undef POSGEO_SIMD_TEXT
#undef POSGEO_SIMD_TEXT_OF
