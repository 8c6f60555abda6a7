import { expect } from 'chai';
import { type LoginRecord, newLoginRecords } from '../../../../../server/oauth/passwords/login-records.ts';

const LOGIN: LoginRecord = {
  method: 'page',
  outcome: 'wrong_password',
  user: 'alice',
  client: 'console',
  source: '192.0.2.1',
  userAgent: 'curl/8',
  requestID: 'r-1',
};

describe('the records of sign-ins', () => {
  const written: unknown[] = [];
  const counted: unknown[] = [];
  const records = newLoginRecords(
    { info: (line, message) => written.push({ ...line, message }) },
    { login: (labels) => counted.push(labels) },
  );

  beforeEach(() => {
    written.length = 0;
    counted.length = 0;
  });

  it('say who tried, where, from where and what became of it', () => {
    records.record(LOGIN);
    expect(written).to.deep.equal([{ stage: 'Login', message: 'login', ...LOGIN }]);
  });

  it('name no user or client where there is none', () => {
    records.record({ ...LOGIN, outcome: 'unknown_user', user: undefined, client: '' });
    const { method, source, userAgent, requestID } = LOGIN;
    expect(written).to.deep.equal([
      { stage: 'Login', message: 'login', method, outcome: 'unknown_user', source, userAgent, requestID },
    ]);
  });

  it('hold no more of what a program calls itself than a line can show', () => {
    records.record({ ...LOGIN, userAgent: `\u001b[2J${'x'.repeat(10_000)}` });
    expect(written[0]).to.include({ userAgent: `?[2J${'x'.repeat(252)}` });
  });

  it('are counted by how and where, not by who', () => {
    records.record(LOGIN);
    expect(counted).to.deep.equal([{ method: 'page', outcome: 'wrong_password', client: 'console' }]);
  });
});
