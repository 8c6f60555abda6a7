// Tests of authentication after a restart of kube-apiserver with other CAs.
import { writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { expect } from 'chai';
import { CertificateAuthority } from '../../../../hack/control-plane/certificate-authority.ts';
import { FRONT_PROXY_NAME } from '../../../../hack/control-plane/pki.ts';
import { type GuardedCluster, NODES } from './guarded-cluster.ts';

const CONFIG_MAP = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const RITA = ['X-Remote-User', 'rita', 'X-Remote-Group', 'readers'];

export function describeCARotation(cluster: () => GuardedCluster): void {
  describe('a kube-apiserver that restarts with other CAs', () => {
    let agent: Agent;

    before(() => {
      agent = new Agent({ keepAlive: true, maxSockets: 1 });
    });
    after(() => agent.destroy());

    it('is trusted at once, and its old front proxy until the ConfigMap is deleted', async () => {
      const { apiserver, client, dir, pki } = cluster().controlPlane;
      const ca = await CertificateAuthority.create('next front proxy CA');
      const next = await ca.issueClient({ cn: FRONT_PROXY_NAME });
      const file = async (name: string, text: string): Promise<string> => {
        const path = join(dir, name);
        await writeFile(path, text, { mode: 0o600 });
        return path;
      };
      const ask = async (pair: typeof next): Promise<number> =>
        (await cluster().ask(NODES, { pair, headers: RITA, ...(pair === next ? {} : { agent }) })).status;
      const trusted = (): number => cluster().authenticators.settings.current()?.frontProxy?.cas.length ?? 0;
      const former = pki.frontProxyClient;
      expect([await ask(former), await ask(next)]).to.deep.equal([200, 401]);

      const restarted = apiserver.restart({
        extraFlags: [
          `--requestheader-client-ca-file=${await file('next-ca.crt', ca.cert)}`,
          `--proxy-client-cert-file=${await file('next.crt', next.cert)}`,
          `--proxy-client-key-file=${await file('next.key', next.key)}`,
        ],
      });
      while (trusted() !== 2) await cluster().nextSettings();
      await restarted;
      expect([await ask(former), await ask(next)]).to.deep.equal([200, 200]);

      await client.expect(CONFIG_MAP, { method: 'DELETE' }, [200]);
      while (trusted() !== 1) await cluster().nextSettings();
      expect([await ask(former), await ask(next)]).to.deep.equal([401, 200]);
    });
  });
}
