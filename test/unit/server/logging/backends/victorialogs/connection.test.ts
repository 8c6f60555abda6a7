// Tests of the HTTP connection to VictoriaLogs.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { VictoriaLogsLogStore } from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import type { Selection } from '../../../../../../server/logging/store/log-store.ts';
import { issueServer, newCA } from '../../../../../support/certificates.ts';
import { call } from '../../../../../support/logging/call.ts';
import { rows, ScriptedVictoriaLogs } from '../../../../../support/logging/scripted-victorialogs.ts';
import { storeAt } from '../../../../../support/logging/victorialogs.ts';

const SELECTION: Selection = {
  scope: { everything: true },
  range: { start: '2026-01-01T00:00:00.000000000Z', end: '2026-01-02T00:00:00.000000000Z' },
};
const COUNTS = rows({ n: '1', ids: '1', named: '0' });

/** The status code of the error; undefined for a healthy store. */
async function checked(store: VictoriaLogsLogStore): Promise<unknown> {
  const error: unknown = await store.check(call()).catch((failure: unknown) => failure);
  return error instanceof Error ? Reflect.get(error, 'code') : error;
}

describe('the connection to VictoriaLogs', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'victorialogs-connection-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('trusts the CA of the file, and re-reads the file', async () => {
    const [own, other] = await Promise.all([newCA('own'), newCA('other')]);
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '1' }), await issueServer(own));
    const caFile = join(dir, 'ca.pem');
    let now = 0;
    const store = storeAt(server.url, { caFile, now: () => now });
    const seen: unknown[] = [];
    for (const { cert } of [other, own, other]) {
      await writeFile(caFile, cert);
      now += 2_000;
      seen.push(await checked(store));
    }
    expect(seen).to.deep.equal([503, undefined, 503]);
    // Without the option, only the CAs of Node.js are trusted.
    expect(await checked(storeAt(server.url))).to.equal(503);
    expect(server.requests).to.have.length(1);
  });

  it('sends user and password, or a token, from files that it re-reads', async () => {
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '1' }));
    let now = 0;
    const [passwordFile, bearerTokenFile] = [join(dir, 'password'), join(dir, 'token')];
    await writeFile(passwordFile, 'first\n');
    await writeFile(bearerTokenFile, 'abc\n');
    const basic = storeAt(server.url, { username: 'me', passwordFile, now: () => now });
    await basic.check(call());
    await writeFile(passwordFile, 'second one\n');
    now += 2_000;
    await basic.check(call());
    await storeAt(server.url, { bearerTokenFile }).check(call());
    const pair = (password: string) => `Basic ${Buffer.from(`me:${password}`).toString('base64')}`;
    expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
      pair('first'),
      pair('second one'),
      'Bearer abc',
    ]);
    // Nothing is sent without the file.
    expect(await checked(storeAt(server.url, { bearerTokenFile: join(dir, 'none') }))).to.equal(503);
    expect(server.requests).to.have.length(3);
  });

  it('sends the tenant when one is configured', async () => {
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '1' }));
    await storeAt(server.url, { accountID: 12, projectID: 34 }).check(call());
    await storeAt(server.url).check(call());
    expect(server.requests.map(({ headers }) => [headers['accountid'], headers['projectid']])).to.deep.equal([
      ['12', '34'],
      [undefined, undefined],
    ]);
  });

  it('uses the path of the URL as a prefix', async () => {
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '1' }));
    for (const [path, prefix] of [
      ['', ''],
      ['/', ''],
      ['/logs', '/logs'],
      ['/my%20logs/', '/my%20logs'],
    ]) {
      await storeAt(`${server.url}${path}`).check(call());
      expect(server.requests.at(-1)?.path).to.equal(`${prefix}/select/logsql/query`);
    }
  });

  it('is reused, and a request on a stale connection is repeated', async () => {
    const sockets = new Set<unknown>();
    await using server = await ScriptedVictoriaLogs.start((response, request) => {
      sockets.add(response.socket);
      if (server.requests.length === 3) response.socket?.resetAndDestroy();
      else COUNTS(response, request);
    });
    const store = storeAt(server.url);
    for (let times = 0; times < 3; times++) {
      expect((await store.statistics(SELECTION, call())).logs.count).to.equal(1);
    }
    expect(server.requests).to.have.length(4);
    expect(sockets.size).to.equal(2);
  });
});
