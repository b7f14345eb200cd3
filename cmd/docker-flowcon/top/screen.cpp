// SPDX-License-Identifier: Apache-2.0
#include "cmd/docker-flowcon/top/screen.h"

// Functions only: macros of these names would reach into other headers.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace flowcon::plugin {
namespace {

constexpr int kEscapeMilliseconds = 25;  // between the bytes of one key, over a slow line too

// Pairs of colors by the style that they stand for. The background stays the terminal's own.
enum Pair : short { good = 1, watch = 2, settled = 3, bad = 4 };

chtype attributes_of(TopStyle style, bool has_colors) {
  const auto colored = [has_colors](Pair pair, chtype otherwise) {
    return has_colors ? static_cast<chtype>(COLOR_PAIR(pair)) : otherwise;
  };
  switch (style) {
    case TopStyle::plain:
      return A_NORMAL;
    case TopStyle::quiet:
      return A_NORMAL;
    case TopStyle::strong:
      return A_BOLD;
    case TopStyle::heading:
      return A_REVERSE;
    case TopStyle::selected:
      return A_REVERSE | A_BOLD;
    case TopStyle::good:
      return colored(good, A_NORMAL);
    case TopStyle::watch:
      return colored(watch, A_NORMAL);
    case TopStyle::settled:
      return colored(settled, A_NORMAL);
    case TopStyle::bad:
      return colored(bad, A_BOLD) | A_BOLD;
  }
  return A_NORMAL;
}

// The text comes from us or went through drawable(), so all of it is printable.
std::wstring wide(const std::string& text) {
  std::wstring out;
  std::mbstate_t state{};
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    wchar_t code = 0;
    const std::size_t bytes = mbrtowc(&code, at, static_cast<std::size_t>(end - at), &state);
    if (bytes == 0 || bytes > static_cast<std::size_t>(end - at)) {
      out += L'?';
      state = {};
      ++at;
    } else {
      out += code;
      at += bytes;
    }
  }
  return out;
}

std::optional<TopKey> key_of(bool is_function, wint_t code) {
  using Kind = TopKey::Kind;
  if (is_function) {
    switch (code) {
      case KEY_UP:
        return TopKey{Kind::up};
      case KEY_DOWN:
        return TopKey{Kind::down};
      case KEY_PPAGE:
        return TopKey{Kind::page_up};
      case KEY_NPAGE:
        return TopKey{Kind::page_down};
      case KEY_HOME:
        return TopKey{Kind::first};
      case KEY_END:
        return TopKey{Kind::last};
      case KEY_ENTER:
        return TopKey{Kind::enter};
      case KEY_BACKSPACE:
        return TopKey{Kind::backspace};
      case KEY_F(1):
        return TopKey{Kind::character, '?'};
      default:
        return std::nullopt;
    }
  }
  switch (code) {
    case '\r':
    case '\n':
      return TopKey{Kind::enter};
    case 27:
      return TopKey{Kind::escape};
    case 8:
    case 127:
      return TopKey{Kind::backspace};
    case 12:
      return TopKey{Kind::redraw};
    default:
      break;
  }
  if (code >= ' ' && code < 127) return TopKey{Kind::character, static_cast<char>(code)};
  return std::nullopt;
}

Error cannot_draw(const std::string& term) {
  return bad_input("cannot draw on this terminal (TERM=" + printable(term, 40) +
                   "); use: docker flowcon status --watch");
}

}  // namespace

struct TopScreen::Impl {
  SCREEN* screen = nullptr;
  bool has_colors = false;
};

Result<std::unique_ptr<TopScreen>> TopScreen::open(const std::string& term, bool has_colors) {
  int error = 0;
  // newterm() ends the process where it does not know the terminal.
  if (term.empty() || setupterm(term.c_str(), STDOUT_FILENO, &error) == ERR) {
    return cannot_draw(term);
  }
  const char* move = tigetstr("cup");
  const bool can_move = move != nullptr && move != reinterpret_cast<const char*>(-1);
  del_curterm(cur_term);
  if (!can_move) return cannot_draw(term);
  auto impl = std::make_unique<Impl>();
  impl->screen = newterm(term.c_str(), stdout, stdin);
  if (impl->screen == nullptr) return cannot_draw(term);
  set_term(impl->screen);
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  intrflush(stdscr, FALSE);
  set_escdelay(kEscapeMilliseconds);
  curs_set(0);
  impl->has_colors = has_colors && ::has_colors() && start_color() == OK;
  if (impl->has_colors) {
    use_default_colors();
    init_pair(good, COLOR_GREEN, -1);
    init_pair(watch, COLOR_YELLOW, -1);
    init_pair(settled, COLOR_CYAN, -1);
    init_pair(bad, COLOR_RED, -1);
  }
  return std::unique_ptr<TopScreen>(new TopScreen(std::move(impl)));
}

TopScreen::TopScreen(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

TopScreen::~TopScreen() {
  curs_set(1);
  endwin();
  delscreen(impl_->screen);
}

void TopScreen::draw(const std::vector<TopLine>& picture) {
  werase(stdscr);
  for (std::size_t y = 0; y < picture.size() && y < height(); ++y) {
    wmove(stdscr, static_cast<int>(y), 0);
    for (const TopSpan& span : picture[y]) {
      wattrset(stdscr, static_cast<int>(attributes_of(span.style, impl_->has_colors)));
      const std::wstring text = wide(span.text);
      waddnwstr(stdscr, text.c_str(), static_cast<int>(text.size()));
    }
  }
  wrefresh(stdscr);
}

void TopScreen::forget_drawn() { clearok(stdscr, TRUE); }

void TopScreen::fit() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return;
  resizeterm(size.ws_row, size.ws_col);
  clearok(stdscr, TRUE);
}

std::size_t TopScreen::width() const {
  return static_cast<std::size_t>(std::max(getmaxx(stdscr), 1));
}
std::size_t TopScreen::height() const {
  return static_cast<std::size_t>(std::max(getmaxy(stdscr), 1));
}

std::optional<TopKey> TopScreen::read_key() {
  while (true) {
    wint_t code = 0;
    const int kind = wget_wch(stdscr, &code);
    if (kind == ERR) {
      // Without a key either none waits, or nobody is there to press one.
      pollfd input{STDIN_FILENO, POLLIN, 0};
      is_gone_ = poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
      return std::nullopt;
    }
    if (const std::optional<TopKey> key = key_of(kind == KEY_CODE_YES, code)) return key;
  }
}

void TopScreen::stop() {
  curs_set(1);
  endwin();
  kill(getpid(), SIGSTOP);
  curs_set(0);
  fit();
}

}  // namespace flowcon::plugin
