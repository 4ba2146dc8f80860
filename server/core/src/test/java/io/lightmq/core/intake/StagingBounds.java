package io.lightmq.core.intake;

/** The bounds of what is kept of transactions, for tests of the whole broker. */
public final class StagingBounds {
  public static final int MAX_OF_CONNECTION = StagingLimits.MAX_OF_CONNECTION;
  public static final int MAX_OPEN = StagingLimits.MAX_OPEN;
  public static final int MAX_OPEN_OF_USER = StagingLimits.MAX_OPEN_OF_USER;
  public static final int MAX_PREPARED = StagingLimits.MAX_PREPARED;
  public static final int MAX_PREPARED_OF_USER = StagingLimits.MAX_PREPARED_OF_USER;
  public static final int MAX_WAITING = StageCommands.MAX_WAITING;

  private StagingBounds() {}
}
