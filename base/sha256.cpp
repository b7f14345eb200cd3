// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <cstdlib>

#include "base/hex.h"

namespace flowcon {
namespace {

// libcrypto fails here for want of memory alone, which ends the program as it does elsewhere.
void require(bool holds) {
  if (!holds) std::abort();
}

// Made once, for it takes milliseconds; kept until the process ends.
const EVP_MD* sha256_method() {
  static OSSL_LIB_CTX* const library = OSSL_LIB_CTX_new();
  static EVP_MD* const method = EVP_MD_fetch(library, "SHA256", nullptr);
  require(library != nullptr && method != nullptr);
  return method;
}

}  // namespace

struct Sha256::Digest {
  explicit Digest(const EVP_MD* method) : context(EVP_MD_CTX_new()) {
    require(context != nullptr && EVP_DigestInit_ex2(context, method, nullptr) == 1);
  }
  ~Digest() { EVP_MD_CTX_free(context); }
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  EVP_MD_CTX* context;
};

Sha256::Sha256() : digest_(std::make_unique<Digest>(sha256_method())) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::feed(std::string_view bytes) {
  require(EVP_DigestUpdate(digest_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
  std::array<unsigned char, 32> sum{};
  unsigned size = 0;
  require(EVP_DigestFinal_ex(digest_->context, sum.data(), &size) == 1 && size == sum.size());
  return to_hex(sum);
}

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  Sha256 sum;
  sum.feed(text);
  const std::string end = " " + sum.finish();
  text.resize(most - end.size());
  return text + end;
}

}  // namespace flowcon
