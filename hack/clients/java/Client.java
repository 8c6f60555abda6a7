// Runs the Java client fabric8 against one address, and prints what it received. Arguments: KUBECONFIG NAMESPACE POD CONTAINER
// NAME, of which the last one names objects and a Lease.
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

class Client {
  static KubernetesClient client;
  static String namespace, pod, container, name;

  public static void main(String[] args) throws Exception {
    namespace = args[1];
    pod = args[2];
    container = args[3];
    name = args[4];
    client = new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(new File(args[0]))).build();
    try (var opened = client) {
      System.out.println("pods: " + client.pods().inNamespace(namespace).list().getItems().size());
      System.out.println("aggregated nodes: " + nodes());
      System.out.println("informer: " + informs());
      System.out.println("apply: " + applies());
      System.out.println("exec: " + execs());
      System.out.println("log: " + follows());
      System.out.println("port-forward: " + forwards());
      System.out.println("leader: " + leads());
    }
  }

  static int nodes() {
    var kind = new ResourceDefinitionContext.Builder().withGroup("resources.platform.io").withVersion("v1alpha3")
        .withKind("Node").withPlural("nodes").withNamespaced(false).build();
    return client.genericKubernetesResources(kind).list().getItems().size();
  }

  /** fabric8 watches with WebSockets. */
  static String informs() throws Exception {
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    var selected = client.configMaps().inNamespace(namespace).withLabel("of", name);
    try (var informer = selected.inform(new ResourceEventHandler<ConfigMap>() {
      public void onAdd(ConfigMap object) { seen.add("added " + object.getData()); }
      public void onUpdate(ConfigMap before, ConfigMap object) { seen.add("updated " + object.getData()); }
      public void onDelete(ConfigMap object, boolean unknown) { seen.add("deleted"); }
    })) {
      var made = client.resource(scratch("a", "1")).create();
      var added = next(seen);
      client.resource(made).edit(object -> { object.setData(Map.of("a", "2")); return object; });
      var updated = next(seen);
      client.resource(made).delete();
      return added + ", " + updated + ", " + next(seen);
    }
  }

  static String applies() {
    var applied = client.resource(scratch("b", "3")).serverSideApply().getData();
    client.configMaps().inNamespace(namespace).withName(name).delete();
    try {
      client.configMaps().inNamespace(namespace).resource(scratch("b", "3")).replace();
      return "replaced";
    } catch (KubernetesClientException error) {
      return applied + ", then " + error.getStatus().getReason();
    }
  }

  static String execs() throws Exception {
    var output = new ByteArrayOutputStream();
    try (var exec = client.pods().inNamespace(namespace).withName(pod).inContainer(container)
        .redirectingInput().writingOutput(output).exec("sh", "-c", "head -n 1")) {
      exec.getInput().write("the input\n".getBytes());
      exec.getInput().flush();
      return exec.exitCode().get(60, TimeUnit.SECONDS) + " " + output.toString().trim();
    }
  }

  static String follows() throws Exception {
    try (var watch = client.pods().inNamespace(namespace).withName(pod).inContainer(container).watchLog()) {
      return new java.io.BufferedReader(new java.io.InputStreamReader(watch.getOutput())).readLine();
    }
  }

  static String forwards() throws Exception {
    try (var forward = client.pods().inNamespace(namespace).withName(pod).portForward(8080);
        var socket = new Socket("127.0.0.1", forward.getLocalPort())) {
      socket.getOutputStream().write("through a port".getBytes());
      return new String(socket.getInputStream().readNBytes(14));
    }
  }

  static String leads() throws Exception {
    var leading = new CountDownLatch(1);
    var callbacks = new LeaderCallbacks(leading::countDown, () -> {}, leader -> {});
    var election = client.leaderElector().withConfig(new LeaderElectionConfigBuilder()
        .withName(name).withLock(new LeaseLock(namespace, name, "java")).withReleaseOnCancel()
        .withLeaseDuration(Duration.ofSeconds(15)).withRenewDeadline(Duration.ofSeconds(10))
        .withRetryPeriod(Duration.ofSeconds(2)).withLeaderCallbacks(callbacks).build()).build();
    var running = election.start();
    var elected = leading.await(60, TimeUnit.SECONDS);
    running.cancel(true);
    return String.valueOf(elected);
  }

  static ConfigMap scratch(String key, String value) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(namespace)
        .addToLabels("of", name).endMetadata().addToData(key, value).build();
  }

  static String next(BlockingQueue<String> seen) throws InterruptedException {
    return seen.poll(60, TimeUnit.SECONDS);
  }
}
