import java.io.Closeable;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.opensearch.Version;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.index.mapper.MapperExtrasModulePlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.PluginInfo;
import org.opensearch.transport.Netty4ModulePlugin;

/**
 * OpenSearch 3. Without the analyzers of its module analysis-common: one of them needs the Thai words of Java, which not
 * every Java has, and no index can be made then.
 */
final class StoreNode {
  /** The constructor that takes plugins from the class path is open to subclasses only. */
  private static final class ClasspathNode extends Node {
    ClasspathNode(Environment environment, Collection<PluginInfo> plugins) {
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
    List<PluginInfo> plugins =
        List.of(described(Netty4ModulePlugin.class), described(MapperExtrasModulePlugin.class));
    return new ClasspathNode(environment, plugins).start();
  }

  private static PluginInfo described(Class<? extends Plugin> plugin) {
    String name = plugin.getName();
    return new PluginInfo(
        name, name, "NA", Version.CURRENT, "21", name, null, List.of(), false);
  }
}
