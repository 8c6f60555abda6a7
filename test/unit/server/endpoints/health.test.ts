// Tests of the handlers of /livez, /readyz and /healthz.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import {
  collectHealthMetrics,
  type HealthCheck,
  HealthCheckError,
  HealthRegistry,
  healthRouter,
} from '../../../../server/endpoints/health.ts';
import type { Handler } from '../../../../server/request/request-context.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { routed } from '../../../support/routed.ts';

const ping: HealthCheck = { name: 'ping', check: () => undefined };
const cache: HealthCheck = { name: 'cache', check: () => '5000 nodes' };
const failing = (name: string, error: Error): HealthCheck => ({
  name,
  check: () => {
    throw error;
  },
});
const broken = failing('cluster', new Error('token s3cret refused'));
const FLAG = 'kube-apiserver runs without --requestheader-client-ca-file';
const explained = failing('front-proxy', new HealthCheckError(FLAG));

const readyz = (...checks: HealthCheck[]) => routed(healthRouter([new HealthRegistry('readyz', checks)]));

async function serve(handler: Handler, target: string, method = 'GET') {
  await using server = await new HandlerServer(handler).start();
  const { body, ...answer } = await server.ask(target, { method });
  return { ...answer, text: body.toString(), lines: server.lines };
}

describe('healthRouter', () => {
  it('rejects methods other than GET and HEAD', async () => {
    expect(await serve(readyz(ping), '/readyz', 'HEAD')).to.include({ status: 200, text: '' });
    expect((await serve(readyz(ping), '/readyz', 'POST')).status).to.equal(405);
  });

  it('lists checks with their texts with ?verbose', async () => {
    const { text } = await serve(readyz(ping, cache), '/readyz?verbose');
    expect(text).to.equal('[+]ping ok\n[+]cache ok: 5000 nodes\nreadyz check passed\n');
  });

  it('returns 500 and all checks when one fails, and logs the withheld reason', async () => {
    const { status, text, lines } = await serve(readyz(ping, broken), '/readyz');
    expect(status).to.equal(500);
    expect(text).to.equal('[+]ping ok\n[-]cluster failed: reason withheld\nreadyz check failed\n');
    expect(lines.join()).to.contain('health check failed').and.contain('s3cret');
  });

  it('logs a failure once per reason, and the recovery', async () => {
    const failures = [new Error('first'), new Error('first'), new Error('second'), undefined, undefined];
    const handler = readyz({
      name: 'cluster',
      check: () => {
        const failure = failures.shift();
        if (failure) throw failure;
      },
    });
    const logged: unknown[] = [];
    while (failures.length > 0) {
      const { lines } = await serve(handler, '/readyz');
      logged.push(lines.map((line) => (JSON.parse(line) as { msg: unknown }).msg));
    }
    const failed = ['health check failed'];
    expect(logged).to.deep.equal([failed, [], failed, ['health check passes again'], []]);
  });

  it('returns a public reason, and logs it without a stack', async () => {
    const { text, lines } = await serve(readyz(explained), '/readyz?verbose');
    expect(lines.join()).to.contain(FLAG).and.not.contain('stack');
    expect(text).to.contain(`[-]front-proxy failed: ${FLAG}\n`);
  });

  it('omits excluded checks, and warns about unknown ones', async () => {
    const handler = readyz(ping, broken);
    expect((await serve(handler, '/readyz?exclude=cluster')).text).to.equal('ok');
    const { text } = await serve(handler, '/readyz?verbose&exclude=cluster&exclude=nothing');
    expect(text).to.equal(
      '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "nothing"\nreadyz check passed\n',
    );
  });

  it('serves a single check', async () => {
    const handler = readyz(ping, broken);
    expect((await serve(handler, '/readyz/ping')).text).to.equal('ok');
    expect((await serve(handler, '/readyz/cluster')).status).to.equal(500);
    expect((await serve(handler, '/readyz/nothing')).status).to.equal(404);
  });
});

it('collectHealthMetrics exports the current result of each check', async () => {
  const metrics = new Registry();
  collectHealthMetrics(metrics, [
    new HealthRegistry('livez', [ping]),
    new HealthRegistry('readyz', [broken]),
  ]);
  const text = await metrics.metrics();
  expect(text).to.include('kubernetes_healthcheck{name="ping",type="livez"} 1\n');
  expect(text).to.include('kubernetes_healthcheck{name="cluster",type="readyz"} 0\n');
});
