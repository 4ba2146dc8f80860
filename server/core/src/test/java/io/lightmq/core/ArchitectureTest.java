package io.lightmq.core;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.lightmq.core.destination.UnloggedLane;
import io.lightmq.core.runtime.OwnedBy;
import io.lightmq.spi.Journal;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** The picture of the broker core: what may depend on what, and who may touch threads and files. */
@AnalyzeClasses(packages = "io.lightmq.core", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule packagesHaveNoCycles =
      slices().matching("io.lightmq.core.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule lowerPackagesKnowNothingOfHigherOnes =
      noClasses()
          .that()
          .resideInAnyPackage("..core.runtime..", "..core.storage..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "..core.record..",
              "..core.destination..",
              "..core.delivery..",
              "..core.transaction..",
              "..core.door..",
              "..core.state..",
              "..core.sessions..",
              "..core.intake..",
              "..core.moves..",
              "..core.admin..",
              "..core.checkpoint..",
              "..core.shard..");

  /** The rooms of a shard, each with those that it may know. */
  @ArchTest
  static final ArchRule roomsKnowOnlyWhatLiesBelow =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("door")
          .definedBy("io.lightmq.core.door..")
          .layer("state")
          .definedBy("io.lightmq.core.state..")
          .layer("sessions")
          .definedBy("io.lightmq.core.sessions..")
          .layer("intake")
          .definedBy("io.lightmq.core.intake..")
          .layer("moves")
          .definedBy("io.lightmq.core.moves..")
          .layer("admin")
          .definedBy("io.lightmq.core.admin..")
          .layer("checkpoint")
          .definedBy("io.lightmq.core.checkpoint..")
          .layer("shard")
          .definedBy("io.lightmq.core.shard..")
          .whereLayer("door")
          .mayNotAccessAnyLayer()
          .whereLayer("state")
          .mayOnlyAccessLayers("door")
          .whereLayer("sessions")
          .mayOnlyAccessLayers("door", "state")
          .whereLayer("intake")
          .mayOnlyAccessLayers("door", "state", "sessions")
          .whereLayer("moves")
          .mayOnlyAccessLayers("door", "state", "sessions", "intake")
          .whereLayer("admin")
          .mayOnlyAccessLayers("door", "state", "sessions", "intake", "moves")
          .whereLayer("checkpoint")
          .mayOnlyAccessLayers("door", "state");

  @ArchTest
  static final ArchRule nobodyDependsOnTheShard =
      noClasses()
          .that()
          .resideOutsideOfPackage("..core.shard..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("..core.shard..");

  @ArchTest
  static final ArchRule onlyTheAssemblyKnowsWhichJournalThereIs =
      noClasses()
          .that()
          .resideOutsideOfPackage("..core.storage.journal..")
          .and()
          .doNotHaveFullyQualifiedName("io.lightmq.core.shard.ShardSeams")
          .should()
          .dependOnClassesThat(
              resideInAPackage("..core.storage.journal..").and(assignableTo(Journal.class)));

  @ArchTest
  static final ArchRule onlyStorageTouchesFiles =
      noClasses()
          .that()
          .resideOutsideOfPackage("..core.storage..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("java.nio.file..", "java.nio.channels..")
          .orShould()
          .dependOnClassesThat()
          .haveNameMatching("java\\.io\\.(File|RandomAccessFile|File.*Stream|File(Reader|Writer))");

  @ArchTest
  static final ArchRule onlyRuntimeReadsClocksAndSleeps =
      noClasses()
          .that()
          .resideOutsideOfPackage("..core.runtime..")
          .should()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(Thread.class, "sleep", long.class)
          .orShould()
          .dependOnClassesThat()
          .haveNameMatching("java\\.time\\.(Clock|Instant|LocalDateTime|ZonedDateTime)");

  @ArchTest
  static final ArchRule onlyRuntimeIsRandom =
      noClasses()
          .that()
          .resideOutsideOfPackage("..core.runtime..")
          .should()
          .dependOnClassesThat()
          .areAssignableTo(Random.class)
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .callMethod(java.util.UUID.class, "randomUUID")
          .orShould()
          .dependOnClassesThat()
          .haveFullyQualifiedName("java.util.concurrent.ThreadLocalRandom");

  @ArchTest
  static final ArchRule onlyRuntimeStartsThreads =
      noClasses()
          .that()
          .resideOutsideOfPackage("..core.runtime..")
          .should()
          .dependOnClassesThat()
          .areAssignableTo(Thread.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(java.util.concurrent.ExecutorService.class);

  /** What has messages written; a message may come in by one door only. */
  private static final Set<String> WRITERS =
      Set.of(
          "Recorder.publish",
          "Recorder.begin",
          "Recorder$Compound.publish",
          "Recorder$Compound.acknowledge",
          "Recorder$Compound.end",
          "UnloggedWriter.store",
          "Subscribing.create(MissingQueue)");

  @ArchTest
  static final ArchRule messagesLandByOneDoor =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName("io.lightmq.core.intake.Landing")
          .should()
          .callMethodWhere(
              describe(
                  "has messages written",
                  call ->
                      call.getTargetOwner().getPackageName().startsWith("io.lightmq.core.")
                          && WRITERS.contains(name(call))))
          .because("Landing.carryOut is the one caller of what writes messages");

  @ArchTest
  static final ArchRule unloggedMessagesAreWrittenInOnePlace =
      noClasses()
          .that()
          .resideOutsideOfPackage("..core.destination..")
          .and()
          .doNotHaveFullyQualifiedName("io.lightmq.core.intake.UnloggedWriter")
          .should()
          .callMethodWhere(
              describe(
                  "appends to an unlogged lane",
                  call ->
                      call.getTargetOwner().isAssignableTo(UnloggedLane.class)
                          && call.getName().equals("append")));

  private static String name(JavaMethodCall call) {
    String owner = call.getTargetOwner().getFullName();
    String name = owner.substring(owner.lastIndexOf('.') + 1) + "." + call.getName();
    List<JavaClass> given = call.getTarget().getRawParameterTypes();
    return call.getName().equals("create") && given.size() == 1
        ? name + "(" + given.get(0).getSimpleName() + ")"
        : name;
  }

  @ArchTest
  static final ArchRule ownedTypesHoldNoLocks =
      classes().that().areAnnotatedWith(OwnedBy.class).should(holdNothingShared());

  @ArchTest
  static final ArchRule nothingOfTheNetworkOrOfJmsIsKnown =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.netty..", "jakarta.jms..", "org.apache.ratis..");

  @ArchTest
  static final ArchRule ofTheWireOnlyTheEntryLayoutIsKnown =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAPackage("io.lightmq.wire..")
                  .and(resideOutsideOfPackages("io.lightmq.wire.entry")));

  private static ArchCondition<JavaClass> holdNothingShared() {
    return new ArchCondition<>("hold no volatile, lock or atomic and synchronise nothing") {
      @Override
      public void check(JavaClass owned, ConditionEvents events) {
        for (JavaField field : owned.getFields()) {
          String type = field.getRawType().getName();
          if (field.getModifiers().contains(JavaModifier.VOLATILE)
              || type.startsWith("java.util.concurrent.atomic.")
              || type.startsWith("java.util.concurrent.locks.")) {
            events.add(SimpleConditionEvent.violated(field, field.getDescription()));
          }
        }
        owned
            .getMethods()
            .forEach(
                method -> {
                  if (method.getModifiers().contains(JavaModifier.SYNCHRONIZED)) {
                    events.add(SimpleConditionEvent.violated(method, method.getDescription()));
                  }
                });
      }
    };
  }
}
