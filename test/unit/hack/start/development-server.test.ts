// Tests of `npm start -- --console ORIGIN`: only this origin can sign in at the development server and read its responses.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import { UsageError } from '../../../../apis/reading/command-line.ts';
import { readLocalArguments } from '../../../../hack/start/arguments.ts';
import { prepareServer } from '../../../../hack/start/development-server.ts';
import { scratchFolderEach } from '../../../support/scratch.ts';

describe('a console in development', () => {
  const folder = scratchFolderEach();

  const originOf = (console: string): string | undefined =>
    readLocalArguments({ nodes: undefined, static: false, port: undefined, console }).console;

  async function configured(console: string | undefined) {
    const { configFile } = await prepareServer({
      dir: folder(),
      names: { platform: 'platform', namespace: 'platform-system' },
      kubeconfig: 'kubeconfig',
      port: undefined,
      console,
      registered: true,
    });
    const text = await readFile(configFile, 'utf8');
    const warnings: string[] = [];
    const { cors, oauth } = decodeConfiguration({ source: configFile, text }, [], (warning) =>
      warnings.push(warning),
    );
    return { origins: cors.allowedOrigins, clients: oauth.clients, warnings };
  }

  it('can sign in, sign out and read responses at its origin', async () => {
    const { origins, clients } = await configured('http://127.0.0.1:5173');
    expect(origins).to.deep.equal(['http://127.0.0.1:5173']);
    expect(clients).to.have.lengthOf(1);
    expect(clients[0]).to.deep.include({
      id: 'web',
      public: true,
      redirectURIs: ['http://127.0.0.1:5173/callback'],
      postLogoutRedirectURIs: ['http://127.0.0.1:5173/'],
    });
  });

  it('has no access at other origins', async () => {
    expect(await configured(undefined)).to.deep.equal({ origins: [], clients: [], warnings: [] });
  });

  it('has an origin with https, or of a loopback address', () => {
    for (const origin of ['https://console.example.com', 'http://localhost:5173', 'http://[::1]:5173'])
      expect(originOf(origin)).to.equal(origin);
    for (const other of ['5173', 'http://127.0.0.1:5173/', 'http://a.example', 'http://localhost.a.example'])
      expect(() => originOf(other), other).to.throw(UsageError, '--console');
  });
});
