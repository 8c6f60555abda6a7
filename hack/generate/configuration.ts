import { apiVersionOf, KIND } from '../../apis/config/v1alpha1/configuration.ts';
import { type Names, SERVER } from './names.ts';
import { INSECURE_PORT, SECURE_PORT } from './workload.ts';

/**
 * The configuration file of an installation: what the manifests decide, all else by default.
 * A test has the server's own loader read it.
 */
export function configuration(names: Names, plainHttp = true): object {
  return {
    apiVersion: apiVersionOf(names.platform),
    kind: KIND,
    platform: { name: names.platform, namespace: names.namespace, service: SERVER },
    // The address that works in any cluster; whoever exposes the server replaces it.
    oauth: { issuer: `https://${SERVER}.${names.namespace}.svc/oauth` },
    listeners: {
      secure: { port: SECURE_PORT.number },
      insecure: plainHttp ? { enabled: true, port: INSECURE_PORT.number } : { enabled: false },
    },
  };
}
