// Tests of the cache of kubeconfig credentials.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { CredentialSource, type Credentials } from '../../../../../server/cluster/connection/credentials.ts';
import { kubeConfigSource } from '../../../../../server/cluster/connection/kubeconfig.ts';
import { kubeConfigFor, kubeConfigText } from '../../../../support/cluster/scripted-cluster.ts';
import { HeldPlugin } from '../../../../support/held-plugin.ts';
import { rejection } from '../../../../support/rejection.ts';

describe('CredentialSource', () => {
  const source = (server: string): CredentialSource =>
    new CredentialSource(kubeConfigFor(server), 1000, () => 0);

  for (const [server, endpoint] of [
    ['https://[::1]:6443/k8s/c1/', { authority: '[::1]:6443', basePath: '/k8s/c1' }],
    ['https://cluster.example', { authority: 'cluster.example:443', basePath: '' }],
    ['http://cluster.example/', { authority: 'cluster.example:80', basePath: '' }],
  ] as const) {
    it(`returns the endpoint of ${server}`, async () => {
      expect((await source(server).get()).endpoint).to.deep.equal(endpoint);
    });
  }

  for (const label of ['PRIVATE KEY', 'ATTRIBUTE CERTIFICATE']) {
    it(`rejects a certificate authority without a certificate, such as one with ${label}`, async () => {
      const config = kubeConfigFor('https://cluster.example')();
      const caData = Buffer.from(`-----BEGIN ${label}-----`).toString('base64');
      config.clusters = config.clusters.map((cluster) => ({ ...cluster, caData, skipTLSVerify: false }));
      const credentials = new CredentialSource(
        () => config,
        1000,
        () => 0,
      );
      expect(await rejection(Promise.resolve(credentials.get()))).to.have.property(
        'message',
        'the certificate authority of the cluster in the kubeconfig contains no certificate',
      );
    });
  }

  it('loads once for concurrent callers, and reloads after the refresh interval or a rejection', async () => {
    let now = 0;
    let read = 0;
    const config = kubeConfigFor('https://cluster.example');
    const credentials = new CredentialSource(
      () => {
        read++;
        return config();
      },
      1000,
      () => now,
    );
    const [first] = await Promise.all(Array.from({ length: 5 }, async () => credentials.get()));
    expect(read).to.equal(1);
    now = 999;
    expect(await credentials.get()).to.equal(first);
    const renewed = await credentials.get(first);
    expect(read).to.equal(2);
    // A caller whose older credentials were rejected gets these.
    expect(await credentials.get(first)).to.equal(renewed);
    now = 1999;
    await credentials.get();
    expect(read).to.equal(3);
  });

  it('keeps current credentials when a reload fails, until they are rejected', async () => {
    let now = 0;
    let fault: Error | undefined;
    const reported: unknown[] = [];
    const config = kubeConfigFor('https://cluster.example')();
    const credentials = new CredentialSource(
      () => {
        if (fault) throw fault;
        return config;
      },
      1000,
      () => now,
      { kept: (error) => void reported.push(error) },
    );
    const first = await credentials.get();
    fault = new Error('half written');
    for (now = 1000; now <= 3000; now += 1000) expect(await credentials.get()).to.equal(first);
    expect(reported).to.deep.equal([fault]);
    expect(await rejection(Promise.try(() => credentials.get(first)))).to.equal(fault);
    fault = undefined;
    expect(await credentials.get(first)).to.not.equal(first);
  });

  it('keeps connections while the TLS material is unchanged', async () => {
    const config = kubeConfigFor('https://cluster.example')();
    const now = (): number => 0;
    const credentials = new CredentialSource(() => config, 0, now);
    let last = (await credentials.get()).pool;
    const isKept = async (): Promise<boolean> => {
      const { pool } = await credentials.get();
      const kept = pool === last;
      last = pool;
      return kept;
    };
    config.users = config.users.map((user) => ({ ...user, token: 'another' }));
    expect(await isKept()).to.equal(true);
    for (const change of [
      { caData: Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64') },
      { server: 'https://other.example' },
      { tlsServerName: 'other' },
      { skipTLSVerify: false },
    ]) {
      config.clusters = config.clusters.map((cluster) => ({ ...cluster, ...change }));
      expect(await isKept(), JSON.stringify(change)).to.equal(false);
    }
    for (const change of [{ certData: 'Yw==' }, { keyData: 'aw==' }]) {
      config.users = config.users.map((user) => ({ ...user, ...change }));
      expect(await isKept(), JSON.stringify(change)).to.equal(false);
    }
  });

  it('reruns the plugin after a rejection, also without an expiry, but not for each rejection', async () => {
    const plugin = await HeldPlugin.make();
    const file = join(await mkdtemp(join(tmpdir(), 'credentials-')), 'kubeconfig');
    await writeFile(file, kubeConfigText('https://cluster.example', plugin.user));
    let now = 0;
    const credentials = new CredentialSource(kubeConfigSource(file, process.env), 1000, () => now);
    const token = async (refused?: Credentials) => (await credentials.get(refused)).headers['Authorization'];
    await plugin.release('one');
    expect(await token()).to.equal('Bearer one');
    await plugin.release('two');
    now = 5000;
    expect(await token()).to.equal('Bearer one');
    expect(await token(await credentials.get())).to.equal('Bearer two');
    await plugin.release('three');
    expect(await token(await credentials.get())).to.equal('Bearer two');
    expect(await plugin.runs()).to.equal(2);
    now = 6000;
    expect(await token(await credentials.get())).to.equal('Bearer three');
    await plugin.remove();
    await rm(dirname(file), { recursive: true });
  });
});
