import { apiVersionOf, KIND } from '../../apis/config/v1alpha1/configuration.ts';
import { type Names, SERVER } from './names.ts';
import { INSECURE_PORT, SECURE_PORT } from './workload.ts';

/** Returns the configuration file in the manifests. The file contains only values that differ from the defaults. */
export function configuration(names: Names, plainHttp = true): object {
  return {
    apiVersion: apiVersionOf(names.platform),
    kind: KIND,
    platform: { name: names.platform },
    // Works in any cluster; operators replace it by the public address.
    oauth: { issuer: `https://${SERVER}.${names.namespace}.svc/oauth` },
    listeners: {
      secure: { port: SECURE_PORT.number },
      insecure: plainHttp ? { enabled: true, port: INSECURE_PORT.number } : { enabled: false },
    },
  };
}
