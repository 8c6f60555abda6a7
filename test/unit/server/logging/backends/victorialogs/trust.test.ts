import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { VictoriaLogsLogStore } from '../../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import { issueServer, newCA } from '../../../../../support/certificates.ts';
import { rows, ScriptedVictoriaLogs } from '../../../../../support/logging/scripted-victorialogs.ts';
import { FIELDS } from '../../../../../support/logging/victorialogs.ts';

describe('the connection to VictoriaLogs', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'victorialogs-trust-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  /** The code of the refusal; undefined when there is none. */
  const asked = (store: VictoriaLogsLogStore): Promise<unknown> =>
    store.check({ signal: new AbortController().signal, timeoutMs: 30_000 }).then(
      () => undefined,
      (error: unknown) => error instanceof Error && Reflect.get(error, 'code'),
    );
  const storeAt = (url: string, options: { readonly caFile?: string; readonly now?: () => number } = {}) =>
    new VictoriaLogsLogStore({ url, fields: FIELDS, log: pino({ level: 'silent' }), ...options });

  it('is to a store whose certificate the CA of the file has signed, and to no other', async () => {
    const [authority, stranger] = await Promise.all([newCA('ours'), newCA('theirs')]);
    await using server = await ScriptedVictoriaLogs.start(rows({ n: '1' }), await issueServer(authority));
    const caFile = join(dir, 'ca.pem');
    let now = 0;
    const store = storeAt(server.url, { caFile, now: () => now });
    const seen: unknown[] = [];
    for (const { cert } of [stranger, authority, stranger]) {
      await writeFile(caFile, cert);
      // Behind the second in which files count as unchanged.
      now += 2_000;
      seen.push(await asked(store));
    }
    expect(seen).to.deep.equal([503, undefined, 503]);
    expect(server.asked).to.have.length(1);
  });

  it('is not to a store whose certificate nobody knows', async () => {
    await using server = await ScriptedVictoriaLogs.start(
      rows({ n: '0' }),
      await issueServer(await newCA('unknown')),
    );
    expect(await asked(storeAt(server.url))).to.equal(503);
    expect(server.asked).to.deep.equal([]);
  });
});
