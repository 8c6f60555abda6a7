// Loader of the class KubeConfig from @kubernetes/client-node, without the rest of the package.
import { createRequire, registerHooks } from 'node:module';
import type { KubeConfig } from '@kubernetes/client-node';

/** An import of the whole package takes 0.3 s of CPU more at each start, and 70 MB of memory. */
const FILE = '@kubernetes/client-node/dist/config.js';

/** Imports of config.js that this server never calls: the API clients, and `fetch` through proxies. */
const EXCLUDED: ReadonlySet<string> = new Set(['./gen/index.js', 'undici']);

/** Returns the class KubeConfig; the first call loads it. */
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
