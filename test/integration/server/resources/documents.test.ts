// Tests of the metrics, alerts and health checks in docs/ against a running server.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { provideGoProgram } from '../../../../hack/artifacts/go-programs.ts';
import { grant } from '../../../../hack/extension/registration.ts';
import { labelsByMetric } from '../../../../hack/generate/metrics-table.ts';
import { dashboardExpressions, type KnownMetric, rules, unknownIn } from '../../../support/promql.ts';
import type { Server } from './resource-cluster.ts';
import { sharedServer } from './shared-server.ts';

describe('the documentation and a running server', () => {
  let server: Server;

  before(async () => {
    const { cluster } = await sharedServer();
    await grant(cluster.controlPlane, 9443, AbortSignal.timeout(30_000));
    server = await cluster.serve({
      oauth: {},
      logging: {},
      gateway: { acceleration: true },
      tracing: { endpoint: 'http://127.0.0.1:1' },
    });
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
  });

  it('exports every metric, label and value of the alerts and the dashboard', async () => {
    const { text: body } = await server.admin.ask('/metrics');
    const known = new Map<string, KnownMetric>([['up', { labels: [], text: '' }]]);
    for (const [name, labels] of labelsByMetric()) {
      const lines = body.match(new RegExp(`^(?:# HELP ${name} |${name}[{ ]).*$`, 'gm'));
      if (lines) known.set(name, { labels, text: lines.join('\n') });
    }
    const { expressions, recorded } = await rules();
    for (const name of recorded) known.set(name, { labels: name.split(/[:_]/), text: '' });
    const all = [...expressions, ...(await dashboardExpressions())];
    expect(all.flatMap((expr) => unknownIn(expr, known))).to.deep.equal([]);
  });

  it('exports metrics that promtool accepts, except for names of kube-apiserver and Node.js', async () => {
    const { text: body } = await server.admin.ask('/metrics');
    const signal = AbortSignal.timeout(600_000);
    const promtool = await provideGoProgram('promtool', {
      env: process.env,
      signal,
      progress: () => undefined,
    });
    const { stderr } = spawnSync(promtool, ['check', 'metrics'], { input: body, encoding: 'utf8' });
    expect(stderr.trim().split('\n')).to.have.members([
      'authentication_attempts counter metrics should have "_total" suffix',
      ...['handles', 'requests', 'resources'].map(
        (counted) => `nodejs_active_${counted}_total non-counter metrics should not have "_total" suffix`,
      ),
    ]);
  });

  it('agree on the lines of /readyz?verbose', async () => {
    const { text: body } = await server.admin.ask('/readyz?verbose');
    for (const check of ['informer-sync', 'front-proxy', 'registration', 'shutdown']) {
      expect(body).to.include(`[+]${check} ok`);
    }
    expect(body).to.include('registration.manageCABundle is false');
  });
});
