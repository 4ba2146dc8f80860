package io.lightmq.client;

import io.lightmq.client.fault.JmsFaults;
import jakarta.jms.JMSException;

/** Which of the three APIs a connection or session was made through. */
enum Domain {
  UNIFIED,
  QUEUE,
  TOPIC;

  /** Refuses what only topics have. */
  void requireTopics(String call) throws JMSException {
    if (this == QUEUE) {
      throw JmsFaults.illegalState(call + " is not for a QueueConnection or QueueSession");
    }
  }

  /** Refuses what only queues have. */
  void requireQueues(String call) throws JMSException {
    if (this == TOPIC) {
      throw JmsFaults.illegalState(call + " is not for a TopicConnection or TopicSession");
    }
  }
}
