// Tests of the readiness check of the development server.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { decodeConfiguration } from '../../../../apis/config/v1alpha1/decode.ts';
import { developmentManifests } from '../../../../hack/generate/manifests.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { prepareServer } from '../../../../hack/start/development-server.ts';
import { scratchFolder } from '../../../support/scratch.ts';

describe('the development server', () => {
  it('is polled at 127.0.0.1, regardless of localhost', async () => {
    await using scratch = await scratchFolder();
    const names = namesFor('platform');
    const server = await prepareServer({
      dir: scratch.path,
      names,
      kubeconfig: 'admin.kubeconfig',
      port: undefined,
      registered: true,
    });
    const { listeners, oauth } = parse(await readFile(server.configFile, 'utf8')) as {
      listeners: { secure: { address: string; port: number } };
      oauth: { issuer: string };
    };
    const { address, port } = listeners.secure;
    expect(server.issuer).to.equal(`https://${address}:${port}/oauth`).and.to.equal(oauth.issuer);
    const service = developmentManifests(names, port)
      .split('---\n')
      .map((text) => parse(text) as { kind?: string; spec?: { externalName?: string } } | null)
      .find((document) => document?.kind === 'Service');
    expect(service?.spec?.externalName).to.equal(address);
  });

  it('preloads kinds of the local cluster, but none of an existing cluster', async () => {
    await using scratch = await scratchFolder();
    const preloaded = async (registered: boolean): Promise<readonly string[]> => {
      const { configFile } = await prepareServer({
        dir: scratch.path,
        names: namesFor('platform'),
        kubeconfig: 'admin.kubeconfig',
        port: undefined,
        registered,
      });
      const text = await readFile(configFile, 'utf8');
      return decodeConfiguration({ source: configFile, text }).resources.preload;
    };
    expect(await preloaded(true)).to.include.members(['pods', 'events', 'persistentvolumeclaims']);
    expect(await preloaded(false)).to.deep.equal([]);
  });
});
