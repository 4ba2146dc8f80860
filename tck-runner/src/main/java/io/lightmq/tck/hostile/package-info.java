/**
 * Peers that do not keep to the protocol: clients against a broker, and a broker against clients.
 * They write their bytes themselves and know nothing of the product's codec, which would refuse to
 * write most of what they send.
 */
@NullMarked
package io.lightmq.tck.hostile;

import org.jspecify.annotations.NullMarked;
