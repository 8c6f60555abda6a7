// Tests of the metrics and health checks in docs/ against a running server. lifecycle.test.ts runs the tests.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { grant } from '../../../../hack/extension/registration.ts';
import type { ResourceCluster, Server } from './resource-cluster.ts';

export function describeDocuments(subject: () => { cluster: ResourceCluster }): void {
  describe('the documentation and a running server', () => {
    let server: Server;

    before(async () => {
      const { cluster } = subject();
      await grant(cluster.controlPlane, 9443, AbortSignal.timeout(30_000));
      server = await cluster.serve({ oauth: {}, logging: {} });
    });

    after(() => server?.stop());

    it('lists exactly the reported metrics', async () => {
      const { text: body } = await server.admin.ask('/metrics');
      const reported = [...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
      const own = reported.filter((name) => !/^(process|nodejs)_/.test(name));
      const text = await readFile('docs/metrics.md', 'utf8');
      const [table = ''] = /<!-- generated[\s\S]*<!-- end/.exec(text) ?? [];
      const named = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name);
      expect(own).to.have.members(named);
      const [, alerts = ''] = text.split(/^## Alerts$/m);
      const [conditions = ''] = alerts.split(/^## /m);
      const alerted = [...conditions.matchAll(/(?:`|rate\()([a-z]+_\w+)/g)].map(([, name = '']) => name);
      expect(alerted).to.include.members(['cache_synced', 'apiserver_request_total']);
      expect(reported).to.include.members(alerted);
    });

    it('agree on the lines of /readyz?verbose', async () => {
      const { text: body } = await server.admin.ask('/readyz?verbose');
      for (const check of ['informer-sync', 'front-proxy', 'registration', 'shutdown']) {
        expect(body).to.include(`[+]${check} ok`);
      }
      expect(body).to.include('registration.manageCABundle is false');
    });
  });
}
