// Tests of log queries, kubelogin and a console in a browser. They share one server: its configuration has VictoriaLogs,
// further OAuth clients and the origin of the console.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogStoreProcess } from '../../../hack/log-stores/log-store.ts';
import { startVictoriaLogs } from '../../../hack/log-stores/victorialogs.ts';
import { CLIENT, describeKubelogin, KUBELOGIN_CLIENTS } from '../kubelogin.ts';
import { describeLogQueries } from '../log-queries.ts';
import { ConsoleSite, describeBrowserConsole } from './browser-console.ts';
import { GatewayPlatform } from './gateway-platform.ts';

describe('a configured platform', function () {
  this.timeout(300_000);
  let dir: string;
  let site: ConsoleSite;
  let store: LogStoreProcess;
  let gateway: GatewayPlatform;
  const end = new AbortController();

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'ks-apiserver-logs-'));
    site = await ConsoleSite.start();
    store = await startVictoriaLogs({ dir: join(dir, 'victorialogs'), signal: end.signal });
    const configuration = {
      logging: { store: 'victorialogs', victorialogs: { url: store.url } },
      cors: { allowedOrigins: [site.origin] },
      oauth: { clients: [site.client, ...KUBELOGIN_CLIENTS] },
      shutdown: { readinessDelay: '0s' },
    };
    gateway = await GatewayPlatform.start({ configure: async () => configuration, idTokensOf: [CLIENT] });
    site.server = gateway.platform.server.url;
  });

  after(async () => {
    await gateway?.stop();
    end.abort();
    await store?.stop();
    site?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  // First, because it expects no other lines.
  describeLogQueries(() => ({ platform: gateway.platform, store }));
  describeKubelogin(() => gateway.platform);
  describeBrowserConsole(() => ({ gateway, store, site }));
});
