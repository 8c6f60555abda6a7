import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { StalledError } from '../../../../../../../server/cluster/connection/response-body.ts';
import { ownChunks } from '../../../../../../../server/logging/backends/kubernetes/reading/own-chunks.ts';
import { until } from '../../../../../../support/until.ts';

describe('the chunks of an answer in memory of their own', () => {
  let server: Server;
  /** Writes the body, in parts of its own. */
  let body: (write: (part: Buffer) => void, end: () => void, cut: () => void) => void;

  before(async () => {
    server = createServer((_, response) => {
      response.flushHeaders();
      body(
        (part) => response.write(part),
        () => response.end(),
        () => response.destroy(),
      );
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function open(): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    get({ host: '127.0.0.1', port }, resolve).on('error', reject);
    return promise;
  }

  async function textOf(response: IncomingMessage): Promise<string> {
    let text = '';
    for await (const chunk of ownChunks(response, 10_000)) {
      text += chunk.toString('latin1');
      // Others work too, and more comes meanwhile.
      await new Promise(setImmediate);
    }
    return text;
  }

  it('are all of it, once, however it comes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 90_000 }), { maxLength: 12 }), async (lengths) => {
        const parts = lengths.map((length, n) => Buffer.alloc(length, `${n}-${length};`));
        body = (write, end) => {
          for (const part of parts) write(part);
          end();
        };
        expect(await textOf(await open())).to.equal(Buffer.concat(parts).toString('latin1'));
      }),
      { numRuns: 40 },
    );
  });

  it('are given back with what they came in, when the next one is asked for or the reader leaves', async () => {
    body = (write, end) => {
      for (let n = 0; n < 20; n++) write(Buffer.alloc(100_000, 'x'));
      end();
    };
    const response = await open();
    const read = new Set<ArrayBufferLike>();
    response.on('data', ({ buffer }: Buffer) => read.add(buffer));
    const chunks: Buffer[] = [];
    for await (const chunk of ownChunks(response, 10_000)) {
      expect(chunks.at(-1)?.length ?? 0).to.equal(0);
      expect(chunk.toString('latin1')).to.match(/^x+$/);
      chunks.push(chunk);
      if (chunks.length === 30) break;
    }
    expect(chunks.every(({ length }) => length === 0)).to.equal(true);
    // What is as long as the memory that Node shares out is left alone.
    const left = [...read].filter(({ byteLength }) => byteLength > 0 && byteLength !== Buffer.poolSize);
    expect(read.size).to.be.above(5);
    expect(left).to.deep.equal([]);
    expect(response.destroyed).to.equal(true);
  });

  it('end with a failure when the answer is cut, behind what has come', async () => {
    body = (write, _, cut) => {
      write(Buffer.from('half'));
      setImmediate(cut);
    };
    let text = '';
    let failure: unknown;
    try {
      for await (const chunk of ownChunks(await open(), 10_000)) text += chunk.toString();
    } catch (error) {
      failure = error;
    }
    expect(text).to.equal('half');
    expect(failure).to.be.instanceOf(Error);
  });

  it('are none, but a failure, of an answer that was given up before', async () => {
    body = (write) => write(Buffer.from('one'));
    const response = await open();
    const closed = new Promise((resolve) => response.on('close', resolve));
    response.destroy();
    await closed;
    const failure = await textOf(response).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
  });

  it('end when nothing comes for too long, not while they are worked on', async () => {
    body = (write) => write(Buffer.from('one'));
    let text = '';
    let failure: unknown;
    try {
      const response = await open();
      // Nothing of the time that it takes to come is meant here.
      await until(() => response.readableLength > 0);
      for await (const chunk of ownChunks(response, 30)) {
        text += chunk.toString();
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
    } catch (error) {
      failure = error;
    }
    expect(text).to.equal('one');
    expect(failure).to.be.instanceOf(StalledError);
  });
});
