#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Hosts that know each other over real ssh: added from both sides, parted, killed, their keys changed
# and stolen.
# usage: peers.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_lab 3 --cores 1

fingerprint() { on "$1" ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub | cut -d' ' -f2; }
peer() { local host=$1; shift; on "$host" docker flowcon peer "$@"; }
# peer_is HOST PEER EXPRESSION: jq's answer about what HOST knows of PEER.
peer_is() {
  local seen
  seen=$(peer "$1" ls --format json | jq -c --arg n "$2" 'select(.Name == $n)')
  [ -n "$seen" ] && jq -e "$3" <<<"$seen" >/dev/null && return 0
  printf '%s\n' "$seen"
  return 1
}
holds_of_ls() { holds "$(peer "$1" ls 2>&1)" "$2"; }
reaches_peer() { peer_is "$1" "$2" '.State == "reachable" and .Error == ""'; }
is_unknown() { peer_is "$1" "$2" '.State == "unknown"'; }
says() { peer_is "$1" "$2" ".Error | contains(\"$3\")"; }
soon() { local sentence=$1; shift; PATIENCE=75 eventually "$sentence" "$@"; }
start() { host_flowcond "$1" --peer-heartbeat 1 --categorise-interval 2 --config /etc/flowcon/flowcon.conf; }
kill_flowcond() { must on "$1" sh -c 'kill -9 $(cat /run/flowcond.pid); while kill -0 $(cat /run/flowcond.pid) 2>/dev/null; do sleep 0.1; done'; }

for host in h1 h2 h3; do
  must on "$host" sh -c 'mkdir -p /etc/flowcon; touch /etc/flowcon/flowcon.conf'
  start "$host"
done

# --- adding ---------------------------------------------------------------------------------------

check "a peer socket is there from the start" on h1 test -S /run/flowcon/peer.sock
check "without the system user add says what to do" fails_with 1 "--create-user" peer h1 add h2 --fingerprint "$(fingerprint h2)"
check "nobody can be asked: add wants a fingerprint" fails_with 1 "give --fingerprint" peer h1 add h2 --create-user
check "another fingerprint is refused" fails_with 1 "it is another host" peer h1 add h2 --fingerprint "$(fingerprint h3)"
check "and no host key is believed" not on h1 test -s /var/lib/flowcon/ssh/known_hosts
check "what is no host is wrong usage" fails_with 125 "cannot be a host" peer h1 add '$(id)'
check "among others too" fails_with 125 "cannot be a host" peer h1 add h2 '$(id)'
check "an option is no host" fails_with 125 "" peer h1 add -- -oProxyCommand=id
check "a host that nobody knows" fails_with 1 "got no host key from" peer h1 add h99 --fingerprint SHA256:x
check "add sets up both sides and waits until the peer is reached" is "$(peer h1 add h2 --create-user --fingerprint "$(fingerprint h2)" 2>"$WORK/steps" | tail -n 1)" h2
check "each step is said" holds "$(cat "$WORK/steps")" "h2: authorised the key of h1"
soon "the other side reaches it too" reaches_peer h2 h1
check "add again changes nothing" is "$(peer h1 add h2 2>&1)" h2
# h1 may log in on h3, but on h2 no more: it cannot introduce the two.
must on h2 mv /root/.ssh/authorized_keys /root/.ssh/away
check "one that knows another host cannot be told without a login, which is said" holds "$(peer h1 add h3 --create-user --fingerprint "$(fingerprint h3)" 2>&1 || :)" "peer add h2 h3"
must on h2 mv /root/.ssh/away /root/.ssh/authorized_keys
soon "ls warns who does not know whom" holds_of_ls h1 "h2 and h3 do not know each other"
check "several at once: one that is not there is said with its command" fails_with 1 "docker flowcon peer add h99" peer h1 add h2 h99 h3
check "and stops none of the others" is "$(peer h1 add h99 h3 h2 2>"$WORK/steps" | paste -sd' ')" "h3 h2"
check "nor is it forgotten at the end" holds "$(cat "$WORK/steps")" "not connected: h99"
for pair in 'h1 h2' 'h1 h3' 'h2 h1' 'h2 h3' 'h3 h1' 'h3 h2'; do
  # shellcheck disable=SC2086 # two words
  soon "reachable: $pair" reaches_peer $pair
done
knows_all() { not holds_of_ls "$1" "know each other" >/dev/null; }
soon "and ls warns no more" knows_all h1
check "a host is not its own peer" fails_with 1 "this host itself" peer h1 add h1 --fingerprint "$(fingerprint h1)"
other_name=$(on h1 getent hosts h2 | cut -d' ' -f1)
check "the same host under another name is not used" fails_with 1 "same host as h2" peer h1 add "$other_name" --fingerprint "$(fingerprint h2)"
must peer h1 rm "$other_name"
check "the table has a row for each" holds "$(peer h1 ls)" "PC/WC/CC"
soon "and the first name still works" reaches_peer h1 h2

# --- state ----------------------------------------------------------------------------------------

must on h2 docker flowcon run -d --name flat --network none "$IMAGE_SMALL" sh -c 'while :; do echo "loss: 0.5"; sleep 0.2; done'
soon "a container of one host is in the others' scores" peer_is h1 h2 '.Containers == 1'
must on h2 docker rm -f flat
soon "and leaves them" peer_is h1 h2 '.Containers == 0'
check "a peer can be drained" is "$(peer h1 drain h2)" h2
soon "all others see it" peer_is h3 h2 '.Draining'
must peer h2 undrain h2
soon "and it can undo that itself" peer_is h3 h2 '.Draining | not'
check "nobody else can be drained" fails_with 1 "there is no peer h9" peer h1 drain h9

# --- faults ---------------------------------------------------------------------------------------

must "$LAB" partition h1 --from h2
soon "a peer behind a cut is unknown" is_unknown h1 h2
check "which says what to look at" says h1 h2 "switched on"
check "from the other side too" wait_until 20 is_unknown h2 h1
check "a third host still knows both" wait_until 20 reaches_peer h3 h1
must "$LAB" heal
soon "it heals by itself" reaches_peer h1 h2
soon "in both directions" reaches_peer h2 h1

kill_flowcond h2
soon "a peer without flowcond is unknown" is_unknown h1 h2
soon "which says so" says h1 h2 "flowcond does not run on h2"
start h2
soon "and comes back with its peers" reaches_peer h1 h2
soon "which it has kept" reaches_peer h2 h3
ssh_of() { is "$(on "$1" sh -c 'pgrep -cx ssh')" "$2"; }
for host in h1 h2 h3; do soon "$host has one ssh a peer, none is left over" ssh_of "$host" 2; done

new_host_key() {
  on h3 sh -c 'kill $(cat /run/sshd.pid); pkill -x sshd; pkill -x sshd-session; while pgrep -x sshd >/dev/null; do sleep 0.05; done
    cd /etc/ssh; '"$1"'; /usr/sbin/sshd'
}
must new_host_key 'cp ssh_host_ed25519_key /root/old; ssh-keygen -q -t ed25519 -N "" -f /root/new; cp /root/new ssh_host_ed25519_key; cp ssh_host_ed25519_key.pub /root/old.pub; cp /root/new.pub ssh_host_ed25519_key.pub'
soon "a changed host key is refused, in words" says h1 h3 "host key of h3 has changed"
soon "and the peer unknown" is_unknown h1 h3
check "add does not believe it either" fails_with 1 "has changed" peer h1 add h3
soon "by the others too" says h2 h3 "host key of h3 has changed"
must peer h1 add h3 --fingerprint "$(fingerprint h3)"
soon "where an admin confirms the new one it is reached again" reaches_peer h1 h3
soon "and by the others, which were told" reaches_peer h2 h3
must new_host_key 'cp /root/old ssh_host_ed25519_key; cp /root/old.pub ssh_host_ed25519_key.pub'
must peer h1 add h3 --fingerprint "$(fingerprint h3)"
soon "and back" reaches_peer h2 h3

# --- another id ---------------------------------------------------------------------------------------

# h2 does not hear of it.
kill_flowcond h2
kill_flowcond h3
must on h3 sh -c 'cd /var/lib/flowcon; mkdir /root/state; mv flowcon.db* journal.db* /root/state/'
start h3
soon "a host whose state is gone knows its peers no more" says h1 h3 "has no peer h1"
must peer h1 add h3
soon "added once more it is reached, by its new id" reaches_peer h1 h3
kill_flowcond h3
must on h3 sh -c 'cd /var/lib/flowcon; rm flowcon.db* journal.db*; mv /root/state/* .'
start h3
soon "a host that says another id than before is refused, in words" says h1 h3 "another id than before"
check "and unknown" is_unknown h1 h3
start h2
soon "for who has known it by that id it is what it was" reaches_peer h2 h3
must peer h1 add h3
soon "added again it is reached by that id" reaches_peer h1 h3
must peer h1 rm h3
must peer h1 add h3 --fingerprint "$(fingerprint h3)"
soon "removed and added it is reached again" reaches_peer h1 h3
soon "from the other side too" reaches_peer h3 h1

# --- a stolen key -----------------------------------------------------------------------------------

must on h3 cp /var/lib/flowcon/ssh/id_ed25519 /root/stolen
# thief OPTIONS...: ssh with the stolen key; HTTP's end comes at once.
thief() { on h3 timeout 20 ssh -i /root/stolen -o IdentitiesOnly=yes -o BatchMode=yes "$@" </dev/null 2>&1; }
thief_asks() { printf '%s\r\nHost: x\r\nConnection: close\r\n%s\r\n\r\n' "$1" "${2:-}" | on h3 timeout 20 ssh -i /root/stolen -o IdentitiesOnly=yes -o BatchMode=yes flowcon-peer@h2 2>&1; }
check "a stolen key says hello" holds "$(thief_asks 'GET /v1/peer/hello HTTP/1.1')" '"protocol"'
check "it runs no command" not holds "$(thief flowcon-peer@h2 id)" uid=
check "it gets no terminal" holds "$(thief -tt flowcon-peer@h2)" "PTY allocation request failed"
check "it forwards no port" not holds "$(thief -W 127.0.0.1:22 flowcon-peer@h2)" OpenSSH
check "it forwards no socket" not holds "$(thief -o ExitOnForwardFailure=yes -R 7777:127.0.0.1:22 flowcon-peer@h2 id)" uid=
on h3 sh -c 'echo x >/root/file; timeout 20 scp -i /root/stolen -o IdentitiesOnly=yes -o BatchMode=yes /root/file flowcon-peer@h2:/tmp/file; timeout 20 scp -O -i /root/stolen -o IdentitiesOnly=yes -o BatchMode=yes /root/file flowcon-peer@h2:/tmp/file' </dev/null >/dev/null 2>&1 || :
check "it copies no file" not on h2 test -e /tmp/file
for path in /v1/status /v1/peers /v1/containers/x/history /_ping; do
  check "it reads nothing at $path" holds "$(thief_asks "GET $path HTTP/1.1")" "404 Not Found"
done
check "it adds no peer" holds "$(thief_asks 'POST /v1/peers HTTP/1.1')" "404 Not Found"
check "it is not root there" not thief root@h2 true
check "and the user may not use the API's socket" not on h2 su flowcon-peer -c 'curl -sf --unix-socket /run/flowcon/flowcon.sock http://x/v1/status'
check "nor change who is let in" not on h2 su flowcon-peer -c 'echo x >>~/.ssh/authorized_keys'

# --- removing ---------------------------------------------------------------------------------------

check "rm takes a peer away" is "$(peer h2 rm h3 2>/dev/null)" h3
check "and its key" not on h2 grep -q 'flowcon-peer h3' /var/lib/flowcon/peer/.ssh/authorized_keys
check "which opens nothing any more" holds "$(thief flowcon-peer@h2)" "Permission denied"
soon "the other side is told why" says h3 h2 "does not accept this host"
check "the others are untouched" wait_until 20 reaches_peer h2 h1
check "a second rm says that there is none" fails_with 1 "no peer h3" peer h2 rm h3
must on h2 sh -c 'echo "peer = h3" >>/etc/flowcon/flowcon.conf'
kill_flowcond h2
start h2
soon "a peer of the configuration file is one without a command, and its key unknown" says h2 h3 "host key of h3 is not known"

finish_lab
