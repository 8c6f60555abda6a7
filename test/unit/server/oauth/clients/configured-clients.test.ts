// Tests of the secrets of the configured OAuth clients.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClientSecrets, ConfiguredClients } from '../../../../../server/oauth/clients/configured-clients.ts';
import { followSecretFile } from '../../../../../server/oauth/clients/secret-file.ts';
import { newConfiguredClient } from '../../../../support/oauth/oauth-clients.ts';
import { scratchFolder } from '../../../../support/scratch.ts';

describe('client secrets', () => {
  it('match any current secret of a client, and the newest of each source', () => {
    const secrets = new ClientSecrets();
    const matching = (...texts: string[]) => texts.filter((text) => secrets.matches('a', text));
    secrets.set('a', 'one', 'first');
    secrets.set('a', 'two', 'second');
    secrets.set('b', 'one', 'third');
    expect(matching('first', 'second', 'third', '')).to.deep.equal(['first', 'second']);
    secrets.set('a', 'one', 'newer');
    secrets.set('a', 'two', undefined);
    expect(matching('first', 'newer', 'second')).to.deep.equal(['newer']);
    secrets.set('a', 'one', '');
    for (const id of ['a', 'nobody']) expect(secrets.matches(id, ''), id).to.equal(false);
  });

  it('include the well-known secret of the default client, with a warning', async () => {
    const warnings: unknown[] = [];
    const nowhere = () => Promise.reject(new Error('no cluster'));
    const clients = new ConfiguredClients({
      clients: [
        newConfiguredClient('platform', { wellKnownSecret: 'platform' }),
        newConfiguredClient('console'),
      ],
      client: { open: nowhere, json: nowhere },
      namespace: 'platform-system',
      log: { debug: () => undefined, info: () => undefined, warn: (line: unknown) => warnings.push(line) },
    });
    expect(clients.checkSecret('platform', 'platform')).to.equal(true);
    expect(clients.checkSecret('platform', 'other')).to.equal(false);
    expect(clients.checkSecret('other', 'platform')).to.equal(false);
    expect(clients.usesWellKnownSecret).to.equal(true);
    await clients.run(AbortSignal.abort());
    expect(warnings).to.deep.equal([{ client: 'platform' }]);
  });

  for (const [content, failure] of [
    ['\n', 'the file is empty'],
    ['x'.repeat(5000), 'the file is longer than 4096 characters'],
  ] as const) {
    it(`are not read from a file if ${failure}`, async () => {
      await using folder = await scratchFolder();
      const path = join(folder.path, 'secret');
      await writeFile(path, content);
      const stop = new AbortController();
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const following = followSecretFile(path, (...read) => resolve(read), stop.signal, 5);
      expect(await promise).to.deep.equal([undefined, failure]);
      stop.abort();
      await following;
    });
  }
});
