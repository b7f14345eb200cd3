#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The package's whole life on a Debian with systemd, cgroup v2 and Docker: installed, the service under its own
# hardening, upgraded while containers run, removed, installed again, removed after flowcond was killed, purged; and
# which files are left. Runs inside a test VM: tests/vm/run, which hands it the .deb of scripts/package and debian/tests.
# usage: package.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

OLDER=0.0.9

# --- what is on the disk --------------------------------------------------------------------------------

# Of folders that change by themselves nothing is looked at; of /etc the content, too. Left out by name: backups that
# tools for users leave, and locks.
ON_THE_MOVE=(/proc /sys /dev /run /tmp /var/tmp /flowcon /opt/images /var/log /var/cache /var/lib/docker /var/lib/containerd
  /var/lib/dpkg /var/lib/flowcon-vm /root/.docker /var/lib/systemd/timers /lost+found)
files() {
  local folder without=()
  for folder in "${ON_THE_MOVE[@]}"; do without+=(-path "$folder" -o); done
  find / -xdev \( "${without[@]}" -false \) -prune -o -printf '%y %m %U:%G %p %l\n' |
    grep -vE ' /etc/(passwd|group|shadow|gshadow|subuid|subgid)- | /etc/\.pwd\.lock | /usr/lib/\.build-id' | sort
  find /etc -xdev -type f ! -name '*-' ! -name .pwd.lock -exec sha256sum {} + | sort -k 2
}
differs() { diff "$WORK/files-before" "$WORK/files-$1" | grep '^[<>]' || :; }

# --- the package ----------------------------------------------------------------------------------------

install_deb() { DEBIAN_FRONTEND=noninteractive must dpkg -i "$1"; }
version_of() { dpkg-query -W -f '${db:Status-Abbrev} ${Version}' docker-flowcon 2>/dev/null || printf absent; }
status_of() { version_of | cut -c 1-2; }

# The same with a lower version: what a host has before an upgrade.
make_older() {
  dpkg-deb -R "$1" "$WORK/older"
  sed -i "s/^Version: .*/Version: $OLDER/" "$WORK/older/DEBIAN/control"
  must dpkg-deb -Znone -b "$WORK/older" "$WORK/older.deb"
  rm -r "$WORK/older"
}

settings() { local name; for name in flat1 learn1 capped; do printf '%s: %s\n' "$name" "$(setting "$name")"; done; }
settings_are() { is "$(settings)" "$1"; }
runs() { is "$(docker inspect -f '{{.State.Running}}' flat1 learn1 capped | sort -u)" true; }
is_active() { is "$(systemctl is-active "$1" || :)" "$2"; }
socket_is() { is "$(stat -c '%a %U:%G' "$1")" "$2"; }
exposure() { systemd-analyze security --no-pager flowcond.service | sed -n 's/.*exposure level for flowcond.service: \([0-9.]*\).*/\1/p'; }
at_most() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a != "" && a <= b)}' || { printf '%s is more than %s\n' "$1" "$2"; return 1; }; }
# Both that do not learn are where they stay: what is another limit later is a mistake.
limits_hold() { status_has '[.containers[] | select(.list == "CL" and .limit < 1)] | length == 2' && weights_as_computed; }
quick() { mkdir -p /etc/flowcon/flowcon.conf.d && printf '%s\n' 'policy = flowcon' 'interval = 1' 'observe = 1' >/etc/flowcon/flowcon.conf.d/quick.conf; }
# Not through a pipe, which the finder would break.
has_messages() { local all; all=$(journalctl -q -b -x -u flowcond --no-pager) && case $all in *"$1"*) ;; *) return 1 ;; esac; }

# callers FILE: asks for the version again and again until the file is gone, and counts those that could not connect
# (curl's 7); one whose call was under way when flowcond stopped may lose its answer.
callers() {
  local refused=0 asked=0 status
  while [ -e "$1" ]; do
    asked=$((asked + 1)) status=0
    curl -sS --max-time 60 --unix-socket "$SOCKET" http://flowcon/v1/version >/dev/null 2>&1 || status=$?
    [ "$status" != 7 ] || refused=$((refused + 1))
    pause 0.2
  done
  printf '%s refused\n' "$refused" >"$WORK/callers"
  printf '# %s calls during the upgrade\n' "$asked" >"$WORK/calls"
}

# watch_limits FILE: notes what differs from what was written, until the file is gone.
watch_limits() {
  local name now
  local -A file=() wanted=()
  for name in flat1 learn1 capped; do
    file[$name]=$(cpu_folder "$name")/cpu.weight
    wanted[$name]=$(<"${file[$name]}")
  done
  while [ -e "$1" ]; do
    for name in flat1 learn1 capped; do
      now=$(<"${file[$name]}")
      [ "$now" = "${wanted[$name]}" ] || printf '%s: %s for %s\n' "$name" "$now" "${wanted[$name]}"
    done
    pause 0.1
  done | sort | uniq -c >"$WORK/changes"
}

export FLOWCON_TEST_ENGINE=machine
begin "$@"
SOCKET=/run/flowcon/flowcon.sock
STATE=/var/lib/flowcon
deb=$(echo "$VM_FILES"/docker-flowcon_*.deb)
must dpkg-deb --info "$deb"
new=$(dpkg-deb -f "$deb" Version)
make_older "$deb"
job flat1 flat --label flowcon.enable=true --cpu-shares 2048
job learn1 learn --label flowcon.enable=true --cpus 1
job capped flat --label flowcon.enable=true --cpus 0.2
know flat1 learn1 capped
ORIGINAL[flat1]=$(weight flat1)
originals=$(settings)
files >"$WORK/files-before"

# --- installed ------------------------------------------------------------------------------------------

install_deb "$WORK/older.deb"
check "after the installation the service runs" is_active flowcond.service active
check "and will after a boot" is "$(systemctl is-enabled flowcond.service flowcond.socket flowcond-peer.socket | sort -u)" enabled
check "its socket is the engine's group's" socket_is "$SOCKET" "660 root:docker"
check "and that of peers theirs" socket_is /run/flowcon/peer.sock "660 root:flowcon-peer"
check "the package's own test of the service passes" "$VM_FILES/service"
check "and that of a first container" "$VM_FILES/first-container"
check "doctor finds groups, pressure and systemd under the service's own limits" \
  is "$(docker flowcon doctor --format json | jq -r '[.abilities[] | select(.name == ("cpu", "memory", "systemd", "root", "host", "engine", "socket", "flowcond")) | select(.found | not) | "\(.name): \(.detail)"] | join("; ")')" ""
check "systemd sees at most 2.5 open" at_most "$(exposure)" 2.5
check "the watchdog is on" is "$(systemctl show -P WatchdogUSec flowcond.service)" 30s
check "no warning is in its journal" is "$(service_complaints)" ""
check "no test can hold it up" not grep -qaF FLOWCON_FAILPOINTS /usr/sbin/flowcond

# What the service needs its grants for.
# shellcheck disable=SC2016 # for the container's shell
must docker run -d --name inside --user 1234:1234 --network none --tmpfs /out:mode=1777 --label flowcon.log=/out/train.log \
  "$IMAGE" sh -c 'umask 077; n=1; while :; do echo "epoch $n/1000 loss: $((100000 / n))" >>/out/train.log; n=$((n + 1)); sleep 0.2; done'
eventually "a log inside a container, another user's, is read" container_has inside '.metric != null and .values > 1'
must docker rm -f -v inside

quick
systemctl reload flowcond.service
reload_told() { has_messages "configuration reloaded: policy = flowcon, interval = 1, observe = 1"; }
eventually "a drop-in is read on reload" reload_told
eventually "containers with the label are limited" limits_hold

# One option of it is right.
conf=/etc/flowcon/flowcon.conf
cp -p "$conf" "$WORK/flowcon.conf"
printf '%s\n' 'interval-max = 400' 'interval = soon' | cat - "$WORK/flowcon.conf" >"$conf"
pid=$(systemctl show -P MainPID flowcond.service)
has_options() { status_has ".policy == \"flowcon\" and .interval == 1 and .interval_max == $1"; }
check "a broken file makes the reload fail" not systemctl reload flowcond.service
eventually "the journal says what is wrong with it" has_messages "$conf:2: interval: \"soon\" is not a number"
check "flowcond goes on with the options that it had" has_options 320
check "as the same process" is "$(systemctl show -P MainPID flowcond.service)" "$pid"
eventually "and limits as before" limits_hold
sed -i 2d "$conf"
check "with the mistake gone it reloads" systemctl reload flowcond.service
eventually "and takes the option" has_options 400
cp -p "$WORK/flowcon.conf" "$conf"
must systemctl reload flowcond.service
eventually "and the default again" has_options 320
written=$(settings)
check "that differs from their own limits" not settings_are "$originals"
eventually "journalctl -x explains a limit" has_messages "The limit of a container is now"
check "and what a person changed" has_messages "A user changed an override"

# --- upgraded -------------------------------------------------------------------------------------------

old=$(systemctl show -P MainPID flowcond.service)
decided_again() { api GET /v1/status | jq -e '[.containers[] | select(.list == "CL")] | length == 2' && has_messages ' to the next flowcond'; }
inode=$(stat -c %i "$SOCKET")
: >"$WORK/calling"
callers "$WORK/calling" &
caller=$!
watch_limits "$WORK/calling" &
watcher=$!
install_deb "$deb"
check "the newer version is installed" is "$(version_of)" "ii  $new"
eventually "the same containers are under control" controlled '["capped","flat1","learn1"]'
eventually "and are decided about again" decided_again
must await_decisions flat1 2
rm "$WORK/calling"
wait "$caller" "$watcher"
check "no limit was another one for a moment" is "$(cat "$WORK/changes")" ""
check "and all are as before" settings_are "$written"
say "$(cat "$WORK/calls")"
check "no caller was refused meanwhile" is "$(cat "$WORK/callers")" "0 refused"
check "since the socket stayed" is "$(stat -c %i "$SOCKET")" "$inode"
check "flowcond was started anew, once" is "$(systemctl show -P NRestarts -P ActiveState flowcond.service | tr '\n' ' ')" "0 active "
check "and is another process" not is "$(systemctl show -P MainPID flowcond.service)" "$old"
check "the originals are the true ones" is "$(saved_originals)" "capped flat1 learn1"
check "the containers ran through it" runs

# --- upgraded amid a mistake ----------------------------------------------------------------------------

printf 'interval = soon\n' >/etc/flowcon/flowcon.conf.d/wrong.conf
install_deb "$deb"
eventually "where the newer flowcond cannot start the older one restores every setting" settings_are "$originals"
starts() { journalctl --sync && journalctl -q -b -u flowcond -o cat --no-pager | grep -c '^Starting '; }
before=$(starts)
check "a caller is told that it does not run" not timeout 60 docker flowcon status
has_failed() { is "$(systemctl is-active flowcond.service)" failed; }
eventually "it has failed, and systemd waits for nothing more" has_failed
check "and does not start it again and again" at_most "$(($(starts) - before))" 2
check "systemd does not start it again either" is "$(systemctl show -P NRestarts flowcond.service)" 0
check "its sockets still listen" is "$(systemctl is-active flowcond.socket flowcond-peer.socket | sort -u)" active
rm /etc/flowcon/flowcon.conf.d/wrong.conf
must systemctl reset-failed flowcond.service
must systemctl start flowcond.service
eventually "with the mistake gone it limits again" limits_hold
check "through the same socket" is "$(stat -c %i "$SOCKET")" "$inode"
check "and callers are answered" docker flowcon status

# --- removed, installed again ---------------------------------------------------------------------------

link=/etc/ssh/sshd_config.d/docker-flowcon.conf
[ -d "${link%/*}" ] || { mkdir "${link%/*}" && made=${link%/*}; }
ln -s /usr/share/docker-flowcon/sshd.conf "$link"
must dpkg -r docker-flowcon
check "removal restores every setting exactly" settings_are "$originals"
check "and leaves sshd no link that leads nowhere" not test -L "$link"
[ -z "${made-}" ] || rmdir "$made"
check "and ends the service" is_active flowcond.service inactive
check "and its sockets" is "$(systemctl is-active flowcond.socket flowcond-peer.socket | sort -u)" inactive
check "docker has no such command any more" not holds "$(docker flowcon version 2>&1)" docker-flowcon
check "the containers run" runs
check "configuration and state are kept" test -e /etc/flowcon/flowcon.conf.d/quick.conf -a -e "$STATE/flowcon.db"
install_deb "$deb"
eventually "installed again, it limits again" limits_hold
check "and knows what was recorded" records_have flat1 '.decisions | length > 2'

# --- removed after a crash ------------------------------------------------------------------------------

mkdir -p /run/systemd/system/flowcond.service.d
printf '[Service]\nRestart=no\n' >/run/systemd/system/flowcond.service.d/once.conf
must systemctl daemon-reload
eventually "limits hold through the reload" limits_hold
must systemctl kill -s KILL flowcond.service
eventually "a killed flowcond is not started again here" is_active flowcond.service failed
check "and has left limits" not settings_are "$originals"
# As where containers or images are built: maintainer scripts are to start and stop nothing.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
must dpkg -r docker-flowcon
rm /usr/sbin/policy-rc.d
check "removal then restores them all the same, whatever policy-rc.d says" settings_are "$originals"
check "and ends service and sockets" \
  is "$(systemctl is-active flowcond.service flowcond.socket flowcond-peer.socket | sort -u)" inactive
rm -r /run/systemd/system/flowcond.service.d

# --- peers ----------------------------------------------------------------------------------------------

# ssh is run by the service: nothing listens at that port, which ssh must be able to find out.
install_deb "$deb"
printf 'peer = 127.0.0.1:9\n' >/etc/flowcon/flowcon.conf.d/peer.conf
must systemctl restart flowcond.service
peer_error() { api GET /v1/peers | jq -r '.peers[0].error'; }
check "without its drop-in a service with peers says what is missing" \
  status_has '.warnings | any(test("the service has no network"))'
mkdir -p /etc/systemd/system/flowcond.service.d
ln -s /usr/share/docker-flowcon/peers.conf /etc/systemd/system/flowcond.service.d/
must systemctl daemon-reload
must systemctl restart flowcond.service
check "with it there is no such warning" status_has '.warnings | any(test("the service has no network")) | not'
key_is_missing() { holds "$(peer_error)" "this host has no key yet"; }
connection_refused() { holds "$(peer_error)" "takes no ssh connections"; }
must ssh-keygen -q -t ed25519 -N '' -f "$WORK/key"
mkdir -p "$STATE/ssh"
install -m 600 "$WORK/key" "$STATE/ssh/id_ed25519"
eventually "and ssh gets through to the network" connection_refused
say "# exposure with peers: $(exposure)"

# tar in the service's own sandbox, as it unpacks a volume and a writable layer of another host.
mkdir -p "$WORK/layer" /var/lib/docker/flowcon-probe
touch "$WORK/layer/setuid" "$WORK/layer/other"
chown 1234:1234 "$WORK/layer/other"
chmod 600 "$WORK/layer/other"
chmod 4755 "$WORK/layer/setuid"
mkdir "$WORK/layer/opaque"
python3 -c 'import os, sys; os.setxattr(sys.argv[1], "trusted.overlay.opaque", b"y")' "$WORK/layer/opaque"
must tar --xattrs --xattrs-include='*' -C "$WORK/layer" -cf /var/lib/flowcon/probe.tar .
# in_sandbox WORD...: with all settings of flowcond.service.
in_sandbox() {
  sed -e '/^ExecStart=/d; /^Type=/d; /^Sockets=/d; /^WatchdogSec=/d; /^NotifyAccess=/d; /^ExecReload=/d; /^Restart/d; /^RuntimeDirectory/d; /^\[Install\]/,$d' \
    "$(systemctl show -P FragmentPath flowcond.service)" >/run/systemd/system/flowcon-probe.service
  printf 'Type=oneshot\nExecStart=%s\n' "$*" >>/run/systemd/system/flowcon-probe.service
  mkdir -p /run/systemd/system/flowcon-probe.service.d
  cp /usr/share/docker-flowcon/peers.conf /run/systemd/system/flowcon-probe.service.d/
  systemctl daemon-reload
  systemctl start flowcon-probe.service || { journalctl -q -u flowcon-probe -n 5 -o cat --no-pager; return 1; }
}
check "tar unpacks in the service's sandbox" in_sandbox /usr/bin/tar --extract --file=/var/lib/flowcon/probe.tar --numeric-owner \
  --same-owner --same-permissions --acls --xattrs --xattrs-include=user.* --xattrs-include=security.capability \
  --xattrs-include=trusted.overlay.opaque --directory=/var/lib/docker/flowcon-probe
check "owners and modes are kept" is "$(cd /var/lib/docker/flowcon-probe && stat -c '%n %a %u:%g' setuid other)" "setuid 4755 0:0
other 600 1234:1234"
opaque() { python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "trusted.overlay.opaque").decode())' "$1"; }
check "and so are the overlay's attributes" is "$(opaque /var/lib/docker/flowcon-probe/opaque)" y
check "find empties it there" in_sandbox /usr/bin/find /var/lib/docker/flowcon-probe -xdev -mindepth 1 -delete
rm -rf /var/lib/docker/flowcon-probe /run/systemd/system/flowcon-probe.service /run/systemd/system/flowcon-probe.service.d

# --- purged ---------------------------------------------------------------------------------------------

must dpkg -P docker-flowcon
systemctl daemon-reload
check "purging restores every setting" settings_are "$originals"
check "and leaves no user and no group" is "$(getent passwd flowcon-peer; getent group flowcon-peer)" ""
check "nothing of the package is known to dpkg" is "$(version_of)" absent
files >"$WORK/files-purged"
check "and no file is left or changed" is "$(differs purged)" ""
check "nor anything in /run" is "$(ls -d /run/flowcon 2>/dev/null)" ""
check "the containers ran through all of it" runs

finish
