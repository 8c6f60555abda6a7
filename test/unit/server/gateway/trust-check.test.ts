// Tests of the log of the trust check.
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { record } from '../../../../apis/reading/unknown-value.ts';
import { type CheckToken, TrustCheck } from '../../../../server/gateway/trust-check.ts';

describe('TrustCheck', () => {
  it('logs no warning while the server has no signing key, as during each start', async () => {
    const lines: unknown[] = [];
    let token: CheckToken | undefined;
    const check = new TrustCheck({
      title: () => 'the tokens of the issuer',
      cure: 'add it',
      token: () => token,
      client: { open: () => Promise.reject(newServiceUnavailable('down')) },
      via: '1.1 test',
      log: pino({}, { write: (line) => void lines.push(record(JSON.parse(line))['msg']) }),
    });
    const { signal } = new AbortController();
    await check.rejection(signal);
    expect(lines).to.deep.equal([]);
    expect(check.describe()).to.match(/: this server has no signing key yet$/);
    token = { text: 'text', user: 'user' };
    await check.rejection(signal);
    expect(lines).to.deep.equal([
      'it is unknown whether kube-apiserver accepts the tokens of the issuer: the check failed',
    ]);
  });
});
