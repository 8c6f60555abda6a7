// Loads client-node's KubeConfig without the rest of client-node. The package is one module: importing any of it
// loads the models and clients of all Kubernetes APIs, half a second of CPU at each start and 50 MB of memory.
import { createRequire, registerHooks } from 'node:module';
import type { KubeConfig } from '@kubernetes/client-node';

const FILE = '@kubernetes/client-node/dist/config.js';

/** Imports of config.js that this server never calls: API clients, and `fetch` through proxies. */
const EXCLUDED: ReadonlySet<string> = new Set(['./gen/index.js', 'undici']);

/** Loads the class at the first call. */
export function kubeConfigClass(): typeof KubeConfig {
  const require = createRequire(import.meta.url);
  const file = import.meta.resolve(FILE);
  const stub = import.meta.resolve('./client-node-stub.ts');
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      context.parentURL === file && EXCLUDED.has(specifier) ? next(stub, context) : next(specifier, context),
  });
  try {
    const loaded: { readonly KubeConfig: typeof KubeConfig } = require(FILE);
    return loaded.KubeConfig;
  } finally {
    hooks.deregister();
  }
}
