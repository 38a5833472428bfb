#!/bin/sh
# Replaces the installed guard. Records each call, and fails as set in ~/guard-mode.
home=/home/dev
call=$home/calls/$(date +%s%N)-$$
printf '%s\n' "$*" >"$call.arguments"
case $(cat $home/guard-mode) in
exit-1) exit 1 ;;
exit-101)
    echo "thread 'main' panicked" >&2
    exit 101
    ;;
killed) kill -KILL $$ ;;
# Longer than the client's timeout, but not forever: Gemini CLI waits for the end and then runs the tool.
late) exec sleep "$(cat $home/late-seconds)" ;;
cut-short)
    printf '{"hookSpecificOutput":'
    kill -KILL $$
    ;;
garbage)
    echo '{"hookSpecificOutput":'
    exit 0
    ;;
output-full) exec $home/guard/hooks-guard "$@" >/dev/full ;;
esac
cat >"$call.input"
$home/guard/hooks-guard "$@" <"$call.input" >"$call.output" 2>"$call.error"
status=$?
echo $status >"$call.status"
cat "$call.output"
cat "$call.error" >&2
exit $status
