#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docker flowcon top in a terminal (tmux): what it shows at several sizes, what its keys do, and that it
# gives the terminal back whatever ends it.
# usage: top.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A tmux of its own for each terminal: nobody's configuration, nobody's sessions, and none that is ending.
TERMINAL=0
tm() { env -u TMUX tmux -L "flowcon-top-$$-$TERMINAL" -f /dev/null "$@"; }
end_tmux() { tm kill-server 2>/dev/null || :; }

# terminal WIDTH HEIGHT [NAME=VALUE...]: a new one with a shell.
terminal() {
  local width=$1 height=$2
  shift 2
  end_tmux
  TERMINAL=$((TERMINAL + 1))
  must tm new-session -d -x "$width" -y "$height" \
    "env PS1='ready> ' LANG=C.UTF-8 LC_ALL= FLOWCON_SOCKET='$SOCKET' $* bash --norc --noprofile"
  eventually "a terminal of $width by $height is there" shows 'ready>'
}
seen() { tm capture-pane -p; }
colored() { tm capture-pane -p -e; }
has_words() { grep -qE -- "$1" <<<"$2"; }
shows() {
  local now
  now=$(seen)
  if ! has_words "$1" "$now"; then
    printf 'wanted: %s\nseen:\n%s\n' "$1" "$now"
    return 1
  fi
}
hides() {
  local now
  now=$(seen)
  if has_words "$1" "$now"; then
    printf 'not wanted: %s\nseen:\n%s\n' "$1" "$now"
    return 1
  fi
}
keys() { must tm send-keys "$@"; }
say_to_shell() { keys -l "$1"; keys Enter; }
# Started from the shell, which prints behind it the exit status and whether the terminal's modes are what
# they were.
top() {
  say_to_shell "m=\$(stty -g); '$BIN/docker-flowcon' flowcon top --interval 0.5; echo \"status=\$?\"; [ \"\$m\" != \"\$(stty -g)\" ] || echo modes=same"
}
# Lines that are wider than the terminal would make more of them.
fits() {
  local wide
  [ "$(seen | wc -l)" -le "$2" ] || { printf 'more than %s lines\n' "$2"; seen; return 1; }
  wide=$(seen | python3 -c 'import sys, unicodedata
for line in sys.stdin:
    columns = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line.rstrip("\n"))
    if columns > int(sys.argv[1]): print(columns, line)' "$1")
  is "$wide" ""
}
# The terminal is as before: the shell's lines are back, its modes are what they were, the cursor shows.
is_restored() {
  shows "status=$1" && shows 'modes=same' && is_given_back
}
is_given_back() {
  shows 'before top' && hides 'METRIC' &&
    is "$(tm display-message -p '#{alternate_on} #{cursor_flag}')" "0 1"
}
top_pid() { pgrep -P "$(tm display-message -p '#{pane_pid}')" -f 'flowcon top' || { printf 'top does not run\n'; return 1; }; }
begin_top() {
  say_to_shell 'clear; echo before top'
  eventually "the shell is ready" shows '^before top'
  top
  eventually "top shows the containers" shows 'learn1'
}

begin "$@"
at_exit end_tmux
have tmux || nothing_runs "tmux is not installed (scripts/setup)"

job learn1 learn --label flowcon.enable=true
job flat1 flat --label flowcon.enable=true
prints evil1 "while :; do printf 'step 3/7 loss: 0.5 \033[31m\033[2J\r\n'; sleep 0.3; done"
start_flowcond
eventually "a job has converged" container_has flat1 '.list == "CL"'
eventually "the others have values" status_has '[.containers[] | select(.values > 0)] | length == 3'

# --- what it shows ----------------------------------------------------------------------------------

terminal 80 24
begin_top
check "it uses the other screen, without a cursor" is "$(tm display-message -p '#{alternate_on} #{cursor_flag}')" "1 0"
check "with a heading" shows 'NAME +LIST +METRIC +DONE +LIMIT +LEFT +CPU % +TREND'
check "the metric of a job and its trend" shows 'learn1 .*loss [0-9.e+]+ ↓ .*[▁▂▃▄▅▆▇█]+'
check "the list and the limit of the one that has converged" shows 'flat1 +CL .* [0-9.]+% +(--|[0-9.]+ [a-z]+) +[0-9.]+%'
check "the policy on top" shows '  weight  policy flowcon  alpha 3 %  interval '
check "the host's share on top" shows '^CPU \[#* *\] +[0-9.]+%  3 containers: '
check "and the keys below" shows '^q quit  \? help  / filter'
check "nothing is wider or higher than 80x24" fits 80 24
first=$(seen | grep -o 'learn1 .*')
changes() { local now; now=$(seen | grep -o 'learn1 .*') && [ "$now" != "$first" ]; }
eventually "it goes on by itself" changes
check "colors tell lists apart" grep -q $'\033\[36m' <(colored)
for size in "120 40" "200 12" "40 10" "20 5" "10 3" "80 24"; do
  read -r width height <<<"$size"
  must tm resize-window -x "$width" -y "$height"
  eventually "resized to $width by $height it fits" fits "$width" "$height"
  eventually "and shows a container" shows 'learn1|gone|flat1|evil1'
done
must tm resize-window -x 120 -y 40
eventually "a wide terminal has more columns" shows 'I/O +'
must tm resize-window -x 80 -y 24
eventually "and the narrow one has the old ones again" shows 'NAME +LIST +METRIC +DONE +LIMIT +LEFT +CPU % +TREND'

# --- keys -------------------------------------------------------------------------------------------

# In the rows, not in what is said of the selected one below them.
names() { seen | grep -oE '^(learn1|flat1|evil1) ' | tr -d ' ' | paste -sd ' '; }
keys s
is_sorted() { is "$(names)" "$1"; }
eventually "s sorts by name" is_sorted 'evil1 flat1 learn1'
keys r
eventually "r turns it round" is_sorted 'learn1 flat1 evil1'
keys /
keys -l FLAT1
eventually "/ filters while it is typed" is_sorted 'flat1'
keys Enter
keys p
eventually "p pauses control of the selected one" container_has flat1 '.state == "paused"'
eventually "and the row says so" shows 'flat1 +paused'
eventually "with what was done below" shows 'flat1 is paused: original limits restored'
keys p
eventually "p once more resumes it" container_has flat1 '.state == "controlled"'
keys P
eventually "P asks for a share" shows '^pin flat1 to'
keys -l '200%'
keys Enter
eventually "a wrong one is told" shows 'a share such as 50%'
keys BSpace BSpace BSpace BSpace
keys -l '40% 1h'
keys Enter
eventually "a right one pins it" container_has flat1 '.pinned.limit == 0.4 and .pinned.until != null'
eventually "and the row says so" shows 'flat1 +CL pin .* 40% '
keys u
eventually "u unpins it" container_has flat1 '.pinned == null'
keys e
eventually "e shows what was decided, with reasons" shows 'growth .* alpha 3 %'
check "and what is known of it" shows '^image +flowcon-test:1'
keys Escape
eventually "Escape goes back" shows '^q quit'
keys Escape
eventually "and takes the filter away" is_sorted 'learn1 flat1 evil1'
keys '?'
eventually "? shows the keys" shows 'pin it to a share of the host'
keys q
eventually "q leaves the page, not the program" shows '^q quit'
keys Space
eventually "blank freezes it" shows 'FROZEN'
keys Space
eventually "and lets it go on" hides 'FROZEN'

# --- every end gives the terminal back ----------------------------------------------------------------

keys q
eventually "q ends it with 0" is_restored 0
begin_top
keys C-c
eventually "^C ends it with 130" is_restored 130
for signal in TERM HUP INT QUIT; do
  begin_top
  must kill "-$signal" "$(top_pid)"
  eventually "SIG$signal ends it with 128 + its number" is_restored "$((128 + $(kill -l "$signal")))"
done
begin_top
keys C-z
eventually "^Z stops it and gives the terminal to the shell" shows 'Stopped'
check "with its screen" is "$(tm display-message -p '#{alternate_on}')" 0
say_to_shell fg
eventually "fg goes on with it" shows 'METRIC'
must tm resize-window -x 100 -y 20
eventually "also where the terminal was resized" fits 100 20
must tm resize-window -x 80 -y 24
kill_flowcond
eventually "a flowcond that is gone is told, and what was seen stays" shows 'Cannot connect to flowcond'
check "the rows are there still" shows 'learn1'
start_flowcond
eventually "and is found when it is back" hides 'Cannot connect'
keys q
eventually "then the end is as usual" is_given_back
stop_flowcond
say_to_shell 'clear'
top
eventually "without flowcond it does not start, and says why" shows 'Cannot connect to flowcond'
eventually "on the shell's own screen" shows 'status=1'
start_flowcond
eventually "the jobs are there again" status_has '[.containers[] | select(.values > 0)] | length == 3'

# --- other terminals ----------------------------------------------------------------------------------

terminal 80 24 LANG=C
begin_top
only_ascii() { is "$(seen | LC_ALL=C grep -c '[^ -~]')" 0; }
check "without UTF-8 every character is ASCII" only_ascii
check "the arrow and the trend, too" shows "loss [0-9.e+]+ v .*(%|--) [_.'^-]+"
keys q
terminal 80 24 LANG=xx_YY.UTF-8
begin_top
check "a UTF-8 locale that is not installed is UTF-8 all the same" shows '↓'
keys q
terminal 80 24 NO_COLOR=1
begin_top
# 39 is the color that the terminal has without one.
no_color() {
  local codes
  codes=$(colored | grep -oE $'\033\[([0-9]+;)*(3[0-8]|4[0-8]|9[0-7])(;[0-9]+)*m' | cat -v) || return 0
  printf 'seen: %s\n' "$codes"
  return 1
}
check "NO_COLOR has no colors" no_color
check "and marks the selected row all the same" grep -q $'\033\[[0-9;]*7m' <(colored)
keys q
terminal 80 24 TERM=vt100
begin_top
check "a terminal without colors gets none" no_color
keys q
terminal 80 24 TERM=dumb
top
eventually "a terminal that cannot be drawn on is told what to use" shows 'cannot draw on this terminal .TERM=dumb.; use: docker flowcon status --watch'
eventually "with status 1" shows 'status=1'
say_to_shell 'clear'
say_to_shell "'$BIN/docker-flowcon' flowcon top </dev/null; echo \"status=\$?\""
eventually "stdin that is no terminal, too" shows 'top needs a terminal'

# What is sent: after the first screen no line of it clears the screen or the rest of it.
cat >"$WORK/flicker.py" <<'PY'
import fcntl, os, pty, re, select, struct, sys, termios, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm-256color", LANG="C.UTF-8")
    os.execv(sys.argv[1], [sys.argv[1], "flowcon", "--socket", sys.argv[2], "top", "--interval", "0.2"])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
out, start, asked = b"", time.monotonic(), False
while True:
    ready, _, _ = select.select([fd], [], [], 0.1)
    if ready:
        try:
            got = os.read(fd, 65536)
        except OSError:
            break
        if not got:
            break
        out += got
    if time.monotonic() - start > 4 and not asked:
        os.write(fd, b"q")
        asked = True
    if time.monotonic() - start > 20:
        os.kill(pid, 9)
        break
drawn = out[out.rfind(b"\x1b[2J") + 4:] if b"\x1b[2J" in out else out
# A resize at the start may draw all of it once more.
print(len(re.findall(rb"\x1b\[2?J", drawn)) <= 1, out.count(b"\x1b[2J") <= 3, len(out) < 40000,
      b"\x1b[?1049h" in out, out.rstrip().endswith(b"\x1b>") or b"\x1b[?1049l" in out, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
check "twenty looks clear nothing and send little" is \
  "$(python3 "$WORK/flicker.py" "$BIN/docker-flowcon" "$SOCKET")" "True True True True True 0"

# --- another policy -----------------------------------------------------------------------------------

stop_flowcond
start_flowcond --policy milestone
eventually "by another policy the jobs have ranks" status_has '[.containers[] | select(.reason | startswith("milestone: "))] | length == 3'
terminal 80 24
begin_top
check "the heading names the policy" shows '^[^ ]+  [0-9:]+  weight  policy milestone'
check "and not the numbers of another one" hides 'alpha|interval'
eventually "the rows have limits" shows 'learn1 +loss .*% +[0-9.]+%'
check "the one below says why" shows '^(learn1|flat1|evil1): milestone: [1-3] of 3, '
keys '?'
eventually "? says what the lists mean by it" shows 'NL: before its usable model'
keys q
eventually "and goes back" shows '^q quit'
keys q

end_tmux
stop_flowcond
check "flowcond had no fault of its own" flowcond_is_calm
finish
