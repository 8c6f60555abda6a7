// The gateway of all tests in this folder: its configuration has VictoriaLogs, further OAuth clients and the origin of a
// console.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startVictoriaLogs } from '../../../hack/log-stores/victorialogs.ts';
import { shareEnvironment } from '../../support/shared-environment.ts';
import { GatewayPlatform } from '../gateway/gateway-platform.ts';
import { ConsoleSite } from './console-site.ts';

/** A client whose ID tokens kube-apiserver accepts. */
export const CLIENT = 'kubectl';
/** A client whose ID tokens kube-apiserver does not accept. */
export const OTHER_CLIENT = 'other';

/** Clients of kubelogin in the configuration of the server. */
const KUBELOGIN_CLIENTS = [CLIENT, OTHER_CLIENT].map((id) => ({
  id,
  public: true,
  grants: ['password', 'refresh_token', 'authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
  redirectURIs: ['http://localhost'],
}));

export const sharedConfigured = shareEnvironment(async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ks-apiserver-logs-'));
  const end = new AbortController();
  const site = await ConsoleSite.start();
  const store = await startVictoriaLogs({ dir: join(dir, 'victorialogs'), signal: end.signal });
  const configuration = {
    logging: { store: 'victorialogs', victorialogs: { url: store.url } },
    cors: { allowedOrigins: [site.origin] },
    oauth: { clients: [site.client, ...KUBELOGIN_CLIENTS] },
    shutdown: { readinessDelay: '0s' },
  };
  const gateway = await GatewayPlatform.start({ configure: async () => configuration, idTokensOf: [CLIENT] });
  site.server = gateway.platform.server.url;
  const stop = async (): Promise<void> => {
    await gateway.stop();
    end.abort();
    await store.stop();
    site.stop();
    await rm(dir, { recursive: true, force: true });
  };
  return { gateway, store, site, stop };
});
