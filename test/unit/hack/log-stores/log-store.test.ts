// Tests of the start, restart and stop of log store processes.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Program, type StartOptions, startProgram } from '../../../../hack/log-stores/log-store.ts';
import { identify, isRunning } from '../../../../hack/system/process-identity.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder } from '../../../support/scratch.ts';

/** Source text of a server that counts its requests in a file. The count survives restarts. */
const COUNTING = `
  const { appendFileSync, readFileSync } = require('node:fs');
  const [data, port] = process.argv.slice(1);
  require('node:http').createServer((request, response) => {
    if (request.url === '/end') process.exit(3);
    if (request.url === '/count') appendFileSync(data, '.');
    response.end(request.url === '/count' ? String(readFileSync(data).length) : '');
  }).listen(Number(port), '127.0.0.1');`;

const counter: Program = {
  name: 'counter',
  ports: 1,
  command: process.execPath,
  args: (dir, [port]) => ['-e', COUNTING, join(dir, 'data/count'), String(port)],
  readyPath: '/ready',
};

async function ask(url: string): Promise<string> {
  return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
}

async function withFolder(
  use: (options: StartOptions & { abort: AbortController }) => Promise<void>,
): Promise<void> {
  await using scratch = await scratchFolder();
  const abort = new AbortController();
  await use({ dir: join(scratch.path, 'store'), signal: abort.signal, abort });
}

describe('a log store', () => {
  it('is ready after a start, and on the same port with its data after a restart', async () => {
    await withFolder(async (options) => {
      await using store = await startProgram(counter, options);
      expect(store.url).to.equal(`http://127.0.0.1:${store.port}`);
      expect(await ask(`${store.url}/count`)).to.equal('1');
      const { pid, url } = store;
      await store.restart();
      expect(store.url).to.equal(url);
      expect(store.pid).to.be.a('number').and.not.equal(pid);
      expect(await ask(`${url}/count`)).to.equal('2');
    });
  });

  it('refuses connections while stopped or killed, and can be restarted', async () => {
    await withFolder(async (options) => {
      await using store = await startProgram(counter, options);
      for (const end of [() => store.stop(), () => store.kill()]) {
        const process = identify(store.pid ?? 0);
        await end();
        expect(store.pid).to.equal(undefined);
        expect(process !== undefined && isRunning(process)).to.equal(false);
        const refused = (await rejection(ask(`${store.url}/count`))).cause;
        expect(refused).to.have.property('code', 'ECONNREFUSED');
        await store.start();
      }
      expect(await ask(`${store.url}/count`)).to.equal('1');
    });
  });

  it('owns its folder until it is stopped', async () => {
    await withFolder(async (options) => {
      const store = await startProgram(counter, options);
      expect((await rejection(startProgram(counter, options))).message).to.match(
        new RegExp(`is used by process ${process.pid}`),
      );
      await store.stop();
      await using next = await startProgram(counter, options);
      expect(await ask(`${next.url}/count`)).to.equal('1');
    });
  });

  it('reports an unexpected exit, and can be restarted', async () => {
    await withFolder(async (options) => {
      const { promise: end, resolve: failed } = Promise.withResolvers<Error>();
      await using store = await startProgram(counter, { ...options, failed });
      await rejection(ask(`${store.url}/end`));
      expect((await end).message).to.match(/^counter exited with code 3/);
      await store.start();
      expect(await ask(`${store.url}/count`)).to.equal('1');
    });
  });

  it('reports why it cannot start, and leaves nothing', async () => {
    await withFolder(async (options) => {
      const broken = { ...counter, args: () => ['-e', 'console.error("no heap"); process.exit(1)'] };
      const { message } = await rejection(startProgram(broken, options));
      expect(message)
        .to.match(/^counter exited with code 1/)
        .and.include('no heap');
      expect(await readdir(join(options.dir, 'run'))).to.deep.equal([]);
    });
  });
});
