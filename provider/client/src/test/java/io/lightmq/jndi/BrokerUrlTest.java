package io.lightmq.jndi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lightmq.client.LightmqConnectionFactory;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BrokerUrlTest {
  private static LightmqConnectionFactory factory(String url) {
    return BrokerUrl.parse("test", url).factory();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lightmq://h:1|lightmq://h:1",
        "lightmq:mem:x|lightmq:mem:x",
        "tcp://h:61616|lightmq://h:61616",
        "tcp://h|lightmq://h:7654",
        "TCP://h:1/|lightmq://h:1",
        "nio://[::1]:5|lightmq://[::1]:5",
        "amqp://h:5672|lightmq://h:5672",
        "ssl://h:61617|lightmqs://h:61617",
        "amqps://h:5671|lightmqs://h:5671",
        "tcp://h:1?sslEnabled=true|lightmqs://h:1",
        "failover:(tcp://a:1,tcp://b:2)|lightmq://a:1,b:2",
        "failover://(tcp://a:1,tcp://b:2)?randomize=false|lightmq://a:1,b:2",
        "failover:tcp://a:1|lightmq://a:1",
        "failover:tcp://a:1,tcp://b:2?jms.prefetchPolicy.all=3|lightmq://a:1,b:2",
        "failover:(tcp://a:1?wireFormat.maxInactivityDuration=0,tcp://b:2)|lightmq://a:1,b:2",
        "(tcp://a:1,tcp://b:2)?ha=true&reconnectAttempts=-1|lightmq://a:1,b:2",
        "(tcp://a:1,b:2)|lightmq://a:1,b:2",
        "tcp://a:1,b:2?type=CF|lightmq://a:1,b:2",
        "vm://localhost?broker.persistent=false|lightmq:mem:localhost",
        "vm:test?broker.persistent=false&jms.useAsyncSend=true|lightmq:mem:test"
      })
  void addressesWhoseMeaningIsPlainAreTakenOver(String foreign, String ours) {
    assertThat(factory(foreign).getUri()).isEqualTo(ours);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jms.userName=anna|user|anna",
        "jms.username=anna|user|anna",
        "user=a%20b|user|a b",
        "jms.clientID=c|clientId|c",
        "reconnectDelayExponent=3.0|reconnectBackOffMultiplier|3.0",
        "failover.reconnectBackOffMultiplier=3|reconnectBackOffMultiplier|3",
        "retryIntervalMultiplier=1.5|reconnectBackOffMultiplier|1.5",
        "useExponentialBackOff=false|reconnectBackOffMultiplier|1",
        "failover.useReconnectBackOff=false|reconnectBackOffMultiplier|1",
        "failover.randomize=true|randomize|true",
        "clientID=c|clientId|c",
        "jms.prefetchPolicy.all=10|prefetchMessages|10",
        "consumerWindowSize=4096|prefetchBytes|4096",
        "consumerWindowSize=0|prefetchMessages|0",
        "jms.prefetchPolicy.all=0|prefetchMessages|0",
        "jms.sendTimeout=5|sendTimeoutMillis|5",
        "jms.sendTimeout=0|sendTimeoutMillis|86400000",
        "jms.requestTimeout=-1|requestTimeoutMillis|86400000",
        "callTimeout=30|requestTimeoutMillis|30",
        "transport.connectTimeout=60|connectTimeoutMillis|60",
        "connect-timeout-millis=60|connectTimeoutMillis|60",
        "failover.maxReconnectAttempts=5|reconnectAttempts|5",
        "reconnectAttempts=-1|reconnectAttempts|-1",
        "failover.startupMaxReconnectAttempts=5|initialReconnectAttempts|5",
        "initialConnectAttempts=5|initialReconnectAttempts|4",
        "initialConnectAttempts=1|initialReconnectAttempts|0",
        "initialConnectAttempts=-1|initialReconnectAttempts|-1",
        "retryInterval=7|reconnectDelayMillis|7",
        "initialReconnectDelay=0|reconnectDelayMillis|1",
        "initialReconnectDelay=3&reconnectDelay=9|reconnectDelayMillis|9",
        "reconnectDelay=9&initialReconnectDelay=3|reconnectDelayMillis|9",
        "maxReconnectDelay=8|maxReconnectDelayMillis|8",
        "jms.deserializationPolicy.allowList=a.b,c.d|trustedPackages|a.b,c.d",
        "deserializationWhiteList=a.b|trustedPackages|a.b",
        "jms.populateJMSXUserID=true|jmsxProperties|JMSXUserID",
        "prefetchMessages=4|prefetchMessages|4",
        "lingerMillis=0|lingerMillis|0"
      })
  void optionsOfTheSameMeaningGetOurNamesAndUnits(String option, String name, String value) {
    assertThat(factory("tcp://h:1?" + option).getOptions()).isEqualTo(Map.of(name, value));
    assertThat(factory("failover:(tcp://h:1,tcp://i:1)?" + option).getOptions())
        .isEqualTo(Map.of(name, value));
  }

  @Test
  void optionsThatOnlyTuneAnotherTransportAreLeftOut() {
    assertThat(
            factory(
                    "tcp://h:1?tcpNoDelay=true&wireFormat.maxInactivityDuration=1"
                        + "&jms.useAsyncSend=true&transport.tcpKeepAlive=true&amqp.idleTimeout=9"
                        + "&confirmationWindowSize=10&nested.soTimeout=1")
                .getOptions())
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jms.useCompression=true",
        "jms.messagePrioritySupported=true",
        "backup=true",
        "failover.updateURIsSupported=false",
        "jms.clientIDPrefix=x",
        "type=XA_CF",
        "xa=true"
      })
  void optionsThatOnlyTuneClassicAreLeftOut(String option) {
    assertThat(factory("failover:(tcp://h:1)?" + option).getOptions()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jms.prefetchPolicy.al=1|did you mean prefetchPolicy.all?",
        "jms.clientIdd=1|did you mean clientI",
        "prefetchMessage=1|did you mean prefetchMessages?",
        "jms.redeliveryPolicy.maximumRedeliveries=3|lightmq destination set queue NAME"
            + " --max-attempts N",
        "jms.redeliveryPolicy.initialRedeliveryDelay=3|setting of the destination",
        "jms.nonBlockingRedelivery=true|--redelivery-order non-blocking",
        "jms.prefetchPolicy.queuePrefetch=1|is prefetchMessages here",
        "jms.prefetchPolicy.durableTopicPrefetch=1|is prefetchMessages here",
        "prefetch=1|is prefetchMessages here",
        "prefetchSize=1|is prefetchMessages here",
        "jms.exclusiveConsumer=true|is unknown",
        "consumerWindowSize=-1|are limits",
        "reconnectAttempts=1&failover.maxReconnectAttempts=2|given twice",
        "jms.prefetchPolicy.all=x|prefetchMessages is a number",
        "jms.prefetchPolicy.all=32766|0 to 20000",
        "trustStorePath=/x|unknown",
        "zzzzzzzzzzzzz=1|known are"
      })
  void anOptionWithoutPlainMeaningIsRefusedWithTheNearestName(String option, String message) {
    assertThatThrownBy(() -> factory("tcp://h:1?" + option))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "vm://localhost",
        "vm://localhost?broker.persistent=true",
        "vm:(broker:(tcp://h:1)?persistent=false)",
        "vm://?broker.persistent=false",
        "http://h/jndi.properties",
        "discovery:(multicast://default)",
        "failover:(discovery:(file:x))",
        "failover:(tcp://a:1,ssl://b:2)",
        "failover:(tcp://a:1",
        "failover:()",
        "(a:1,b:2)",
        "(tcp://a:1)x",
        "amqpws://h",
        "jgroups://x",
        "localhost:61616",
        "tcp://h:1/path",
        "tcp://"
      })
  void anAddressWithoutPlainMeaningIsRefusedWithOurForms(String url) {
    assertThatThrownBy(() -> factory(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("lightmq:mem:NAME");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tcp://admin:S3cret@h:1",
        "failover:(tcp://h:1?jms.password=S3cret,udp://h:1)",
        "foo:S3cret@h",
        "tcp://h:1?jms.password=S3cret&oops",
        "tcp://h:1?jms.password=S3cret&bogus=1",
        "vm://x?jms.password=S3cret",
        "tcp://h:x?jms.password=S3cret"
      })
  void aRefusalNeverRepeatsAPassword(String url) {
    assertThatThrownBy(() -> factory(url))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("S3cret");
  }

  @Test
  void thePasswordIsTakenOverButNotTold() {
    BrokerUrl url = BrokerUrl.parse("test", "tcp://h:1?jms.userName=a&jms.password=p%26w");
    LightmqConnectionFactory expected = new LightmqConnectionFactory("lightmq://h:1", "a", "p&w");
    assertThat(url.factory()).isEqualTo(expected);
    assertThat(url.toString()).doesNotContain("p&w");
  }
}
