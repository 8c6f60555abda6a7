// Tests of FrontProxyStatus, which records accepted and rejected front-proxy requests.
import { expect } from 'chai';
import { FrontProxyStatus } from '../../../../server/authentication/front-proxy-status.ts';

/** Monotonic clock at the start of each test, in ms: one hour after process start. */
const START = 3_600_000;

describe('FrontProxyStatus', () => {
  let time = START;
  let lines: unknown[] = [];
  let status: FrontProxyStatus;

  beforeEach(() => {
    time = START;
    lines = [];
    status = new FrontProxyStatus(
      { current: () => undefined },
      { warn: (line: unknown) => void lines.push(line) },
      () => time,
    );
  });

  it('shows a rejection for ten minutes', () => {
    status.rejected('noCA', 'x');
    expect(status.describe()).to.contain('last rejected: x (check --requestheader-client-ca-file');
    time = START + 599_999;
    expect(status.describe()).to.contain('last rejected: x').and.to.contain('599 s ago');
    time = START + 600_000;
    expect(status.describe()).to.equal(
      'expected nothing yet: the ConfigMap has not been read; last accepted: none; last rejected: none',
    );
  });

  it('does not replace the rejection of a trusted certificate by one of an untrusted certificate', () => {
    status.rejected('name', 'the name "other"');
    status.rejected('noCertificate', 'no client certificate');
    expect(status.describe()).to.contain('last rejected: the name "other"');
    time += 600_000;
    status.rejected('noCertificate', 'no client certificate');
    expect(status.describe()).to.contain('last rejected: no client certificate');
  });
});
