// Tests of the log of the trust check.
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { record } from '../../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../../../server/cluster/connection/client.ts';
import { type CheckToken, TrustCheck } from '../../../../server/gateway/trust-check.ts';
import { UpstreamResponse } from '../../../../server/upstream/upstream-response.ts';

describe('TrustCheck', () => {
  const { signal } = new AbortController();
  let lines: unknown[];
  let token: CheckToken | undefined;
  let now: number;
  beforeEach(() => {
    lines = [];
    token = { text: 'text', user: 'user' };
    now = 0;
  });

  function checkWith(open: ClusterClient['open']): TrustCheck {
    return new TrustCheck({
      title: () => 'the tokens of the issuer',
      cure: 'add it',
      token: () => token,
      client: { open },
      via: '1.1 test',
      log: pino({}, { write: (line) => void lines.push(record(JSON.parse(line))['msg']) }),
      monotonic: () => now,
    });
  }

  it('logs no warning while the server has no signing key, as during each start', async () => {
    token = undefined;
    const check = checkWith(() => Promise.reject(newServiceUnavailable('down')));
    await check.rejection(signal);
    expect(lines).to.deep.equal([]);
    expect(check.describe()).to.match(/: this server has no signing key yet$/);
    token = { text: 'text', user: 'user' };
    await check.rejection(signal);
    expect(lines).to.deep.equal([
      'it is unknown whether kube-apiserver accepts the tokens of the issuer: the check failed',
    ]);
  });

  it('logs no warning while kube-apiserver can still be about to read the keys, as during each start', async () => {
    let status = 401;
    const check = checkWith(() => Promise.resolve(response(status)));
    for (const time of [0, 19_999]) {
      now = time;
      expect(await check.rejection(signal)).to.equal(
        'kube-apiserver rejects the tokens of the issuer: add it',
      );
    }
    expect(lines).to.deep.equal([]);
    status = 403;
    await check.rejection(signal);
    expect(lines.splice(0)).to.deep.equal(['kube-apiserver accepts the tokens of the issuer']);
    status = 401;
    await check.rejection(signal);
    expect(lines).to.deep.equal([]);
    now += 20_000;
    await check.rejection(signal);
    expect(lines).to.deep.equal(['kube-apiserver rejects the tokens of the issuer: add it']);
  });
});

function response(status: number): UpstreamResponse {
  const source = { pause: () => undefined, resume: () => undefined };
  const complete = new UpstreamResponse(source, status, '', {}, () => undefined);
  complete.completed();
  return complete;
}
