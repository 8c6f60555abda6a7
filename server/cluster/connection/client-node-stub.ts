// Stub of modules that the package @kubernetes/client-node imports, and that this server does not load.

/** `applyToHTTPSOptions` creates an agent, but the server opens its connections itself: any constructor will do. */
export const SocksProxyAgent = Object;
/** Of node:http. */
export default { Agent: Object };

function notLoaded(): never {
  throw new Error('this part of client-node is not loaded');
}

export const createConfiguration = notLoaded;
export const ServerConfiguration = notLoaded;
export const Agent = notLoaded;
export const ProxyAgent = notLoaded;
export const SocksClient = notLoaded;
