// Tests of the OpenSearch log store against the OpenSearch security plugin: TLS, passwords and roles.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { LogStoreProcess } from '../../../../../../hack/log-stores/log-store.ts';
import { OPENSEARCH_2_SECURITY } from '../../../../../../hack/log-stores/node-kinds.ts';
import { startOpenSearch } from '../../../../../../hack/log-stores/opensearch.ts';
import { indexTemplate } from '../../../../../../hack/log-stores/recommended-template.ts';
import { unfitOptionIn } from '../../../../../../server/logging/store/configuration-errors.ts';
import type { LogStore, Selection } from '../../../../../../server/logging/store/log-store.ts';
import { issue, issueServer, newCA } from '../../../../../support/certificates.ts';
import { call } from '../../../../../support/logging/call.ts';
import { exported } from '../../../../../support/logging/exported.ts';
import { line } from '../../../../../support/logging/log-service.ts';
import { storeAt } from '../../../../../support/logging/opensearch-store.ts';
import { requireJava } from '../../../../../support/logging/require-java.ts';
import { rejection } from '../../../../../support/rejection.ts';

const PASSWORD = 'Zt9-#Quelle+Xq7';
const DOCS = join(import.meta.dirname, '../../../../../../docs/log-stores.md');
const {
  index_permissions: [granted],
} = JSON.parse(
  /```json\n(\{\s*"index_permissions"[\s\S]*?)```/.exec(readFileSync(DOCS, 'utf8'))?.[1] ?? '{}',
) as { index_permissions: [{ allowed_actions: readonly string[] }] };
/** The role of the documentation. */
const LEAST = granted.allowed_actions;
const SELECTION: Selection = {
  scope: { everything: true },
  range: { start: '2026-01-14T00:00:00.000000000Z', end: '2026-01-17T00:00:00.000000000Z' },
};
const LINES = ['14', '15', '16'].flatMap((day) => ['web', 'db'].map((name) => `${name} ${day}`));

function documentOf(log: string): object {
  const [namespace = '', day] = log.split(' ');
  return line(`2026-01-${day}T10:00:00.00000000${namespace === 'web' ? 1 : 2}Z`, log, { namespace });
}

describe('an OpenSearch with the security plugin', () => {
  const ending = new AbortController();
  let dir = '';
  let node: LogStoreProcess | undefined;
  let administrator: Agent;
  let users = 0;

  before(async function () {
    this.timeout(300_000);
    await requireJava(this, { kind: OPENSEARCH_2_SECURITY });
    dir = await mkdtemp(join(tmpdir(), 'ks-security-'));
    const ca = await newCA('store');
    const [server, admin] = await Promise.all([issueServer(ca), issue(ca, { cn: 'admin' })]);
    administrator = new Agent({ ca: ca.cert, cert: admin.cert, key: admin.key });
    await file('ca.pem', ca.cert);
    node = await startOpenSearch({
      kind: OPENSEARCH_2_SECURITY,
      dir: join(dir, 'node'),
      signal: ending.signal,
      security: { ca: ca.cert, node: server, admin: 'admin' },
    });
    await ask('PUT', '/_index_template/logs', indexTemplate('logs'));
    for (const log of LINES) {
      await ask('POST', `/logs-2026.01.${log.slice(-2)}/_doc?refresh=true`, documentOf(log));
    }
  });

  after(async () => {
    ending.abort();
    await node?.stop();
    if (dir !== '') await rm(dir, { recursive: true, force: true });
  });

  async function file(name: string, content: string): Promise<string> {
    await writeFile(join(dir, name), content);
    return join(dir, name);
  }

  /** As the administrator. */
  async function ask(method: string, path: string, body?: object): Promise<unknown> {
    const sent = request(`${node?.url}${path}`, {
      method,
      agent: administrator,
      headers: { 'content-type': 'application/json' },
    });
    sent.end(body && JSON.stringify(body));
    const [response] = await once(sent, 'response');
    const returned = await text(response);
    if (response.statusCode >= 300) throw new Error(`${method} ${path} returned ${returned}`);
    return JSON.parse(returned);
  }

  /** The store of a user with these permissions. */
  async function storeOf(actions: readonly string[], more: object = {}) {
    const username = `u${++users}`;
    const permissions = { index_patterns: ['logs-*'], allowed_actions: actions, ...more };
    const setPassword = (password: string) =>
      ask('PUT', `/_plugins/_security/api/internalusers/${username}`, { password });
    await setPassword(PASSWORD);
    await ask('PUT', `/_plugins/_security/api/roles/${username}`, { index_permissions: [permissions] });
    await ask('PUT', `/_plugins/_security/api/rolesmapping/${username}`, { users: [username] });
    const passwordFile = await file(`${username}.password`, PASSWORD);
    let now = performance.now();
    const options = { caFile: join(dir, 'ca.pem'), username, passwordFile, now: () => now };
    return {
      options,
      store: storeAt(String(node?.url), { ...options, pageSize: 2 }),
      setPassword,
      /** The file as the server finds it, after the time for which files are cached. */
      writePassword: async (password: string) => {
        await writeFile(passwordFile, password);
        now += 2_000;
      },
    };
  }

  async function linesOf(store: LogStore, selection = SELECTION) {
    const page = await store.query(selection, { order: 'asc', size: 20, from: 0 }, call());
    return { lines: page.records.map(({ log }) => log), total: page.total, shortfalls: page.shortfalls };
  }

  async function healthOf(store: Awaited<ReturnType<typeof storeOf>>['store']): Promise<string | undefined> {
    return store
      .check(call())
      .then(() => 'fit')
      .catch((error: unknown) => unfitOptionIn(error)?.reason);
  }

  const refusalOf = (store: LogStore) => rejection(linesOf(store));

  it('supports every operation with the role of the documentation', async () => {
    const { store } = await storeOf(LEAST);
    expect(await healthOf(store)).to.equal('fit');
    expect(await linesOf(store)).to.deep.equal({
      lines: LINES,
      total: { count: 6, relation: 'eq' },
      shortfalls: [],
    });
    expect(await store.statistics(SELECTION, call())).to.deep.include({ containers: 2 });
    const edges = [SELECTION.range.start, SELECTION.range.end].map((time) => Date.parse(time));
    expect(await store.histogram(SELECTION, { edges }, call())).to.deep.include({ counts: [6] });
    expect((await exported(store.export(SELECTION, 'asc', call()))).logs).to.deep.equal(LINES);
    expect(await healthOf(store)).to.equal('fit');
    const over = new AbortController();
    const followed: string[] = [];
    for await (const batch of store.follow(SELECTION, call(over.signal))) {
      followed.push(...batch.map(({ log }) => log));
      if (followed.length === LINES.length) {
        await ask('PUT', '/logs-2026.01.16/_doc/new?refresh=true', {
          ...documentOf('web 16'),
          log: 'new',
          time: '2026-01-16T11:00:00Z',
        });
      }
      if (followed.includes('new')) over.abort();
    }
    expect(followed).to.deep.equal([...LINES, 'new']);
    await ask('DELETE', '/logs-2026.01.16/_doc/new?refresh=true');
  });

  it('returns an error, not an empty result, to a user without field_caps', async () => {
    for (const actions of [
      ['indices:data/read/search'],
      // Without the permission for each index, the plugin leaves out all of them.
      ['indices:data/read/search', 'indices:data/read/field_caps'],
    ]) {
      const { store } = await storeOf(actions);
      expect(await refusalOf(store)).to.include({ code: 503 });
      const health = await healthOf(store);
      expect(health).not.to.equal('fit');
      if (actions.length > 1) expect(health).to.match(/needs indices:data\/read\/field_caps\*$/);
    }
  });

  it('names forbidden days in partial results', async () => {
    const { store } = await storeOf(['read'], { index_patterns: ['logs-2026.01.14', 'logs-2026.01.16'] });
    expect(await linesOf(store)).to.deep.equal({
      lines: LINES.filter((line) => !line.endsWith('15')),
      total: { count: 4, relation: 'gte' },
      shortfalls: [{ reason: 'NotCovered', message: 'the log store rejects searches of logs-2026.01.15' }],
    });
    expect(await healthOf(store)).to.match(/rejects searches of some of the indices/);
    const { store: another } = await storeOf(['read'], { index_patterns: ['elsewhere-*'] });
    expect(await refusalOf(another)).to.match(/does not let this server search/);
  });

  it('applies document-level and field-level security to lines and counts', async () => {
    const ofWeb = JSON.stringify({ term: { 'kubernetes.namespace_name': 'web' } });
    const { store } = await storeOf(['read'], { dls: ofWeb });
    expect(await linesOf(store)).to.deep.include({
      lines: LINES.filter((line) => line.startsWith('web')),
      total: { count: 3, relation: 'eq' },
    });
    expect(await store.statistics(SELECTION, call())).to.deep.include({
      containers: 1,
      logs: { count: 3, relation: 'eq' },
    });
    const { store: nameless } = await storeOf(['read'], { fls: ['~kubernetes.namespace_name'] });
    expect(await healthOf(nameless)).to.match(/no kubernetes.namespace_name in their _source/);
    const scope: Selection['scope'] = {
      everything: false,
      namespaces: [{ name: 'web', since: '1970-01-01T00:00:00.000000000Z' }],
    };
    expect(await linesOf(nameless, { ...SELECTION, scope })).to.deep.include({ lines: [] });
    const { store: speechless } = await storeOf(['read'], { fls: ['~log'] });
    expect(await healthOf(speechless)).to.match(/log has to be an indexed field of type text/);
  });

  it('rejects a wrong password and an API key, and accepts the new password of the file', async () => {
    const { store, options, setPassword, writePassword } = await storeOf(LEAST);
    expect(await healthOf(store)).to.equal('fit');
    await setPassword(`${PASSWORD}!`);
    expect(await healthOf(store)).to.match(/rejects the credentials of this server \(401\)/);
    expect(await refusalOf(store)).to.include({ code: 503 });
    await writePassword(`${PASSWORD}!\n`);
    expect(await healthOf(store)).to.equal('fit');
    const { caFile } = options;
    const apiKeyFile = await file('key', Buffer.from('id:key').toString('base64'));
    for (const other of [{ caFile }, { caFile, apiKeyFile }]) {
      expect(await healthOf(storeAt(String(node?.url), other))).to.match(/rejects the credentials/);
    }
  });
});
