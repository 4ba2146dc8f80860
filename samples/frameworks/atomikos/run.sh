#!/bin/sh
# run.sh [h2|postgresql]: Atomikos with crashes between the branches of a transaction, each once.
# run.sh soak [h2|postgresql [ORDERS [KILLS]]]: a row and a message for each of ORDERS (10,000), with
# KILLS (50) of the application, the broker and the database in between.
# Exit code 0: each order has one row and one message, and nothing is in doubt.
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 2
sources=$here/../orders/src/main/java
export sources
exec "$here/../../framework.sh" "$here" io.lightmq.samples.frameworks.atomikos.AtomikosOrders "$@"
