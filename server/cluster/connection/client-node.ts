// client-node's KubeConfig without the rest of client-node. The package is one module: whoever imports any of it loads
// the models and clients of all APIs of Kubernetes, half a second of CPU at each start and 50 MB for as long as the
// server runs, of which nothing is used here.
import { createRequire, registerHooks } from 'node:module';
import type { KubeConfig } from '@kubernetes/client-node';

const FILE = '@kubernetes/client-node/dist/config.js';

/** What that file imports for functions that nobody calls here: clients of the APIs, and `fetch` through proxies. */
const LEFT_OUT: ReadonlySet<string> = new Set(['./gen/index.js', 'undici']);

/** Loads it when it is first asked for. */
export function kubeConfigClass(): typeof KubeConfig {
  const require = createRequire(import.meta.url);
  const file = import.meta.resolve(FILE);
  const instead = import.meta.resolve('./client-node-stub.ts');
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      context.parentURL === file && LEFT_OUT.has(specifier)
        ? next(instead, context)
        : next(specifier, context),
  });
  try {
    const loaded: { readonly KubeConfig: typeof KubeConfig } = require(FILE);
    return loaded.KubeConfig;
  } finally {
    hooks.deregister();
  }
}
