import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** One node with HTTP, in the folder and with the settings (name=value) that the arguments name. */
public final class Main {
  private static final String PARENT = "KS_CONTROL_PLANE_PARENT";

  public static void main(String[] arguments) throws Exception {
    endWithParent();
    Path home = Path.of(arguments[0]).toAbsolutePath();
    for (String folder : List.of("config", "plugins", "modules")) {
      Files.createDirectories(home.resolve(folder));
    }
    Map<String, String> settings = new LinkedHashMap<>(Map.of("path.home", home.toString()));
    for (int index = 1; index < arguments.length; index++) {
      String[] pair = arguments[index].split("=", 2);
      settings.put(pair[0], pair[1]);
    }
    Closeable node = StoreNode.start(home.resolve("config"), settings);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
    new CountDownLatch(1).await(); // until a signal: the threads of the node are daemons
  }

  private static void close(Closeable node) {
    try {
      node.close();
    } catch (IOException error) {
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
