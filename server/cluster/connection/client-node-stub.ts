// Stands in for the parts of client-node that client-node.ts leaves out. Code that needs one imports the whole package.

function notLoaded(): never {
  throw new Error('this part of client-node is not loaded');
}

export const createConfiguration = notLoaded;
export const ServerConfiguration = notLoaded;
export const Agent = notLoaded;
export const ProxyAgent = notLoaded;
