// Loader of the class KubeConfig from @kubernetes/client-node, without the rest of the package.
import { createRequire, registerHooks } from 'node:module';
import type { KubeConfig } from '@kubernetes/client-node';

/** An import of the whole package takes 0.3 s of CPU more at each start, and 70 MB of memory. */
const FILE = '@kubernetes/client-node/dist/config.js';

/**
 * Imports of config.js that this server does not use: the API clients, `fetch` through proxies, and agents. An import of node:http also
 * loads the undici of Node: 30 ms of CPU and 10 MB at each start.
 */
const REPLACED: ReadonlySet<string> = new Set([
  './gen/index.js',
  'undici',
  'node:http',
  'socks',
  'socks-proxy-agent',
]);

/** Returns the class KubeConfig; the first call loads it. */
export function kubeConfigClass(): typeof KubeConfig {
  const require = createRequire(import.meta.url);
  const file = import.meta.resolve(FILE);
  const stub = import.meta.resolve('./client-node-stub.ts');
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      context.parentURL === file && REPLACED.has(specifier) ? next(stub, context) : next(specifier, context),
  });
  try {
    const loaded: { readonly KubeConfig: typeof KubeConfig } = require(FILE);
    return loaded.KubeConfig;
  } finally {
    hooks.deregister();
  }
}
