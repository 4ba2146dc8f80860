package io.lightmq.samples.bench;

import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.Queue;
import jakarta.jms.Topic;

/** The loads by which two builds are compared. */
enum PairedLoad {
  ONE_SENDER("1 synchronous sender") {
    @Override
    double perSecond(ConnectionFactory factory, long millis)
        throws JMSException, InterruptedException {
      return new Throughput(factory, queue(factory), millis).synchronous(1);
    }
  },
  SENDERS("16 synchronous senders") {
    @Override
    double perSecond(ConnectionFactory factory, long millis)
        throws JMSException, InterruptedException {
      return new Throughput(factory, queue(factory), millis).synchronous(16);
    }
  },
  ASYNCHRONOUS("1,000 in flight") {
    @Override
    double perSecond(ConnectionFactory factory, long millis)
        throws JMSException, InterruptedException {
      return new Throughput(factory, queue(factory), millis).asynchronous();
    }
  },
  END_TO_END("end to end, one by one") {
    @Override
    double perSecond(ConnectionFactory factory, long millis)
        throws JMSException, InterruptedException {
      return new Throughput(factory, queue(factory), millis).endToEnd();
    }
  },
  DURABLE_TOPIC("topic, 2 durable") {
    @Override
    double perSecond(ConnectionFactory factory, long millis)
        throws JMSException, InterruptedException {
      return new Throughput(factory, topic(factory), millis).durableTopic(2);
    }
  };

  private final String title;

  PairedLoad(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /** Messages a second through a broker. */
  abstract double perSecond(ConnectionFactory factory, long millis)
      throws JMSException, InterruptedException;

  Queue queue(ConnectionFactory factory) {
    try (JMSContext context = factory.createContext()) {
      return context.createQueue("bench-" + name());
    }
  }

  Topic topic(ConnectionFactory factory) {
    try (JMSContext context = factory.createContext()) {
      return context.createTopic("bench-" + name());
    }
  }
}
