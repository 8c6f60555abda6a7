// Tests of the credential files of a log store.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCredentials } from '../../../../../server/logging/backends/store-connection.ts';
import { unfitOptionIn } from '../../../../../server/logging/store/configuration-errors.ts';
import { runInTrace } from '../../../../../server/upstream/trace-context.ts';
import { call } from '../../../../support/logging/call.ts';
import { storeAt } from '../../../../support/logging/opensearch-store.ts';
import { storeAt as victoriaLogsAt } from '../../../../support/logging/victorialogs.ts';
import { SELECTION, scriptedStore, searchResponse } from './opensearch/scripted-store.ts';

describe('the credentials of a log store', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'credential-files-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  const optionErrorOf = async (work: Promise<unknown>) =>
    unfitOptionIn(await work.then(() => undefined).catch((error: unknown) => error));

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

  it('can be an API key of OpenSearch', async () => {
    const apiKeyFile = join(dir, 'key');
    await writeFile(apiKeyFile, 'aWQ6a2V5\n');
    await using store = await scriptedStore(() => searchResponse([]));
    const page = { order: 'asc', size: 1, from: 0 } as const;
    await storeAt(store.url, { apiKeyFile, username: 'reader' }).query(SELECTION, page, call());
    expect(store.requests.at(-1)?.headers.authorization).to.equal('ApiKey aWQ6a2V5');
  });

  it('is the reason in the health check of a store', async () => {
    const path = join(dir, 'missing');
    const address = 'http://127.0.0.1:1';
    for (const [option, store] of [
      ['logging.opensearch.apiKeyFile', storeAt(address, { apiKeyFile: path })],
      ['logging.victorialogs.bearerTokenFile', victoriaLogsAt(address, { bearerTokenFile: path })],
    ] as const) {
      expect(await optionErrorOf(store.check(call()))).to.include({ option, path });
    }
  });
});

describe('a request to a log store', () => {
  it('belongs to the trace of the query', async () => {
    await using store = await scriptedStore(() => searchResponse([]));
    const page = { order: 'asc', size: 1, from: 0 } as const;
    const query = (): Promise<unknown> => storeAt(store.url, {}).query(SELECTION, page, call());
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const traced = Promise.withResolvers<unknown>();
    const trace = { startCall: () => ({ traceparent, ended: () => undefined }) };
    runInTrace(trace, () => traced.resolve(query()));
    await traced.promise;
    await query();
    const seen = new Set(store.requests.map(({ headers }) => headers['traceparent']));
    expect([...seen]).to.deep.equal([traceparent, undefined]);
  });
});
