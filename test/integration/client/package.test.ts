// Tests of the npm package of the client library: packed, installed without a network, type-checked and run.
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../../../hack/system/command.ts';
import { executable } from '../../../hack/system/executable.ts';
import { closeNow, listenOnLoopback } from '../../support/loopback.ts';
import { scratchFolder } from '../../support/scratch.ts';

const ROOT = join(import.meta.dirname, '../../..');
const TSC = join(ROOT, 'node_modules/.bin/tsc');

/** A program of a reader: its types and their errors. */
const PROGRAM = `
import { Client, type ListPage, StatusError, type WatchEvent } from 'ks-apiserver-client';
interface Pod { metadata: { name: string }; spec: { nodeName?: string } }
const client = new Client({ server: 'https://platform.example.com', token: { token: async () => 'x' } });
const page: ListPage<Pod> = await client.lists.page<Pod>('pods', { limit: 3, status: ['Running'] });
const nodes: (string | undefined)[] = page.items.map(({ spec }) => spec.nodeName);
for await (const { type, object } of client.kubernetes.watch('/api/v1/pods')) {
  const kind: WatchEvent['type'] = type;
  export_(kind, object.metadata.name);
}
function export_(...values: string[]): void { void values; }
const codeOf = (error: unknown): number | undefined => error instanceof StatusError ? error.code : undefined;
// @ts-expect-error an unknown parameter
await client.lists.page('pods', { limt: 3 });
// @ts-expect-error a value of another type
await client.search('cart', { limit: '3' });
`;

const SCRIPT = `
import { Client } from 'ks-apiserver-client';
const { lists } = new Client({ server: process.argv[2], token: 'T' });
for await (const { totalItems } of lists.live('pods')) { console.log(totalItems); break; }
`;

describe('the package of the client library', () => {
  it('is installed, type-checked and run by Node', async () => {
    await using scratch = await scratchFolder();
    const { path } = scratch;
    const run = async (cwd: string, program: string, ...args: string[]): Promise<string> => {
      const signal = AbortSignal.timeout(170_000);
      const { code, output } = await runCommand(program, args, {
        cwd,
        env: process.env,
        signal,
        output: 'collect',
      });
      expect(code, `${program} ${args.join(' ')}\n${output}`).to.equal(0);
      return output.trim();
    };

    // A copy of what the package is built from, because packing writes files.
    const copy = join(path, 'repository');
    for (const name of ['client', 'tsconfig.json', 'package.json', 'LICENSE']) {
      await cp(join(ROOT, name), join(copy, name), { recursive: true });
    }
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    await run(join(copy, 'client'), 'npm', 'pack', '--ignore-scripts=false', '--pack-destination', path);
    const { version } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'));

    const consumer = join(path, 'consumer');
    await mkdir(consumer);
    await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
    await run(consumer, 'npm', 'install', '--offline', join(path, `ks-apiserver-client-${version}.tgz`));
    await writeFile(join(consumer, 'program.ts'), PROGRAM);
    const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022'];
    for (const environment of [
      ['--module', 'nodenext', '--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')],
      ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom', '--types', ''],
    ]) {
      await run(consumer, TSC, ...strict, ...environment, 'program.ts');
    }

    const server = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('event: page\ndata: {"totalItems":7}\n\n');
    });
    const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
    try {
      await writeFile(join(consumer, 'script.mjs'), SCRIPT);
      for (const node of await nodes())
        expect(await run(consumer, node, 'script.mjs', url), node).to.equal('7');
    } finally {
      await closeNow(server);
    }
  });
});

/** The Node of the tests, and the one of the machine, which is often an older version. */
async function nodes(): Promise<string[]> {
  const folders = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'));
  const found = await Promise.all(folders.map((folder) => executable(join(folder, 'node'))));
  const machine = found.find((file) => file !== undefined);
  return [process.execPath, ...(machine === undefined ? [] : [machine])];
}
