// SPDX-License-Identifier: Apache-2.0
// How a function that can fail says so: a Result that holds a value or an Error. An Error is an
// error code for the program and a sentence for the person. It never carries an exception.
#pragma once

#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <cerrno>
#include <ostream>
#include <string>
#include <utility>

namespace flowcon {

/// What went wrong. `code` is for the program to branch on, `what` for a person: what we were
/// doing, what is wrong and, where there is something to do, what to do.
struct Error {
  boost::system::error_code code;
  std::string what;

  /// One line: the sentence, then the text of the code where there is one.
  [[nodiscard]] std::string message() const { return code ? what + ": " + code.message() : what; }
};

/// The message(); lets a test show the Result that surprised it.
inline std::ostream& operator<<(std::ostream& out, const Error& error) {
  return out << error.message();
}

/// Called by boost::system::result::value() on a Result without a value; we never call value()
/// before looking, so getting here is a bug of ours.
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location&);

template <class T>
using Result = boost::system::result<T, Error>;

/// An error of the world (errno).
[[nodiscard]] inline Error errno_error(int number, std::string what) {
  return {{number, boost::system::system_category()}, std::move(what)};
}

/// An error whose sentence says everything (bad input).
[[nodiscard]] inline Error bad_input(std::string what) { return {{}, std::move(what)}; }

/// What was asked for is not there: ENOENT.
[[nodiscard]] inline bool is_absent(const Error& error) {
  return error.code == boost::system::errc::no_such_file_or_directory;
}

template <class T>
[[nodiscard]] bool is_absent(const Result<T>& result) {
  return !result && is_absent(result.error());
}

/// It took too long: ETIMEDOUT.
[[nodiscard]] inline bool is_timeout(const Error& error) {
  return error.code == boost::system::errc::timed_out;
}

template <class T>
[[nodiscard]] bool is_timeout(const Result<T>& result) {
  return !result && is_timeout(result.error());
}

/// The same error with the outer action in front: "outer: inner".
[[nodiscard]] inline Error wrap(Error error, const std::string& doing) {
  error.what = doing + ": " + error.what;
  return error;
}

}  // namespace flowcon
