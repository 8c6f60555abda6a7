// Resolves imports of the client library in modules of the page `/explore` as the import map of the page does.
import { registerHooks } from 'node:module';

const CLIENT = new URL('../../client/index.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'ks-apiserver-client' ? CLIENT : specifier, context),
});
