# SPDX-License-Identifier: Apache-2.0
# fish completion for `docker flowcon`, flowcond and flowcon-sim. It adds to what completes docker, so it is
# read at the start of a shell: install it in vendor_conf.d. The plugin knows what may stand behind flowcon.
# What `docker completion fish` prints takes the place of this, and asks the plugin, too.

# The words behind `flowcon`, one a line; fails where that word is not there.
function __flowcon_words
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]; and string match -q -- '-*' $words[1]
        if contains -- $words[1] -H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey
            set -e words[1]
        end
        set -e words[1]
    end
    test "$words[1]" = flowcon; or return 1
    set -e words[1]
    set -q words[1]; and printf '%s\n' $words
    return 0
end

# The value of one of docker's own options before the word flowcon.
function __flowcon_global
    set -l words (commandline -opc)
    for at in (seq 2 (count $words))
        test "$words[$at]" = flowcon; and return
        if contains -- $words[$at] $argv
            echo -- $words[(math $at + 1)]
        end
        # "--host=ssh://gpu2", "-Hssh://gpu2".
        for name in $argv
            string match -q -- "--*" $name; and set name $name=
            string match -q -- "$name*" $words[$at]; and test "$words[$at]" != "$name"; or continue
            string replace -- $name '' $words[$at] | string replace -r '^=' ''
        end
    end
end

function __flowcon_plugin
    set -l config $HOME/.docker
    set -q DOCKER_CONFIG; and set config $DOCKER_CONFIG
    for folder in $config/cli-plugins /usr/local/lib/docker/cli-plugins \
        /usr/local/libexec/docker/cli-plugins /usr/lib/docker/cli-plugins /usr/libexec/docker/cli-plugins
        if test -x $folder/docker-flowcon
            echo $folder/docker-flowcon
            return
        end
    end
    return 1
end

function __flowcon_complete
    set -l config (__flowcon_global --config)
    test -n "$config"; and set -lx DOCKER_CONFIG $config
    set -l plugin (__flowcon_plugin); or return
    set -l host (__flowcon_global -H --host)
    set -l context (__flowcon_global -c --context)
    test -n "$host"; and set -lx DOCKER_HOST $host
    test -n "$context"; and set -lx DOCKER_CONTEXT $context
    set -l typed (commandline -ct)
    # fish replaces the whole word, docker's protocol completes the value alone.
    set -l prefix (string match -r -- '^--[^=]*=' $typed)
    set -l lines ($plugin __complete flowcon (__flowcon_words) "$typed" 2>/dev/null)
    for line in $lines[1..-2]
        printf '%s%s\n' "$prefix" $line
    end
    if test "$lines[-1]" = :0
        __fish_complete_path (string replace -- "$prefix" '' $typed)
    end
end

complete -c docker -n '__flowcon_words >/dev/null' -f -k -a '(__flowcon_complete)'

function __flowcon_daemon_options
    for line in (flowcond --help 2>/dev/null)
        string match -rq -- '^ +(?:-h,)?--(?<name>[a-z][a-z.-]*)(?: (?<value>[^ ]+))?' $line; or continue
        printf '%s\t%s\n' --$name "$value"
    end
end

function __flowcon_daemon_values
    set -l before (commandline -opc)
    set -l typed (commandline -ct)
    set -l option $before[-1]
    set -l prefix (string match -r -- '^--[^=]*=' $typed)
    test -n "$prefix"; and set option (string sub -e -1 -- $prefix)
    set -l value
    for line in (__flowcon_daemon_options)
        set -l parts (string split \t -- $line)
        test "$parts[1]" = "$option"; and set value $parts[2]
    end
    switch "$value"
        case '*|*'
            for word in (string split '|' -- $value)
                echo -- "$prefix$word"
            end
        case PATH FILE FOLDERS
            __fish_complete_path (string replace -- "$prefix" '' $typed)
        case GROUP
            __fish_complete_groups
        case ''
            __flowcon_daemon_options
    end
end

complete -c flowcond -f -a '(__flowcon_daemon_values)'

# The first words of the lines below the heading that the first argument is, in the help that the rest prints,
# and what is said of them.
function __flowcon_listed
    set -l inside no
    for line in ($argv[2..-1] --help 2>/dev/null)
        switch $line
            case "$argv[1]*"
                set inside yes
            case ''
                set inside no
            case '*'
                test $inside = yes; and string replace -r '^ *(\S+) +' '$1\t' -- $line
        end
    end
end

function __flowcon_sim_values
    set -l before (commandline -opc)
    set -l typed (commandline -ct)
    switch "$before[-1]"
        case --policy
            __flowcon_listed Policies flowcon-sim $before[2]
        case --format
            printf '%s\n' table csv json
        case --start
            printf '%s\n' balanced random least
        case --counters
            printf '%s\n' all none
        case --report --curves --trace
            __fish_complete_path $typed
        case '*'
            if test (count $before) = 2; and not string match -q -- '-*' $typed
                __flowcon_listed Algorithms: flowcon-sim $before[2]
                __flowcon_listed Schedules flowcon-sim $before[2]
                test "$before[2]" = decide; or __fish_complete_path $typed
            else
                for line in (flowcon-sim $before[2] --help 2>/dev/null)
                    string match -rq -- '^ +(?:-h, )?(?<name>--[a-z][a-z-]*)(?: \S+)? +(?<words>.*)' $line; or continue
                    printf '%s\t%s\n' $name "$words"
                end
            end
    end
end

complete -c flowcon-sim -f -n __fish_is_first_token -a '(__flowcon_listed Commands: flowcon-sim) --help --version'
complete -c flowcon-sim -f -n 'not __fish_is_first_token' -a '(__flowcon_sim_values)'
