package io.lightmq.tck.joram;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.IllegalStateException;
import jakarta.jms.Session;
import org.junit.jupiter.api.Test;

class OpenConnectionsTest {

  @Test
  void whatATestLeavesOpenIsClosed() throws Exception {
    OpenConnections connections = new OpenConnections();
    ConnectionFactory factory =
        (ConnectionFactory)
            connections.recording(new LightmqConnectionFactory("lightmq:mem:left-open"));
    Connection left = factory.createConnection();
    left.createSession(false, Session.AUTO_ACKNOWLEDGE).close();

    connections.closeAll();

    assertThatThrownBy(() -> left.createSession(false, Session.AUTO_ACKNOWLEDGE))
        .isInstanceOf(IllegalStateException.class);
  }
}
