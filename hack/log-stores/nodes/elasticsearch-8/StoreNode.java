import java.io.Closeable;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/** Elasticsearch 8, with the modules that lie beside the folder of this class. */
final class StoreNode {
  static Closeable start(Path config, Map<String, String> settings) throws Exception {
    LogConfigurator.registerErrorListener();
    LogConfigurator.configureESLogging();
    Settings.Builder given = Settings.builder();
    settings.forEach(given::put);
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(
            given.build(), Map.of(), config, () -> "node");
    LogConfigurator.configureWithoutConfig(environment.settings());
    Path classes =
        Path.of(StoreNode.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    PluginsLoader loader =
        PluginsLoader.createPluginsLoader(
            PluginsLoader.loadModulesBundles(classes.resolveSibling("modules")),
            Set.of(),
            Map.of(),
            false); // the server is no Java module here
    return new Node(environment, loader).start();
  }
}
