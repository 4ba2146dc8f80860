package io.lightmq.client;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.jms.JMSException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ExceptionTellerTest {
  private final ExceptionTeller teller = new ExceptionTeller();
  private final List<String> told = Collections.synchronizedList(new ArrayList<>());

  @Test
  void oneCallAtATimeInOrderOnOneThread() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(20);
    teller.listener(
        exception -> {
          most.accumulateAndGet(inside.incrementAndGet(), Math::max);
          told.add(exception.getMessage());
          Thread.yield();
          inside.decrementAndGet();
          all.countDown();
        });
    for (int i = 0; i < 20; i++) {
      teller.tell(new JMSException("e" + i));
    }
    assertThat(all.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(most).hasValue(1);
    assertThat(told).hasSize(20).first().isEqualTo("e0");
    assertThat(told.get(19)).isEqualTo("e19");
    teller.close();
    assertThat(ClientThreads.alive()).isEmpty();
  }

  @Test
  void aListenerThatFailsHearsOfTheNextException() throws Exception {
    CountDownLatch second = new CountDownLatch(2);
    teller.listener(
        exception -> {
          second.countDown();
          throw new AssertionError("thrown by a test's listener");
        });
    teller.tell(new JMSException("a"));
    teller.tell(new JMSException("b"));
    assertThat(second.await(10, TimeUnit.SECONDS)).isTrue();
    teller.close();
  }

  @Test
  void closeWaitsForTheListenerButNotWhenItIsTheOneThatCloses() throws Exception {
    CountDownLatch closed = new CountDownLatch(1);
    teller.listener(
        exception -> {
          teller.close();
          closed.countDown();
        });
    teller.tell(new JMSException("a"));
    assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
    teller.close();
    assertThat(ClientThreads.alive()).isEmpty();
  }

  @Test
  void whatIsMoreThanTheBoundAndWhatComesAfterTheCloseIsOnlyLogged() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    teller.listener(
        exception -> {
          entered.countDown();
          told.add(exception.getMessage());
          try {
            go.await(10, TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    teller.tell(new JMSException("first"));
    assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < ExceptionTeller.MAX_WAITING + 5; i++) {
      teller.tell(new JMSException("e" + i));
    }
    go.countDown();
    while (told.size() < 1 + ExceptionTeller.MAX_WAITING) {
      Thread.onSpinWait();
    }
    teller.close();
    teller.tell(new JMSException("late"));
    assertThat(told).hasSize(1 + ExceptionTeller.MAX_WAITING).doesNotContain("late", "e100");
    assertThat(ClientThreads.alive()).isEmpty();
  }
}
