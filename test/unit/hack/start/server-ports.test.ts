// Tests of the choice of ports for the development server.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { chooseServerPorts, requireFree } from '../../../../hack/start/server-ports.ts';

describe('the ports of the development server', () => {
  let dir: string;
  let file: string;
  const servers: Server[] = [];

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'ks-ports-'));
    file = join(dir, 'ports.json');
  });

  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    await rm(dir, { recursive: true });
  });

  async function occupy(port: number): Promise<void> {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
  }

  it('change if another process listens there', async () => {
    const first = await chooseServerPorts(file, undefined);
    await occupy(first.secure);
    const second = await chooseServerPorts(file, undefined);
    expect(second.secure).to.not.equal(first.secure);
    expect(second.insecure).to.equal(first.insecure);
  });

  it('are rejected with an alternative if the requested one is privileged', async () => {
    const refusal = await requireFree(80, async () => 'forbidden').catch((error: unknown) => error);
    expect(refusal)
      .to.be.an('error')
      .with.property('message', 'port 80 is privileged: use a port above 1023, or omit --port');
  });

  it('are rejected with an alternative if the requested one is in use', async () => {
    const { secure } = await chooseServerPorts(file, undefined);
    await occupy(secure);
    const refusal = await chooseServerPorts(file, secure).catch((error: unknown) => error);
    expect(refusal)
      .to.be.an('error')
      .with.property(
        'message',
        `port ${secure} is in use: stop the program that listens on it, or omit --port`,
      );
  });
});
