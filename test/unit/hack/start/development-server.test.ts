// Tests of the configuration that the development server gets.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import { prepareServer } from '../../../../hack/start/development-server.ts';
import { scratchFolderEach } from '../../../support/scratch.ts';

describe('the configuration of the development server', () => {
  const folder = scratchFolderEach();

  async function configured(console: string | undefined) {
    const { configFile } = await prepareServer({
      dir: folder(),
      names: { platform: 'platform', namespace: 'platform-system' },
      kubeconfig: 'kubeconfig',
      port: undefined,
      console,
      registered: true,
    });
    const { cors, oauth } = decodeConfiguration({
      source: configFile,
      text: await readFile(configFile, 'utf8'),
    });
    return { origins: cors.allowedOrigins, clients: oauth.clients };
  }

  it('lets a console of another origin sign in, sign out and read responses', async () => {
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

  it('admits no other origin', async () => {
    expect(await configured(undefined)).to.deep.equal({ origins: [], clients: [] });
  });
});
