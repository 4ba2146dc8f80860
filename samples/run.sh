#!/bin/sh
# Runs one of the small programs against a broker on this machine:
#   samples/run.sh Producer [COUNT]      sends COUNT messages to the queue "orders"
#   samples/run.sh Listener              processes the queue "orders"
#   samples/run.sh RequestReply [TEXT]   asks through a queue, answers to a temporary queue
#   samples/run.sh DurableSubscriber     keeps messages for a subscriber that is away
#   samples/run.sh JndiLookup            the same API through JNDI only
#   samples/run.sh EmbeddedBroker [DIR]  needs no broker, it runs one inside
# Another broker: LIGHTMQ_URI=lightmq://host:7654 samples/run.sh Producer
. "$(dirname -- "$0")/build.sh"
usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; }
[ $# -gt 0 ] || { usage; exit 2; }
name=$1
shift
case $name in
  -h | --help) usage; exit 0 ;;
  Producer | Listener | RequestReply | DurableSubscriber | JndiLookup | EmbeddedBroker) ;;
  *) echo "there is no sample $name" >&2; usage >&2; exit 2 ;;
esac
build samples "$root/samples/target/.built"
set -- "io.lightmq.samples.$name" "$@"
[ -z "${LIGHTMQ_URI:-}" ] || set -- "-Dlightmq.uri=$LIGHTMQ_URI" "$@"
exec "$java" "$logging" -cp "$root/samples/target/classes:$(cat "$root/samples/target/runtime.classpath")" "$@"
