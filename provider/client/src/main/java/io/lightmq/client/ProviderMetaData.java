package io.lightmq.client;

import io.lightmq.client.message.Jmsx;
import jakarta.jms.ConnectionMetaData;
import java.util.Collections;
import java.util.Enumeration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names and versions of this provider. */
final class ProviderMetaData implements ConnectionMetaData {
  private static final String VERSION = version();

  private final Jmsx jmsx;

  /** For a connection that asks for these properties. */
  ProviderMetaData(Jmsx jmsx) {
    this.jmsx = jmsx;
  }

  private static String version() {
    String packaged = ProviderMetaData.class.getPackage().getImplementationVersion();
    return packaged == null ? "0.1.0" : packaged;
  }

  @Override
  public String getJMSVersion() {
    return "3.1";
  }

  @Override
  public int getJMSMajorVersion() {
    return 3;
  }

  @Override
  public int getJMSMinorVersion() {
    return 1;
  }

  @Override
  public String getJMSProviderName() {
    return "LightMQ";
  }

  @Override
  public String getProviderVersion() {
    return VERSION;
  }

  @Override
  public int getProviderMajorVersion() {
    return part(1);
  }

  @Override
  public int getProviderMinorVersion() {
    return part(2);
  }

  private static int part(int group) {
    Matcher matcher = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})").matcher(VERSION);
    return matcher.lookingAt() ? Integer.parseInt(matcher.group(group)) : 0;
  }

  @Override
  public Enumeration<String> getJMSXPropertyNames() {
    return Collections.enumeration(jmsx.names());
  }
}
