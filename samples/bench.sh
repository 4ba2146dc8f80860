#!/bin/sh
# samples/bench.sh [--seconds N] [--disk DIR] [--jndi FILE]: the speed floor beside what this
# machine's disk can do in the same run. With --jndi another provider is measured: FILE is its
# jndi.properties with the names ConnectionFactory and bench (a queue); put its jars into
# BENCH_CLASSPATH. --paired OTHER_HOME [--paired-clients CLASSPATH] [--rounds 10] runs this build
# beside the server of another one and prints ratios; CLASSPATH has the other build's client jars,
# without it both builds get this build's client. The exit code is 1 when a ratio is below its floor.
. "$(dirname -- "$0")/build.sh"
build server/app,samples "$root/samples/target/.built-demo"
find_home
exec "$java" -Xmx1g "-Dlightmq.home=$lightmq_home" "$logging" \
  -cp "$root/samples/target/classes:$(cat "$root/samples/target/runtime.classpath")${BENCH_CLASSPATH:+:$BENCH_CLASSPATH}" \
  io.lightmq.samples.bench.Bench "$@"
