package io.lightmq.core.runtime;

import java.lang.StackWalker.StackFrame;
import org.jspecify.annotations.Nullable;

/**
 * Says who may touch what is {@link OwnedBy} a loop, and is asked at each of its doors. It belongs
 * to the thread that makes it, such as one that recovers a state; from {@link #handOver} on to a
 * loop; and after {@link #end} to nobody.
 *
 * <p>A check is two reads and a comparison, so it is on in the product too. A call from elsewhere
 * is a bug of the broker's: it changes nothing and is an {@code Error}, which nobody takes for a
 * refusal. The fields need no volatile: whoever hands over does it before the loop hears of it.
 */
public final class Guard {
  private @Nullable Thread maker = Thread.currentThread();
  private @Nullable Loop loop;
  private String ended = "";

  /** Fails unless the calling thread may touch what this guards. */
  public void check() {
    Loop owner = loop;
    if (owner == null ? Thread.currentThread() != maker : !owner.isCurrent()) {
      throw foreign();
    }
  }

  /** From now on only the loop may. By whoever may now. */
  public void handOver(Loop to) {
    check();
    loop = to;
    maker = null;
  }

  /** From now on the calling thread may: the loop is dead, and what it had is to be closed. */
  public void takeOver() {
    maker = Thread.currentThread();
    loop = null;
  }

  /**
   * From now on nobody may. By whoever may now.
   *
   * @param why what has become of what this guards
   */
  public void end(String why) {
    check();
    ended = why;
    maker = null;
    loop = null;
  }

  private AssertionError foreign() {
    String door =
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
            .walk(frames -> frames.skip(2).findFirst().map(Guard::name).orElse("it"));
    Thread caller = Thread.currentThread();
    Thread made = maker;
    Loop owner = loop;
    String rightful =
        owner != null
            ? "belongs to loop " + owner.name()
            : made != null
                ? "belongs to thread " + made.getName() + ", which has not handed it over"
                : "belongs to nobody any more: " + ended;
    return new AssertionError(
        door
            + " was called on thread "
            + caller.getName()
            + (owner != null && owner.name().equals(caller.getName()) ? ", another one," : "")
            + (owner != null ? " outside a turn of its loop" : "")
            + "; it "
            + rightful);
  }

  private static String name(StackFrame frame) {
    return frame.getDeclaringClass().getSimpleName() + "." + frame.getMethodName();
  }
}
