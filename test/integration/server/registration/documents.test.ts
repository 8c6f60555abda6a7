// Tests of the metrics and health checks in docs/ against a running server.
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { freePort } from '../../../../hack/system/ports.ts';
import { completeConfig } from '../../../../server/config.ts';
import { readEnvironment } from '../../../../server/environment.ts';
import { run } from '../../../../server/server.ts';
import { type RegisteredCluster, ROOT, startCluster } from './registered-cluster.ts';

describe('the documentation and a running server', function () {
  this.timeout(120_000);
  let cluster: RegisteredCluster;
  let ask: (path: string) => Promise<string>;
  const stop = new AbortController();
  let ended: Promise<void> = Promise.resolve();

  before(async () => {
    cluster = await startCluster();
    const { controlPlane } = cluster;
    const port = await freePort();
    const file = join(controlPlane.dir, 'configuration.yaml');
    const configuration = {
      apiVersion: 'config.platform.io/v1alpha1',
      kind: 'APIServerConfiguration',
      listeners: { secure: { address: '127.0.0.1', port }, insecure: { enabled: false } },
      kubernetes: { kubeconfig: controlPlane.kubeconfig },
      registration: { manageCABundle: false },
      shutdown: { readinessDelay: '0s' },
      log: { level: 'error' },
    };
    await writeFile(file, stringify(configuration));
    const environment = readEnvironment({}, 'test');
    const sources = { config: file, overrides: [], environment, workingDirectory: controlPlane.dir };
    ended = run(await completeConfig(sources), stop.signal);
    const { cert, key } = await controlPlane.pki.issueClient({ cn: 'documents', o: ['system:masters'] });
    ask = (path) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const options = { host: '127.0.0.1', port, path, cert, key, rejectUnauthorized: false, agent: false };
      const sent = request(options, (answer) => {
        textOf(answer).then((body) => resolve(`${answer.statusCode}\n${body}`), reject);
      });
      sent.once('error', reject).end();
      return promise;
    };
    let ready = '';
    const end = performance.now() + 60_000;
    while (!ready.startsWith('200') && performance.now() < end)
      // The custom resources of the authorization server are not installed in this cluster, but its metrics exist.
      ready = await ask('/readyz?verbose&exclude=oauth').catch(String);
    expect(ready).to.match(/^200/);
  });

  after(async () => {
    stop.abort();
    await ended;
    await cluster?.stop();
  });

  it('lists exactly the reported metrics', async () => {
    const body = await ask('/metrics');
    expect(body).to.match(/^200/);
    const reported = [...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
    const own = reported.filter((name) => !/^(process|nodejs)_/.test(name));
    const text = await readFile(join(ROOT, 'docs/metrics.md'), 'utf8');
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
    const body = await ask('/readyz?verbose');
    for (const check of ['informer-sync', 'front-proxy', 'registration', 'shutdown']) {
      expect(body).to.include(`[+]${check} ok`);
    }
    expect(body).to.include('registration.manageCABundle is false');
  });
});
