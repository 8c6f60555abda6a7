// Tests of the registry of the configured OAuth clients.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClientSecrets, ConfiguredClients } from '../../../../../server/oauth/clients/configured-clients.ts';
import type { ConfiguredClient } from '../../../../../server/oauth/clients/oauth-client.ts';
import { followSecretFile } from '../../../../../server/oauth/clients/secret-file.ts';
import { newConfiguredClient } from '../../../../support/oauth/oauth-clients.ts';
import { until } from '../../../../support/until.ts';

const nowhere = {
  open: () => Promise.reject(new Error('no cluster')),
  json: () => Promise.reject(new Error('no cluster')),
};

function registry(clients: readonly ConfiguredClient[], warnings: unknown[]): ConfiguredClients {
  return new ConfiguredClients({
    clients,
    client: nowhere,
    namespace: 'platform-system',
    log: {
      debug: () => undefined,
      info: () => undefined,
      warn: (line: unknown) => warnings.push(line),
    },
    pollMs: 5,
  });
}

describe('client secrets', () => {
  it('match any current secret of a client, and the newest of each source', () => {
    const secrets = new ClientSecrets();
    secrets.set('a', 'one', 'first');
    secrets.set('a', 'two', 'second');
    secrets.set('b', 'one', 'third');
    expect(['first', 'second', 'third', ''].map((secret) => secrets.matches('a', secret))).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    secrets.set('a', 'one', 'newer');
    expect(secrets.matches('a', 'first')).to.equal(false);
    expect(secrets.matches('a', 'newer')).to.equal(true);
    secrets.set('a', 'two', undefined);
    expect(secrets.matches('a', 'second')).to.equal(false);
    secrets.set('a', 'one', '');
    for (const id of ['a', 'nobody']) expect(secrets.matches(id, ''), id).to.equal(false);
  });
});

describe('the configured clients', () => {
  it('accept the well-known secret of the default client, with a warning', async () => {
    const warnings: unknown[] = [];
    const clients = registry(
      [newConfiguredClient('platform', { wellKnownSecret: 'platform' }), newConfiguredClient('console', {})],
      warnings,
    );
    expect(clients.checkSecret('platform', 'platform')).to.equal(true);
    expect(clients.checkSecret('platform', 'other')).to.equal(false);
    expect(clients.checkSecret('other', 'platform')).to.equal(false);
    expect(clients.usesWellKnownSecret).to.equal(true);
    await clients.run(AbortSignal.abort());
    expect(warnings).to.deep.equal([{ client: 'platform' }]);
  });
});

describe('a file with a client secret', () => {
  let dir: string;
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'secret-file-'));
  });
  after(async () => {
    stop.abort();
    await Promise.all(running);
    await rm(dir, { recursive: true });
  });

  function follow(path: string): () => Promise<unknown> {
    const seen: unknown[] = [];
    const changed = (secret: string | undefined, failure?: unknown) => seen.push(secret ?? { failure });
    running.push(followSecretFile(path, changed, stop.signal, 5));
    return async () => {
      await until(() => seen.length > 0);
      return seen.shift();
    };
  }

  it('is rejected when it is empty or too long', async () => {
    const [empty, long] = [join(dir, 'empty'), join(dir, 'long')];
    await writeFile(empty, '\n');
    await writeFile(long, 'x'.repeat(5000));
    expect(await follow(empty)()).to.deep.equal({ failure: 'the file is empty' });
    expect(await follow(long)()).to.deep.equal({ failure: 'the file is longer than 4096 characters' });
  });
});
