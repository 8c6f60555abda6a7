import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** One OpenSearch node with HTTP, in the folder and with the settings (name=value) that the arguments name. */
public final class OpenSearchNode {
  private static final String PARENT = "KS_CONTROL_PLANE_PARENT";
  private static final List<Class<? extends Plugin>> PLUGINS =
      List.of(Netty4Plugin.class, CommonAnalysisPlugin.class, MapperExtrasPlugin.class);

  /** The constructor that takes plugins from the class path is open to subclasses only. */
  private static final class ClasspathNode extends Node {
    ClasspathNode(Environment environment, Collection<Class<? extends Plugin>> plugins) {
      super(environment, plugins, false);
    }
  }

  public static void main(String[] arguments) throws Exception {
    endWithParent();
    Path home = Path.of(arguments[0]).toAbsolutePath();
    for (String folder : List.of("config", "plugins", "modules")) {
      Files.createDirectories(home.resolve(folder));
    }
    Settings.Builder settings = Settings.builder().put("path.home", home);
    for (int index = 1; index < arguments.length; index++) {
      String[] pair = arguments[index].split("=", 2);
      settings.put(pair[0], pair[1]);
    }
    LogConfigurator.registerErrorListener();
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(
            settings.build(), Map.of(), home.resolve("config"), () -> "node");
    LogConfigurator.configureWithoutConfig(environment.settings());
    Node node = new ClasspathNode(environment, PLUGINS);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
    node.start();
    new CountDownLatch(1).await(); // until a signal: the threads of the node are daemons
  }

  private static void close(Node node) {
    try {
      node.close();
    } catch (Exception error) {
      error.printStackTrace();
    }
  }

  /** A process that nobody can stop any more must not stay. */
  private static void endWithParent() {
    String expected = System.getenv(PARENT);
    if (expected == null) {
      return;
    }
    Thread watch =
        new Thread(
            () -> {
              try {
                while (parent().equals(expected)) {
                  Thread.sleep(200); // ProcessHandle.onExit would look every five seconds
                }
              } catch (InterruptedException end) {
                // Nobody interrupts it; and if so, the node had better not stay.
              }
              Runtime.getRuntime().halt(1);
            },
            "end with parent");
    watch.setDaemon(true);
    watch.start();
  }

  private static String parent() {
    return ProcessHandle.current().parent().map(handle -> Long.toString(handle.pid())).orElse("");
  }
}
