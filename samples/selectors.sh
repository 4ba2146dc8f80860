#!/bin/sh
# samples/selectors.sh backlog [MESSAGES] | replies [CLIENTS] [ORPHANS] [SECONDS] [--disk DIR]: what
# selectors cost on queues. backlog: one match behind 1,000,000 messages of 1 KiB, found within 5 s.
# replies: request and reply by JMSCorrelationID on one reply queue; beside 10,000 orphaned replies at
# least 0.8 of the rate on an empty queue. The exit code is 1 when a limit is not kept.
. "$(dirname -- "$0")/build.sh"
disk=${TMPDIR:-/tmp}
what=${1:-backlog}
[ $# -gt 0 ] && shift
rest=
while [ $# -gt 0 ]; do
  case $1 in
    --disk) disk=$2; shift 2 ;;
    *) rest="$rest $1"; shift ;;
  esac
done
set -- $rest
case $what in
  backlog) set -- backlog "${1:-1000000}" ;;
  replies) set -- replies "${1:-200}" "${2:-10000}" "${3:-10}" ;;
  *) fail "use: samples/selectors.sh backlog [MESSAGES] | replies [CLIENTS] [ORPHANS] [SECONDS]" ;;
esac
build server/app,samples "$root/samples/target/.built-demo"
find_home
data=$(mktemp -d "$disk/lightmq-selectors-XXXXXX")
trap 'rm -rf "$data"' EXIT
"$java" -Xmx1500m "-Dlightmq.home=$lightmq_home" "$logging" \
  -cp "$root/samples/target/classes:$(cat "$root/samples/target/runtime.classpath")" \
  io.lightmq.samples.bench.Selectors "lightmq:file:$data" "$@"
