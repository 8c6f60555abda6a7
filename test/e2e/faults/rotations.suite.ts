// Tests of rotated certificates and tokens under load: no request may fail.
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { CertificateAuthority } from '../../../hack/control-plane/certificate-authority.ts';
import { Client } from '../../../hack/control-plane/client.ts';
import { fault } from '../../support/faults.ts';
import { until } from '../../support/until.ts';
import { openTLS, rawRequest } from '../gateway/raw-request.ts';
import { type FaultPlatform, NODES } from './fault-platform.ts';

/** Time between two requests of a client, so that the load leaves time for the rotation. */
const PACE_MS = 20;
const CONFIG_MAP = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

export function describeRotations(subject: () => FaultPlatform): void {
  describe('under load', function () {
    // kube-apiserver reads its files only once a minute if the inotify instances of the machine are used up.
    this.timeout(300_000);
    const load = new AbortController();
    const failures: string[] = [];
    let platform: FaultPlatform;
    let served = 0;
    let clients: Promise<void>[] = [];

    before(() => {
      platform = subject();
      const { controlPlane } = platform.platform;
      const { ca, faulty, main, token } = platform;
      const repeat = async (title: string, expected: number, send: () => Promise<number>): Promise<void> => {
        while (!load.signal.aborted) {
          const status = await send().catch((error: unknown) => error);
          if (status === expected) served++;
          else failures.push(`${title}: ${String(status)}`);
          await delay(PACE_MS);
        }
      };
      let name = 0;
      clients = [
        repeat('through kube-apiserver', 200, async () => (await controlPlane.client.send(NODES)).status),
        repeat('on a new connection', 200, async () => {
          using client = new Client(main.server.url, { ca });
          return (await client.send(NODES, { token })).status;
        }),
        // A SubjectAccessReview each, because the name is new.
        repeat('with a new name', 404, () => faulty.status(`${NODES}/none-${name++}`, token)),
      ];
    });
    after(async () => {
      load.abort();
      await Promise.all(clients);
    });

    async function expectNoFailure(): Promise<void> {
      const enough = served + 100;
      await until(() => served >= enough || failures.length > 0);
      expect(failures.splice(0)).to.deep.equal([]);
    }

    fault('the serving certificate is rotated under load', async () => {
      const { ca, main } = platform;
      const served = async (): Promise<string> => {
        const socket = await openTLS({ port: main.port, ca });
        const { fingerprint256 } = socket.getPeerCertificate();
        socket.destroy();
        return fingerprint256;
      };
      const former = await served();
      await platform.platform.rotateServingCertificate();
      await until(async () => (await served()) !== former);
      await expectNoFailure();
    });

    fault('the front-proxy CA is rotated under load', async () => {
      const { ca, main } = platform;
      const { client, pki, ports } = platform.platform.controlPlane;
      const authority = await CertificateAuthority.create('next front proxy CA');
      const next = await authority.issueClient({ cn: 'next-front-proxy' });
      const asRita = async (pair: typeof next, port = main.port): Promise<number> => {
        const lines = [`GET ${NODES} HTTP/1.1`, 'X-Remote-User: rita', 'X-Remote-Group: system:masters'];
        return (await rawRequest({ port, ca, ...pair }, lines)).status;
      };
      const former = pki.frontProxyClient;
      expect([await asRita(former), await asRita(next)]).to.deep.equal([200, 401]);
      const { frontProxyCa, frontProxyClient } = pki.files;
      await writeFile(frontProxyCa, `${await readFile(frontProxyCa, 'utf8')}\n${authority.cert}`);
      await until(async () => (await asRita(next)) === 200);
      const lastAccepted = (name: string): Promise<void> =>
        until(async () =>
          (await main.client.send('/readyz?verbose')).body.includes(`last accepted: "${name}"`),
        );
      await lastAccepted('front-proxy-client');
      await writeFile(frontProxyClient.key, next.key);
      await writeFile(frontProxyClient.cert, next.cert);
      await lastAccepted('next-front-proxy');
      expect([await asRita(former), await asRita(next)]).to.deep.equal([200, 200]);
      await writeFile(frontProxyCa, authority.cert);
      await until(async () => (await asRita(former, ports.apiserver)) === 401);
      // kube-apiserver keeps former CAs in the ConfigMap until it creates the ConfigMap again.
      await client.expect(CONFIG_MAP, { method: 'DELETE' }, [200]);
      await until(async () => (await asRita(former)) === 401);
      await expectNoFailure();
    });

    fault('the ServiceAccount token of the server is rotated under load', async () => {
      const former = await platform.rotateServerToken();
      using client = new Client(platform.platform.controlPlane.url, { ca: platform.ca });
      // kube-apiserver caches accepted tokens for ten seconds.
      await until(async () => (await client.send('/api', { token: former })).status === 401);
      await expectNoFailure();
    });
  });
}
