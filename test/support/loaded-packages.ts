// Preload module that reports which packages of node_modules the process has loaded.
import { registerHooks } from 'node:module';

const packages = new Set<string>();

registerHooks({
  load: (url, context, next) => {
    const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
    if (name !== undefined) packages.add(name);
    return next(url, context);
  },
});

process.on('message', (message) => {
  if (message === 'loaded-packages') process.send?.([...packages]);
});
// The channel must not keep the server alive.
process.channel?.unref();
