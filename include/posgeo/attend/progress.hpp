// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

#include <atomic>
#include <concepts>
#include <memory>
#include <string_view>
#include <type_traits>

namespace posgeo {

/// What a progress hook answers.
enum class progress { go_on, cancel };

class progress_hook;

namespace detail {

template <class F>
concept answers_progress = std::is_object_v<F> && !std::same_as<std::remove_const_t<F>, progress_hook> &&
                           std::is_invocable_r_v<progress, F&, index_t, index_t>;

}  // namespace detail

/// A reference to a callable of yours, which must outlive it: progress answer(index_t done, index_t total), of `total`
/// pieces of work. Empty by default, and then it always answers go_on.
class progress_hook {
 public:
  progress_hook() noexcept = default;

  template <detail::answers_progress F>
  progress_hook(F& f) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, index_t done, index_t total) { return (*static_cast<F*>(object))(done, total); }) {}

  [[nodiscard]] explicit operator bool() const noexcept { return call_ != nullptr; }
  [[nodiscard]] progress operator()(index_t done, index_t total) const {
    return call_ == nullptr ? progress::go_on : call_(object_, done, total);
  }

 private:
  void* object_ = nullptr;
  progress (*call_)(void*, index_t, index_t) = nullptr;
};

namespace detail {

/// What the workers of a call have done of its pieces, told to a hook. What the hook throws cancels the call too.
class piece_progress {
 public:
  piece_progress(progress_hook hook, index_t pieces) noexcept : hook_(hook), pieces_(pieces) {}

  void one_more() {
    if (!hook_) return;
    try {
      if (hook_(++done_, pieces_) == progress::cancel) cancel();
    } catch (...) {
      cancel();
      throw;
    }
  }
  void cancel() noexcept { cancelled_ = true; }
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }
  /// Throws: errc::cancelled if it was.
  void require_finished(std::string_view object) const {
    require(!cancelled_, errc::cancelled, object, "call", "to be finished", "cancelled by its progress hook");
  }

 private:
  progress_hook hook_;
  index_t pieces_;
  std::atomic<index_t> done_{0};
  std::atomic<bool> cancelled_{false};
};

}  // namespace detail

}  // namespace posgeo
