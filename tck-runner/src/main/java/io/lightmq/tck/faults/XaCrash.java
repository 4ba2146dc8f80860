package io.lightmq.tck.faults;

import io.lightmq.wire.FrameType;
import org.jspecify.annotations.Nullable;

/**
 * A point of a distributed transaction, and who dies there. The request or answer that is on its
 * way then is held by a {@link FrameLine}; at the other points nothing is on its way.
 */
enum XaCrash {
  BEFORE_PREPARE_BROKER(XaManager.Step.WORKED, FrameType.PREPARE, true, false),
  BEFORE_PREPARE_MANAGER(XaManager.Step.WORKED, FrameType.PREPARE, false, true),
  PREPARE_RECORDED_BROKER(XaManager.Step.WORKED, FrameType.RECEIPTS, true, false),
  PREPARE_RECORDED_MANAGER(XaManager.Step.WORKED, FrameType.RECEIPTS, false, true),
  PREPARE_RECORDED_BOTH(XaManager.Step.WORKED, FrameType.RECEIPTS, true, true),
  PREPARED_BROKER(XaManager.Step.PREPARED, null, true, false),
  PREPARED_BOTH(XaManager.Step.PREPARED, null, true, true),
  BEFORE_COMMIT_BROKER(XaManager.Step.DECIDED, FrameType.DECIDE, true, false),
  BEFORE_COMMIT_BOTH(XaManager.Step.DECIDED, FrameType.DECIDE, true, true),
  COMMIT_RECORDED_BROKER(XaManager.Step.DECIDED, FrameType.RECEIPTS, true, false),
  COMMIT_RECORDED_BOTH(XaManager.Step.DECIDED, FrameType.RECEIPTS, true, true),
  /** Both answers are lost with their connections; the manager dies before its log has the end. */
  ANSWERS_LOST_MANAGER(XaManager.Step.COMMITTED, null, false, true);

  private final XaManager.Step step;
  private final @Nullable FrameType held;
  private final boolean broker;
  private final boolean manager;

  XaCrash(XaManager.Step step, @Nullable FrameType held, boolean broker, boolean manager) {
    this.step = step;
    this.held = held;
    this.broker = broker;
    this.manager = manager;
  }

  /** Where the manager stands when it is prepared for. */
  XaManager.Step step() {
    return step;
  }

  /** What it sends or is answered then, and is on its way at the crash. */
  @Nullable FrameType held() {
    return held;
  }

  boolean brokerDies() {
    return broker;
  }

  boolean managerDies() {
    return manager;
  }

  /** Whether the answers to prepare and to commit get lost, each with its connection. */
  boolean losesAnswers() {
    return this == ANSWERS_LOST_MANAGER;
  }

  String text() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
  }
}
