// Stub of modules that the package @kubernetes/client-node imports, and that this server does not load.

/** `applyToHTTPSOptions` creates an agent, but the server opens its connections itself. */
class UnusedAgent {}

/** Of node:http. */
export default { Agent: UnusedAgent };
export { UnusedAgent as SocksProxyAgent };

function notLoaded(): never {
  throw new Error('this part of client-node is not loaded');
}

export const createConfiguration = notLoaded;
export const ServerConfiguration = notLoaded;
export const Agent = notLoaded;
export const ProxyAgent = notLoaded;
export const SocksClient = notLoaded;
