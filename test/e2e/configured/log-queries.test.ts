// Tests of log queries against VictoriaLogs as the log store.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { array, record, text } from '../../../apis/reading/unknown-value.ts';
import { loadVictoriaLogs } from '../../../hack/log-stores/load-victorialogs.ts';
import type { LogStoreProcess } from '../../../hack/log-stores/log-store.ts';
import { line } from '../../support/logging/log-service.ts';
import { until } from '../../support/until.ts';
import type { Platform } from '../platform.ts';
import { sharedConfigured } from './shared-configured.ts';

const GROUP = 'logging.platform.io/v1alpha2';
const APIS = `/apis/${GROUP}/logs`;
const KAPIS = `/kapis/${GROUP}/logs`;
const TENANT = '/kapis/tenant.platform.io/v1alpha2/logs';

describe('log queries with a real cluster', () => {
  let store: LogStoreProcess;
  let platform: Platform;
  const tokens: Record<string, string> = {};

  const at = (seconds: number): string =>
    `${new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19)}.000000000Z`;

  before(async () => {
    const configured = await sharedConfigured();
    ({ store } = configured);
    ({ platform } = configured.gateway);
    const { url } = store;
    await platform.succeeding('create namespace bank');
    for (const name of ['all', 'shopper', 'nobody']) {
      await platform.succeeding('create serviceaccount', name);
      tokens[name] = (await platform.succeeding('create token', name)).trim();
    }
    await platform.succeeding('create clusterrole log-reader --verb=get --resource=pods/log');
    await platform.bind('log-reader', '--serviceaccount=default:all');
    await platform.bind('log-reader', '--serviceaccount=default:shopper', 'shop');
    for (const name of ['all', 'shopper']) {
      await platform.bind('platform-logs-reader', `--serviceaccount=default:${name}`);
      await platform.permitted('get logs.logging.platform.io', ...as(name));
    }
    await platform.permitted('get pods --subresource=log --all-namespaces', ...as('all'));
    await platform.permitted('get pods --subresource=log --namespace=shop', ...as('shopper'));
    await loadVictoriaLogs(url, [
      line(at(-3_600), 'of an earlier shop'),
      line(at(1), 'of the shop'),
      line(at(1), 'of the bank', { namespace: 'bank' }),
      line(at(1), 'of a deleted namespace', { namespace: 'gone' }),
    ]);
  });

  const as = (caller: string): readonly string[] => ['--as', `system:serviceaccount:default:${caller}`];

  /** Directly to the server. */
  const curl = (
    caller: string | undefined,
    path: string,
    ...args: readonly string[]
  ): Promise<{ status: number; body: string }> =>
    platform.curl(caller === undefined ? undefined : tokens[caller], path, ...args);

  const linesIn = (body: string): string[] =>
    array(record(record(JSON.parse(body))['query'])['records'])
      .map((each) => text(record(each)['log']))
      .sort();

  /** Through kube-apiserver. */
  const raw = (caller: string, path: string) => platform.kubectl('get --raw', path, ...as(caller));

  /** Selects the lines of these tests, of which some are newer than the present. */
  const query = `log_query=of&end_time=${Math.floor(Date.now() / 1000) + 3_600}`;

  it('return the lines of the readable namespaces', async () => {
    for (const path of [TENANT, KAPIS, APIS]) {
      const all = await curl('all', `${path}?${query}`);
      expect(linesIn(all.body), path).to.have.length(4);
      const some = await curl('shopper', `${path}?${query}`);
      expect(linesIn(some.body), path).to.deep.equal(['of the shop']);
      const none = await curl('nobody', `${path}?${query}`);
      expect([none.status, linesIn(none.body)], path).to.deep.equal([200, []]);
      expect((await curl(undefined, path)).status, path).to.be.oneOf([401, 403]);
    }
  });

  it('pass kube-apiserver only with the shipped role', async () => {
    const { code, stdout, stderr } = await raw('shopper', `${APIS}?${query}`);
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    expect(linesIn(stdout)).to.deep.equal(['of the shop']);
    const refused = await raw('nobody', APIS);
    expect(refused.code).not.to.equal(0);
    expect(refused.stderr).to.include('Forbidden');
  });

  it('can be followed through kube-apiserver', async () => {
    const tail = platform.spawnKubectl(`get --raw ${APIS}?follow=true&watch=true&log_query=follow`);
    let seen = '';
    tail.stdout?.on('data', (chunk) => {
      seen += String(chunk);
    });
    // Write repeatedly, because the tail does not return lines from before its start.
    await until(async () => {
      await loadVictoriaLogs(store.url, [
        line(new Date().toISOString().replace('Z', '000000Z'), 'follow me'),
      ]);
      return seen !== '';
    });
    tail.kill();
    expect(seen).to.include('follow me');
  });

  it('show the alternative for removed operations in kubectl', async () => {
    const { stderr } = await platform.kubectl(`get --raw /apis/${GROUP}/namespaces/shop/pods/p`);
    expect(stderr).to.include('removed in release 3.3');
  });

  it('are discovered with `get` only, and do not block the deletion of namespaces', async () => {
    const list = await platform.succeeding(`get --raw /apis/${GROUP}`);
    expect(JSON.parse(list)).to.have.deep.property('resources', [
      { name: 'logs', singularName: 'log', namespaced: false, kind: 'Log', verbs: ['get'] },
    ]);
    expect(await platform.succeeding('api-resources --api-group=logging.platform.io')).to.include('logs');
    await platform.described(GROUP);
    expect(await platform.succeeding('explain logs --api-version', GROUP)).to.include('histogram');
    await platform.succeeding('create namespace short-lived');
    await platform.succeeding('delete namespace short-lived --timeout=120s');
  });

  it('report the health of the store without affecting readiness', async () => {
    const verbose = async (): Promise<string> => (await curl(undefined, '/readyz?verbose')).body;
    expect(await verbose()).to.include('[+]logs ok: the log store victorialogs is available');
    await store.stop();
    const { status, body } = await curl('all', `${KAPIS}?size=1`, '--dump-header', '-');
    expect(status).to.equal(503);
    expect(body).to.match(/^retry-after: \d+/im);
    expect((await curl(undefined, '/readyz')).status).to.equal(200);
    await store.start();
    expect((await curl('all', `${KAPIS}?size=1`)).status).to.equal(200);
  });

  it('end a live tail in order when the server stops', async () => {
    const ca = await platform.write('ca.crt', platform.controlPlane.ca);
    const url = new URL(`${KAPIS}?follow=true`, platform.server.url).href;
    // Without this, curl prints the headers with the first bytes of the body.
    const args = ['--verbose', '--no-buffer', '--cacert', ca, '--config', '-', url];
    const tail = spawn('curl', args, { stdio: 'pipe' });
    tail.stdin.end(`header = "Authorization: Bearer ${tokens['shopper']}"\n`);
    const ended = once(tail, 'close');
    let seen = '';
    for await (const chunk of tail.stderr.iterator({ destroyOnReturn: false })) {
      seen += String(chunk);
      if (seen.includes('< HTTP/1.1 200 OK')) break;
    }
    tail.stderr.resume();
    tail.stdout.resume();
    await platform.restartServer('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
  });
});
