package io.lightmq.core.storage.segment;

/**
 * Under which name entries lie that a lane has taken over from another one: what their bytes say.
 * Whoever reads them gives them the name that they have now; see {@link Renamed}.
 *
 * @param destinationId in the bytes
 * @param lane in the bytes
 * @param shift what is added to the sequence in the bytes
 */
public record Origin(long destinationId, int lane, long shift) {}
