package io.lightmq.client.message;

import static io.lightmq.client.message.HostileObjectsTest.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.jms.MessageFormatException;
import java.io.File;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamConstants;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds where trusted classes read a form of their own, which nobody can look through. */
@Timeout(30)
class OwnFormsTest {
  private static final String PACKAGE = "io.lightmq.client.message";

  /** Reads what stands where its data does, and says nothing of fields. */
  static final class Hiding implements Serializable {
    private static final long serialVersionUID = 1L;
    private transient Object hidden;

    Hiding(Object hidden) {
      this.hidden = hidden;
    }

    private void writeObject(ObjectOutputStream out) throws IOException {
      out.writeObject(hidden);
    }

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
      hidden = in.readObject();
    }
  }

  private static ObjectTrust trusting(String packages) {
    return new ObjectTrust(Set.of(packages));
  }

  private static void refused(ObjectTrust trust, byte[] bytes, String... texts) {
    assertThatThrownBy(() -> trust.read(bytes))
        .isInstanceOf(MessageFormatException.class)
        .hasMessageContainingAll(texts);
  }

  /** Whose class is said to write its fields, of which it has none, and nothing else. */
  private static byte[] hiding(Object hidden) {
    byte[] bytes = bytes(new Hiding(hidden));
    String name = Hiding.class.getName();
    int flags =
        new String(bytes, StandardCharsets.ISO_8859_1).indexOf(name) + name.length() + Long.BYTES;
    assertThat(bytes[flags])
        .isEqualTo(
            (byte) (ObjectStreamConstants.SC_SERIALIZABLE | ObjectStreamConstants.SC_WRITE_METHOD));
    bytes[flags] = ObjectStreamConstants.SC_SERIALIZABLE;
    return bytes;
  }

  private static Set<Object> nested(int levels) {
    Set<Object> set = new HashSet<>();
    for (int i = 1; i < levels; i++) {
      set = new HashSet<>(Set.of(set));
    }
    return set;
  }

  /** Behind one whose form does not fit what the stream says of its class. */
  private static byte[] behind(Object what) {
    return bytes(new ArrayList<>(List.of(new HostileObjectsTest.OwnForm(), what)));
  }

  @ParameterizedTest
  @ValueSource(strings = {PACKAGE, "*"})
  void tablesAreNestedNoDeeperThanSixteenWhereverTheyHide(String packages) throws Exception {
    ObjectTrust trust = trusting(packages);
    assertThat(((Hiding) trust.read(hiding(nested(16)))).hidden).isEqualTo(nested(16));
    refused(trust, hiding(nested(17)), "nested", "16");
    refused(trust, behind(nested(17)), "nested", "16");
    refused(trust, bytes(new Hiding(nested(17))), "nested", "16");
  }

  @ParameterizedTest
  @ValueSource(strings = {PACKAGE, "*"})
  void noArrayIsLongerThanTheStream(String packages) {
    byte[] bytes = behind(new long[] {1});
    int length = bytes.length - Long.BYTES - Integer.BYTES - 1; // and an end of the list's data
    assertThat(ByteBuffer.wrap(bytes).getInt(length)).isOne();
    ByteBuffer.wrap(bytes).putInt(length, 1 << 28);
    refused(trusting(packages), bytes, "268435456");
    byte[] table = behind(new HashMap<>(Map.of("key", "value")));
    int capacity = new String(table, StandardCharsets.ISO_8859_1).lastIndexOf("w\b") + 6;
    ByteBuffer.wrap(table).putInt(capacity, 1 << 28);
    refused(trusting(packages), table, "table", "bytes");
  }

  @Test
  void noClassIsReadThatIsNotTrusted() {
    refused(trusting(PACKAGE), behind(new File("x")), "java.io.File", "trustedPackages");
    refused(trusting(PACKAGE), hiding(new File("x")), "java.io.File", "trustedPackages");
  }

  @Test
  void noProxyIsReadUnlessAllIsTrusted() {
    Object handled = new ArrayList<>(List.of("x"));
    byte[] bytes = behind(handled);
    refused(trusting(PACKAGE), withProxyClass(bytes), "proxy");
  }

  /** The list's class, as an object behind an own form, becomes one of a proxy. */
  private static byte[] withProxyClass(byte[] bytes) {
    byte[] name = Comparable.class.getName().getBytes(StandardCharsets.UTF_8);
    ByteBuffer changed = ByteBuffer.allocate(bytes.length + 64);
    int last = new String(bytes, StandardCharsets.ISO_8859_1).lastIndexOf("sq");
    changed.put(bytes, 0, last + 1).put(ObjectStreamConstants.TC_PROXYCLASSDESC);
    changed.putInt(1).putShort((short) name.length).put(name);
    return changed.array();
  }

  @Test
  void whatIsNestedTooDeeplyIsRefused() throws Exception {
    byte[][] made = new byte[1][];
    Thread thread =
        new Thread(
            null,
            () -> made[0] = behind(HostileObjectsTest.Node.chain(6_000)),
            "test-stack",
            256L << 20);
    thread.start();
    thread.join();
    refused(trusting(PACKAGE), made[0], "the object");
  }
}
