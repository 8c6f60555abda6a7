// Stub of modules from the package @kubernetes/client-node that this server does not load. Every function throws an
// error.

function notLoaded(): never {
  throw new Error('this part of client-node is not loaded');
}

export const createConfiguration = notLoaded;
export const ServerConfiguration = notLoaded;
export const Agent = notLoaded;
export const ProxyAgent = notLoaded;
