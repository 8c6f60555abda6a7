// Tests of the credential files of a log store.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCredentials } from '../../../../../server/logging/backends/store-connection.ts';
import { VictoriaLogsLogStore } from '../../../../../server/logging/backends/victorialogs/victorialogs-log-store.ts';
import { unfitOptionIn } from '../../../../../server/logging/configuration-errors.ts';
import { storeAt } from '../../../../support/logging/opensearch-store.ts';
import { FIELDS } from '../../../../support/logging/victorialogs.ts';

const CALL = { signal: new AbortController().signal, timeoutMs: 30_000 };

describe('the credentials of a log store', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'credential-files-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  const optionErrorOf = async (work: Promise<unknown>) =>
    unfitOptionIn(
      await work.then(
        () => undefined,
        (error: unknown) => error,
      ),
    );

  it('reports option, path and reason of an unusable file', async () => {
    const path = join(dir, 'secret');
    for (const option of ['passwordFile', 'apiKeyFile', 'bearerTokenFile', 'caFile'] as const) {
      const read = async () => {
        const error = await optionErrorOf(readCredentials('opensearch', { username: 'u', [option]: path }));
        return error && [error.option, error.path, error.reason];
      };
      const name = `logging.opensearch.${option}`;
      expect(await read()).to.deep.equal([name, path, 'no such file']);
      await mkdir(path);
      expect(await read()).to.deep.equal([name, path, 'it is a directory']);
      await rm(path, { recursive: true });
      await writeFile(path, '\n');
      expect(await read()).to.deep.equal([name, path, 'it is empty']);
      await writeFile(path, '-----BEGIN CERTIFICATE-----');
      expect(await read()).to.equal(undefined);
      await rm(path);
    }
  });

  it('rejects a CA file without a certificate', async () => {
    const caFile = join(dir, 'ca');
    await writeFile(caFile, 'not PEM');
    const error = await optionErrorOf(readCredentials('victorialogs', { caFile }));
    expect(error).to.include({
      option: 'logging.victorialogs.caFile',
      reason: 'it contains no certificate',
    });
  });

  it('is the reason in the health check of a store', async () => {
    const path = join(dir, 'missing');
    const address = 'http://127.0.0.1:1';
    for (const [option, store] of [
      ['logging.opensearch.apiKeyFile', storeAt(address, { apiKeyFile: path })],
      [
        'logging.victorialogs.bearerTokenFile',
        new VictoriaLogsLogStore({ url: address, fields: FIELDS, bearerTokenFile: path }),
      ],
    ] as const) {
      expect(await optionErrorOf(store.check(CALL))).to.include({ option, path });
    }
  });
});
