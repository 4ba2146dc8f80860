package io.lightmq.core.storage.journal;

import io.lightmq.spi.Journal.Batch;
import io.lightmq.spi.Journal.Outcome;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** A batch with its outcome. */
final class TestBatch implements Batch {
  final long offset;
  final byte[] payload;
  final ByteBuffer[] bytes;
  final boolean startsEpoch;
  final boolean wantsForce;
  boolean written;
  Outcome outcome;
  Consumer<TestBatch> whenWritten = batch -> {};
  Consumer<TestBatch> whenCompleted = batch -> {};

  TestBatch(
      long offset, byte[] payload, ByteBuffer[] bytes, boolean startsEpoch, boolean wantsForce) {
    this.offset = offset;
    this.payload = payload;
    this.bytes = bytes;
    this.startsEpoch = startsEpoch;
    this.wantsForce = wantsForce;
  }

  @Override
  public long offset() {
    return offset;
  }

  @Override
  public int length() {
    int length = 0;
    for (ByteBuffer piece : bytes) {
      length += piece.remaining();
    }
    return length;
  }

  long end() {
    return offset + length();
  }

  @Override
  public ByteBuffer[] bytes() {
    return bytes;
  }

  @Override
  public boolean startsEpoch() {
    return startsEpoch;
  }

  @Override
  public boolean wantsForce() {
    return wantsForce;
  }

  @Override
  public void written() {
    if (written || outcome != null) {
      throw new AssertionError("written() was called twice or late for " + offset);
    }
    written = true;
    whenWritten.accept(this);
  }

  @Override
  public void completed(Outcome result) {
    if (outcome != null) {
      throw new AssertionError("completed() was called twice for " + offset);
    }
    outcome = result;
    whenCompleted.accept(this);
  }
}
