import java.io.Closeable;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.security.OpenSearchSecurityPlugin;
import org.opensearch.transport.Netty4Plugin;

/** OpenSearch 2 with its security plugin. */
final class StoreNode {
  private static final List<Class<? extends Plugin>> PLUGINS =
      List.of(
          Netty4Plugin.class,
          CommonAnalysisPlugin.class,
          MapperExtrasPlugin.class,
          OpenSearchSecurityPlugin.class);

  /** The constructor that takes plugins from the class path is open to subclasses only. */
  private static final class ClasspathNode extends Node {
    ClasspathNode(Environment environment, Collection<Class<? extends Plugin>> plugins) {
      super(environment, plugins, false);
    }
  }

  static Closeable start(Path config, Map<String, String> settings) throws Exception {
    LogConfigurator.registerErrorListener();
    Settings.Builder given = Settings.builder();
    settings.forEach(given::put);
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(
            given.build(), Map.of(), config, () -> "node");
    LogConfigurator.configureWithoutConfig(environment.settings());
    return new ClasspathNode(environment, PLUGINS).start();
  }
}
