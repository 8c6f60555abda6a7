import type { Names } from './names.ts';
import { INSECURE_PORT, SECURE_PORT } from './workload.ts';

/**
 * The configuration file of an installation: what the manifests decide, all else by default.
 * A test has the server's own loader read it.
 */
export function configuration(names: Names): object {
  return {
    apiVersion: 'config.platform.io/v1alpha1',
    kind: 'APIServerConfiguration',
    platform: { name: names.platform },
    listeners: {
      secure: { port: SECURE_PORT.number },
      insecure: { enabled: true, port: INSECURE_PORT.number },
    },
  };
}
