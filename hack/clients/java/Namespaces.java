// Lists the namespaces with fabric8, with the configuration that it finds by itself, such as KUBECONFIG.
import io.fabric8.kubernetes.client.KubernetesClientBuilder;

class Namespaces {
  public static void main(String[] args) {
    try (var client = new KubernetesClientBuilder().build()) {
      for (var namespace : client.namespaces().list().getItems()) {
        System.out.println(namespace.getMetadata().getName());
      }
    }
  }
}
