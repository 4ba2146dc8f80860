package io.lightmq.node.connection;

import io.lightmq.wire.Frame;
import io.lightmq.wire.entry.FaultCode;
import java.util.ArrayList;
import java.util.List;

/** The receipts of one turn: neighbouring correlation ids that were done become one range. */
final class ReceiptBatch {
  private final List<Frame.Done> done = new ArrayList<>();
  private final List<Frame.Fault> refused = new ArrayList<>();
  private int from;
  private int count;
  private int size;

  void add(int correlation, FaultCode code, String text) {
    size++;
    if (code != FaultCode.OK) {
      refused.add(Outbound.fault(correlation, code, text));
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

  int size() {
    return size;
  }

  Frame.Receipts take() {
    closeRange();
    Frame.Receipts receipts = new Frame.Receipts(List.copyOf(done), List.copyOf(refused));
    done.clear();
    refused.clear();
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
