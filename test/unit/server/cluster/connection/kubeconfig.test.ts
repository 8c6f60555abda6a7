// Tests of the loader of the kubeconfig.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { delimiter, join } from 'node:path';
import { inspect, promisify } from 'node:util';
import { expect } from 'chai';
import { record } from '../../../../../apis/reading/unknown-value.ts';
import { kubeConfigSource } from '../../../../../server/cluster/connection/kubeconfig.ts';
import { rejection } from '../../../../support/rejection.ts';
import { scratchFolderEach } from '../../../../support/scratch.ts';

describe('kubeConfigSource', () => {
  const dir = scratchFolderEach();

  async function write(name: string, server: string, current = true): Promise<string> {
    const file = join(dir(), name);
    await writeFile(
      file,
      JSON.stringify({
        clusters: [{ name, cluster: { server, 'certificate-authority': 'ca.crt' } }],
        users: [{ name, user: { token: 't' } }],
        contexts: [{ name, context: { cluster: name, user: name } }],
        ...(current ? { 'current-context': name } : {}),
      }),
    );
    return file;
  }
  const places = () => ({ serviceAccountToken: join(dir(), 'token'), home: join(dir(), 'home') });

  it('returns the same object until the file changes', async () => {
    const file = await write('a', 'https://one');
    const source = kubeConfigSource(file);
    const first = source();
    expect(source()).to.equal(first);
    expect(first.getCurrentCluster()).to.include({ server: 'https://one', caFile: join(dir(), 'ca.crt') });
    await write('a', 'https://two');
    expect(source().getCurrentCluster()).to.include({ server: 'https://two' });
  });

  it('merges several files: the first definition wins, missing files are ignored', async () => {
    const [a, b] = [await write('a', 'https://a', false), await write('b', 'https://b')];
    const config = kubeConfigSource([a, join(dir(), 'missing'), b].join(delimiter))();
    expect(config.getCurrentContext()).to.equal('b');
    expect(config.clusters.map(({ name }) => name)).to.deep.equal(['a', 'b']);
  });

  it('uses the ServiceAccount of the pod without a file', async () => {
    await writeFile(places().serviceAccountToken, 'token');
    await write('home', 'https://home');
    expect(kubeConfigSource(undefined, {}, places())().getCurrentUser()?.authProvider).to.include({
      name: 'tokenFile',
    });
  });

  it('sends the token of a tokenFile, which is relative to the kubeconfig and can be rotated', async () => {
    const file = join(dir(), 'with-file');
    await writeFile(
      file,
      `clusters: [{name: c, cluster: {server: https://one}}]
users: [{name: u, user: {tokenFile: rotated}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`,
    );
    const source = kubeConfigSource(file);
    const authorization = async (): Promise<unknown> => {
      const options: RequestOptions = {};
      await source().applyToHTTPSOptions(options);
      return record(options.headers)['Authorization'];
    };
    expect(await rejection(authorization())).to.have.property(
      'message',
      `tokenFile of the kubeconfig: ${join(dir(), 'rotated')}: no such file`,
    );
    await writeFile(join(dir(), 'rotated'), 'one\n');
    expect(await authorization()).to.equal('Bearer one');
    await writeFile(join(dir(), 'rotated'), 'two');
    expect(await authorization()).to.equal('Bearer two');
    await writeFile(join(dir(), 'rotated'), '\n');
    expect(await rejection(authorization()))
      .to.have.property('message')
      .that.includes('it is empty');
  });

  it('reads a pipe once, such as the output of a command in a shell', async () => {
    const file = await write('plain', 'https://one');
    const pipe = join(dir(), 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    const writer = promisify(execFile)('cp', [file, pipe]);
    const source = kubeConfigSource(pipe);
    for (let reads = 0; reads < 2; reads++) {
      expect(source(true).getCurrentCluster()).to.include({ server: 'https://one' });
    }
    await writer;
  });

  it('uses the kubeconfig of the home directory outside a pod', async () => {
    await write('home', 'https://home');
    expect(kubeConfigSource('', {}, places())().getCurrentCluster()?.server).to.equal('https://home');
  });

  it('reports in one line that there is no kubeconfig', () => {
    expect(() => kubeConfigSource(undefined, {}, places())()).to.throw(
      'no kubeconfig: neither --kubeconfig nor KUBECONFIG is set',
    );
    expect(() => kubeConfigSource(join(dir(), 'x') + delimiter + join(dir(), 'y'))()).to.throw(
      'no kubeconfig file exists',
    );
  });

  it('reports an unreadable file with its path', () => {
    const missing = join(dir(), 'missing');
    expect(() => kubeConfigSource(missing)()).to.throw(`${missing}: no such file`);
    expect(() => kubeConfigSource(dir())()).to.throw(`${dir()}: it is a directory`);
  });

  describe('with one file', () => {
    const USABLE = {
      clusters: [{ name: 'c', cluster: { server: 'https://one' } }],
      users: [{ name: 'u', user: { token: 'hidden' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };

    /** The message after the file name; undefined for a usable file. */
    async function refusalOf(text: string): Promise<string | undefined> {
      const file = join(dir(), 'config');
      await writeFile(file, text);
      const source = kubeConfigSource(file);
      const [first, second] = [attempt(source), attempt(source)];
      expect(inspect(first)).not.to.include('hidden');
      // A second call must not return the rejected file.
      expect(String(second)).to.equal(String(first));
      if (first === undefined) return undefined;
      const message = first instanceof Error ? first.message : '';
      expect(message.startsWith(file)).to.equal(true);
      return message.slice(file.length);
    }
    const refusalWith = (members: object) => refusalOf(JSON.stringify({ ...USABLE, ...members }));

    function attempt(source: () => unknown): unknown {
      try {
        source();
        return undefined;
      } catch (error) {
        return error;
      }
    }

    for (const [what, members, words] of [
      ['without a current context', { 'current-context': '' }, /has no current context; .* use-context x$/],
      ['whose current context is not in it', { 'current-context': 'y' }, /"y" is not in it; .* x$/],
      ['without any context', { contexts: [], 'current-context': '' }, /use-context NAME$/],
      ['whose cluster is not in it', { clusters: [] }, /names the cluster "c", .* set-cluster c --server/],
      ['whose user is not in it', { users: [] }, /names the user "u", .* set-credentials u/],
      [
        'whose server is no address',
        { clusters: [{ name: 'c', cluster: { server: 'localhost:6443' } }] },
        /server of its cluster "c" is not a URL; .* set-cluster c --server/,
      ],
      ['with a cluster without a server', { clusters: [{ name: 'c', cluster: {} }] }, /server is missing/],
    ] as const) {
      it(`rejects a kubeconfig ${what}, with the file and the cure`, async () => {
        expect(await refusalWith(members)).to.match(words);
      });
    }

    it('accepts a context without a user', async () => {
      const contexts = [{ name: 'x', context: { cluster: 'c' } }];
      expect(await refusalWith({ contexts })).to.equal(undefined);
    });

    it('rejects invalid YAML with its line and without the secrets around it', async () => {
      expect(await refusalOf('users:\n- token: hidden: hidden\n')).to.match(
        /^:2: is not YAML: bad indentation/,
      );
      expect(await refusalOf('null')).to.equal(': is not a kubeconfig');
      expect(await refusalOf('')).to.include('the input is empty');
    });
  });
});
