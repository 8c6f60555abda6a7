// Stub that replaces the modules of the package @kubernetes/client-node that client-node.ts does not load. Every
// function of the stub throws an error.

function notLoaded(): never {
  throw new Error('this part of client-node is not loaded');
}

export const createConfiguration = notLoaded;
export const ServerConfiguration = notLoaded;
export const Agent = notLoaded;
export const ProxyAgent = notLoaded;
