#!/bin/sh
# run.sh [RESTARTS]: pooled-jms
# over so many restarts of the broker (20).
# Exit code 0: nothing was lost or doubled, and no send failed.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 2
exec "$here/../../framework.sh" "$here" io.lightmq.samples.frameworks.PooledRestarts "$@"
