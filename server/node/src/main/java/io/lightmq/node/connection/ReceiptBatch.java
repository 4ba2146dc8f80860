package io.lightmq.node.connection;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;

/** The receipts of one turn: neighbouring correlation ids that were done become one range. */
final class ReceiptBatch {
  /** So many bytes of refusals make a frame full; even the shortest frame limit has room for it. */
  private static final int FULL_BYTES = 32 << 10;

  private static final int REFUSAL_BYTES = 20;
  private static final int DONE_BYTES = 10;
  private static final int CHAR_BYTES = 3;

  private int refusedBytes;
  private final List<Frame.Done> done = new ArrayList<>();
  private final List<Frame.Fault> refused = new ArrayList<>();
  private int from;
  private int count;
  private int size;

  void add(int correlation, FaultCode code, String text) {
    size++;
    if (code != FaultCode.OK) {
      Frame.Fault fault = Outbound.fault(correlation, code, text);
      refused.add(fault);
      refusedBytes += REFUSAL_BYTES + CHAR_BYTES * fault.text().length();
    } else if (count > 0 && correlation == from + count) {
      count++;
    } else {
      closeRange();
      from = correlation;
      count = 1;
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Whether no more should be added before {@link #take}. */
  boolean isFull() {
    return refusedBytes + DONE_BYTES * done.size() >= FULL_BYTES;
  }

  int size() {
    return size;
  }

  Frame.Receipts take() {
    closeRange();
    Frame.Receipts receipts = new Frame.Receipts(List.copyOf(done), List.copyOf(refused));
    done.clear();
    refused.clear();
    refusedBytes = 0;
    size = 0;
    return receipts;
  }

  private void closeRange() {
    if (count > 0) {
      done.add(new Frame.Done(from, count));
      count = 0;
    }
  }
}
