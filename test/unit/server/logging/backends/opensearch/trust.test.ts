import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { issueServer, newCA } from '../../../../../support/certificates.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { startTLSProxy } from '../../../../../support/logging/tls-proxy.ts';
import { answer, call, SELECTION, scriptedStore } from './scripted-store.ts';

const PAGE = { order: 'asc', size: 1, from: 0 } as const;

describe('the connection to OpenSearch', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'ks-trust-'));
  });
  afterEach(async () => {
    await rm(dir, { recursive: true });
  });

  const file = async (name: string, text: string) => {
    const path = join(dir, name);
    await writeFile(path, text);
    return path;
  };

  /** Behind the second in which files count as unchanged. */
  function clock() {
    let now = 0;
    return { now: () => now, pass: () => (now += 2_000) };
  }

  it('is to a store whose certificate the CA of the file has signed, and to no other', async () => {
    const [authority, stranger] = await Promise.all([newCA('ours'), newCA('theirs')]);
    await using store = await scriptedStore(() => answer([]));
    await using proxy = await startTLSProxy(store.url, await issueServer(authority));
    const { now, pass } = clock();
    const caFile = await file('ca.pem', stranger.cert);
    const backend = storeAt(proxy.url, { caFile, now });
    const refused = await backend.query(SELECTION, PAGE, call()).catch((error: unknown) => error);
    expect(refused).to.include({ code: 503 });
    expect(store.asked).to.deep.equal([]);
    await file('ca.pem', authority.cert);
    pass();
    expect((await backend.query(SELECTION, PAGE, call())).records).to.deep.equal([]);
    await file('ca.pem', stranger.cert);
    pass();
    expect(await backend.query(SELECTION, PAGE, call()).catch((error: unknown) => error)).to.include({
      code: 503,
    });
  });

  it('is not to a store whose certificate nobody knows', async () => {
    await using store = await scriptedStore(() => answer([]));
    await using proxy = await startTLSProxy(store.url, await issueServer(await newCA('unknown')));
    const refused = await storeAt(proxy.url)
      .query(SELECTION, PAGE, call())
      .catch((error: unknown) => error);
    expect(refused).to.include({ code: 503 });
    expect(store.asked).to.deep.equal([]);
  });

  it('shows user and password, and a new password as soon as the file has it', async () => {
    await using store = await scriptedStore(() => answer([]));
    const { now, pass } = clock();
    const passwordFile = await file('password', 'päss:word\n');
    const backend = storeAt(store.url, { username: 'reader', passwordFile, now });
    await backend.query(SELECTION, PAGE, call());
    await file('password', 'another');
    pass();
    await backend.query(SELECTION, PAGE, call());
    const shown = [store.asked[0], store.asked.at(-1)].map((asked) => asked?.headers.authorization ?? '');
    expect(
      shown.map((header) => Buffer.from(header.replace('Basic ', ''), 'base64').toString()),
    ).to.deep.equal(['reader:päss:word', 'reader:another']);
  });

  it('shows an API key in their place', async () => {
    await using store = await scriptedStore(() => answer([]));
    const apiKeyFile = await file('key', 'aWQ6a2V5\n');
    await storeAt(store.url, { apiKeyFile, username: 'reader' }).query(SELECTION, PAGE, call());
    expect(store.asked.at(-1)?.headers.authorization).to.equal('ApiKey aWQ6a2V5');
  });

  it('fails without telling what it would have shown when a file cannot be read', async () => {
    await using store = await scriptedStore(() => answer([]));
    const passwordFile = join(dir, 'missing');
    const error = await storeAt(store.url, { username: 'reader', passwordFile })
      .query(SELECTION, PAGE, call())
      .catch((caught: unknown) => caught);
    expect(error).to.include({ code: 503 });
    expect(String(error)).not.to.include('missing');
    expect(store.asked).to.deep.equal([]);
  });
});
