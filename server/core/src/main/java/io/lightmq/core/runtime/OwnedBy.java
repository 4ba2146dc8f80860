package io.lightmq.core.runtime;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The type's state may be touched only on the named loop; it holds no lock, volatile or atomic. */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface OwnedBy {
  /** The loop's name without its number, such as {@code "shard"}. */
  String value();
}
