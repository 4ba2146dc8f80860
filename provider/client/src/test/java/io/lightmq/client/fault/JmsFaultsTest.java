package io.lightmq.client.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.lightmq.wire.entry.FaultCode;
import jakarta.jms.InvalidClientIDException;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.InvalidSelectorException;
import jakarta.jms.JMSException;
import jakarta.jms.JMSRuntimeException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.TransactionRolledBackException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JmsFaultsTest {
  private static Class<? extends JMSException> expected(FaultCode fault) {
    return switch (fault) {
      case AUTHENTICATION_FAILED, NOT_AUTHORIZED -> JMSSecurityException.class;
      case CLIENT_ID_IN_USE -> InvalidClientIDException.class;
      case INVALID_DESTINATION, DESTINATION_GONE, NOT_OWNER, INVALID_SUBSCRIPTION ->
          InvalidDestinationException.class;
      case INVALID_SELECTOR -> InvalidSelectorException.class;
      case TRANSACTION_ROLLED_BACK -> TransactionRolledBackException.class;
      case TOO_LARGE, LIMIT_REACHED, RETRY_LATER, TRANSACTION_TOO_LARGE, DISK_FULL, MEMORY_FULL ->
          ResourceAllocationException.class;
      // IN_USE: the API's words for an active consumer are JMSException, no subclass of it.
      case OK,
          PROTOCOL_ERROR,
          VERSION_MISMATCH,
          IN_USE,
          NOT_IN_FLIGHT,
          OUTCOME_UNKNOWN,
          UNKNOWN_TRANSACTION,
          DUPLICATE_TRANSACTION,
          HEURISTIC_COMMIT,
          HEURISTIC_ROLLBACK,
          BROKER_FAILED,
          CLOSING,
          DAMAGED,
          BAD_REQUEST,
          HEARTBEAT_LOST ->
          JMSException.class;
    };
  }

  @ParameterizedTest
  @EnumSource
  void eachFaultIsOneExceptionWithItsNumber(FaultCode fault) {
    JMSException made = JmsFaults.of(fault, "what happened", null);
    assertThat(made).isExactlyInstanceOf(expected(fault)).hasMessage("what happened");
    assertThat(made.getErrorCode()).isEqualTo("LMQ-" + fault.code());
  }

  @ParameterizedTest
  @EnumSource
  void theUncheckedFormSaysTheSame(FaultCode fault) {
    JMSException made = JmsFaults.of(fault, "what happened", null);
    JMSRuntimeException unchecked = JmsFaults.unchecked(made);
    assertThat(unchecked.getClass().getSimpleName())
        .isEqualTo(
            made.getClass().getSimpleName().replaceFirst("Exception$", "") + "RuntimeException");
    assertThat(unchecked.getErrorCode()).isEqualTo(made.getErrorCode());
    assertThat(unchecked).hasMessage("what happened").hasCause(made);
  }
}
