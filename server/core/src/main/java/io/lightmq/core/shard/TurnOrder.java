package io.lightmq.core.shard;

import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.core.state.TurnPart;
import java.util.Arrays;
import java.util.List;

/**
 * All parts of an owner as one, in the order of their shares in a turn. {@link Owner} writes it
 * down.
 */
@OwnedBy("shard")
final class TurnOrder implements TurnPart {
  /** An array, since each turn goes through it several times. */
  private final TurnPart[] parts;

  TurnOrder(TurnPart... parts) {
    this.parts = parts.clone();
  }

  /** What has a place in a turn and nothing else. */
  record Step(String name, Runnable share) implements TurnPart {
    @Override
    public void turn() {
      share.run();
    }
  }

  /** The names of the parts, in their order; a look for tests. */
  List<String> names() {
    return Arrays.stream(parts)
        .map(part -> part instanceof Step step ? step.name() : part.getClass().getSimpleName())
        .toList();
  }

  @Override
  public void turn() {
    for (TurnPart part : parts) {
      part.turn();
    }
  }

  @Override
  public void tick() {
    for (TurnPart part : parts) {
      part.tick();
    }
  }

  @Override
  public long nextNanos() {
    long next = Long.MAX_VALUE;
    for (TurnPart part : parts) {
      next = Math.min(next, part.nextNanos());
    }
    return next;
  }

  @Override
  public long nextMillis() {
    long next = Long.MAX_VALUE;
    for (TurnPart part : parts) {
      next = Math.min(next, part.nextMillis());
    }
    return next;
  }

  @Override
  public boolean waits() {
    for (TurnPart part : parts) {
      if (part.waits()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void end() {
    for (TurnPart part : parts) {
      part.end();
    }
  }
}
