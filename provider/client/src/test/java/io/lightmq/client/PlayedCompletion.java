package io.lightmq.client;

import jakarta.jms.CompletionListener;
import jakarta.jms.Message;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A completion listener that says what it was told. */
final class PlayedCompletion implements CompletionListener {
  private final CompletableFuture<Exception> failed = new CompletableFuture<>();

  @Override
  public void onCompletion(Message message) {
    failed.completeExceptionally(new AssertionError("the message was sent"));
  }

  @Override
  public void onException(Message message, Exception exception) {
    failed.complete(exception);
  }

  Exception failure() throws Exception {
    return failed.get(10, TimeUnit.SECONDS);
  }
}
