// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/peer/side.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "cluster/peers/ssh.h"
#include "cmd/docker-flowcon/files.h"
#include "cmd/docker-flowcon/peer/files.h"
#include "cmd/docker-flowcon/peer/service.h"
#include "cmd/docker-flowcon/tool.h"

namespace flowcon::plugin {
namespace {

using cluster::peers::kPeerUser;

constexpr const char* kProgram = "/usr/libexec/docker/cli-plugins/docker-flowcon";
constexpr std::size_t kMostHostKeys = 16;

// Of a file that is written again with what it has; "" where there is none.
Result<std::string> read_own(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::string();
  std::ifstream file(path);
  std::ostringstream text;
  errno = 0;
  if (!file || (file.peek() != EOF && !(text << file.rdbuf())) || file.bad()) {
    return errno_error(errno == 0 ? EIO : errno, "reading " + path);
  }
  return text.str();
}

Result<void> make_folder(const std::string& path, mode_t mode) {
  struct stat status {};
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return errno_error(errno, "making " + path);
  }
  if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != 0) {
    return bad_input(path + " is not a folder owned by root");
  }
  if (::chmod(path.c_str(), mode) != 0) return errno_error(errno, "chmod of " + path);
  return {};
}

// Held while a file is read and written again; ends with the process where it is not freed.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (file_ >= 0) ::flock(file_, LOCK_EX);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_;
};

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::string home_of_user() {
  const passwd* entry = ::getpwnam(kPeerUser);
  return entry != nullptr ? entry->pw_dir : "";
}

std::string program_path() {
  if (::access(kProgram, X_OK) == 0) return kProgram;
  char path[4096] = {};
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path - 1);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : kProgram;
}

std::string said_by(const ToolResult& result) {
  const std::string& text = result.err.empty() ? result.out : result.err;
  return printable(text.substr(0, text.find('\n')), 200);
}

}  // namespace

Result<Offer> parse_offer(const json::value& value) {
  Offer offer;
  const std::optional<double> port = real_of(member(value, "port"));
  SshAddress address{"", text_of(member(value, "host")), 0};
  if (port && *port >= 1 && *port <= 65535) address.port = static_cast<unsigned>(*port);
  Result<SshAddress> checked = parse_ssh_address(render_ssh_address(address));
  if (!checked) return checked.error();
  if (!(*checked == address)) return bad_input("the offer has no host and port");
  offer.address = *checked;
  Result<std::string> key = parse_public_key(text_of(member(value, "key")));
  if (!key) return key.error();
  offer.key = *key;
  for (const json::value& line : list_of(member(value, "host_keys"))) {
    Result<std::string> host_key = parse_public_key(text_of(line));
    if (!host_key) return host_key.error();
    if (offer.host_keys.size() < kMostHostKeys) offer.host_keys.push_back(*host_key);
  }
  if (offer.host_keys.empty()) return bad_input("the offer has no host keys");
  return offer;
}

std::string render_offer(const Offer& offer) {
  json::object out;
  out["host"] = offer.address.host;
  out["port"] = offer.address.port;
  out["key"] = offer.key;
  json::array keys;
  for (const std::string& key : offer.host_keys) keys.emplace_back(key);
  out["host_keys"] = std::move(keys);
  return render_json(out);
}

Result<Side> Side::open(const DaemonClient& daemon, Say say) {
  if (::geteuid() != 0) {
    return bad_input("peer add and rm write SSH keys and need root (sudo docker flowcon peer …)");
  }
  Result<json::value> answer = daemon.get("/v1/peers");
  if (!answer) return answer.error();
  const json::value here = member(*answer, "here");
  const std::string name = text_of(member(here, "name"));
  Side side(daemon, [say = std::move(say), who = printable(name, 100)](const std::string& step) {
    say(who + ": " + step);
  });
  side.name_ = name;
  side.folder_ = text_of(member(here, "ssh"));
  side.socket_ = text_of(member(here, "socket"));
  if (side.folder_.empty() || side.folder_.front() != '/') {
    return bad_input("flowcond does not say where its keys are");
  }
  // sshd passes through the state folder as the user whose key it looks for.
  if (auto made = make_folder(parent_of(side.folder_), 0711); !made) return made.error();
  if (auto made = make_folder(side.folder_, 0700); !made) return made.error();
  return side;
}

std::string Side::known_hosts() const { return cluster::peers::known_hosts_file(folder_); }

Result<std::string> Side::own_key() const {
  const std::string file = cluster::peers::key_file(folder_);
  const FolderLock lock(folder_);
  if (::access(file.c_str(), F_OK) != 0) {
    Result<ToolResult> made = run_tool(
        {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "flowcon-peer@" + name_, "-f", file});
    if (!made) return made.error();
    if (made->status != 0) return bad_input("ssh-keygen made no key: " + said_by(*made));
    say_("made the key " + file);
  }
  Result<std::string> key = parse_public_key(file_text(file + ".pub"));
  return key ? key : wrap(key.error(), "reading " + file + ".pub");
}

Result<void> Side::ensure_user(bool create) const {
  const std::string home = parent_of(folder_) + "/peer";
  const passwd* entry = ::getpwnam(kPeerUser);
  if (entry == nullptr) {
    const std::vector<std::string> words{
        "useradd", "--system", "--user-group", "--home-dir", home,     "--no-create-home",
        "--shell", "/bin/sh",  "--password",   "*",          kPeerUser};
    if (!create) {
      std::string line;
      for (const std::string& word : words) line += (word == "*" ? "'*'" : word) + " ";
      return bad_input("the system user flowcon-peer is missing: add --create-user, or run: " +
                       line.substr(0, line.size() - 1));
    }
    // "*" is a password that none matches; useradd's own "!" locks the account even for keys where
    // sshd asks no PAM.
    Result<ToolResult> made = run_tool(words);
    if (!made) return errno_error(made.error().code.value(), "starting useradd");
    if (made->status != 0) return bad_input("useradd failed: " + said_by(*made));
    say_("made the system user flowcon-peer");
    entry = ::getpwnam(kPeerUser);
    if (entry == nullptr) return bad_input("the user flowcon-peer was created but cannot be found");
  }
  const std::string shell = entry->pw_shell;
  if (shell.find("nologin") != std::string::npos || shell.find("/false") != std::string::npos) {
    return bad_input("the user flowcon-peer has the shell " + printable(shell) +
                     ", which runs no forced command: usermod --shell /bin/sh flowcon-peer");
  }
  return {};
}

Result<void> Side::authorize(const SshAddress& peer, const std::string& key) const {
  const std::string home = home_of_user();
  if (home.empty()) return bad_input("there is no user flowcon-peer");
  Result<std::string> line = authorized_line(program_path(), socket_, key, peer);
  if (!line) return line.error();
  if (auto made = make_folder(home, 0755); !made) return made;
  if (auto made = make_folder(home + "/.ssh", 0755); !made) return made;
  const FolderLock lock(home + "/.ssh");
  const std::string file = home + "/.ssh/authorized_keys";
  const Result<std::string> before = read_own(file);
  if (!before) return before.error();
  const std::string after = with_authorized(*before, peer, *line);
  if (after == *before) return {};
  // sshd reads it as the user, who may not write it.
  if (auto written = replace_file(file, after, 0644); !written) return written;
  say_("authorised the key of " + host_and_port(peer) + " for flowcond only");
  return {};
}

Result<void> Side::revoke(const SshAddress& peer) const {
  const std::string home = home_of_user();
  if (home.empty()) return {};
  const FolderLock lock(home + "/.ssh");
  const std::string file = home + "/.ssh/authorized_keys";
  const Result<std::string> before = read_own(file);
  if (!before) return before.error();
  const std::string after = with_authorized(*before, peer, "");
  if (after == *before) return {};
  if (auto written = replace_file(file, after, 0644); !written) return written;
  say_("revoked the key of " + host_and_port(peer));
  return {};
}

Result<void> Side::trust(const SshAddress& peer, const std::vector<std::string>& keys) const {
  const FolderLock lock(folder_);
  const Result<std::string> before = read_own(known_hosts());
  if (!before) return before.error();
  const std::string after = with_known(*before, peer, keys);
  if (after == *before) return {};
  if (auto written = replace_file(known_hosts(), after, 0600); !written) return written;
  say_(keys.empty() ? "forgot the host key of " + host_and_port(peer)
                    : "trusts the host key of " + host_and_port(peer));
  return {};
}

std::vector<std::string> Side::trusted(const SshAddress& peer) const {
  return known_keys(file_text(known_hosts()), peer);
}

Result<void> Side::open_service() const {
  const Result<bool> changed = let_service_have_peers();
  if (!changed) return changed.error();
  if (*changed) say_("lets flowcond run ssh, and restarts it");
  return {};
}

Result<void> Side::join(const SshAddress& peer) const {
  json::object body;
  body["host"] = peer.host;
  body["port"] = peer.port;
  const Result<json::value> answer = daemon_.post("/v1/peers", render_json(body));
  if (!answer) return answer.error();
  return {};
}

std::vector<std::string> own_host_keys() {
  std::vector<std::string> keys;
  for (const char* type : {"ed25519", "ecdsa", "rsa"}) {
    const std::string file = std::string("/etc/ssh/ssh_host_") + type + "_key.pub";
    if (Result<std::string> key = parse_public_key(file_text(file))) keys.push_back(*key);
  }
  return keys;
}

Result<std::string> fingerprint_of(const std::string& key) {
  Result<ToolResult> shown = run_tool({"ssh-keygen", "-l", "-f", "-"}, key + "\n");
  if (!shown) return shown.error();
  const std::size_t begin = shown->out.find("SHA256:");
  if (shown->status != 0 || begin == std::string::npos) {
    return bad_input("ssh-keygen shows no fingerprint: " + said_by(*shown));
  }
  return shown->out.substr(begin, shown->out.find(' ', begin) - begin);
}

}  // namespace flowcon::plugin
