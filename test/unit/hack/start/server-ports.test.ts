// Tests of the choice of ports for the development server.
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { chooseServerPorts, requireFree } from '../../../../hack/start/server-ports.ts';
import { listenOnLoopback } from '../../../support/loopback.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolderEach } from '../../../support/scratch.ts';

describe('the ports of the development server', () => {
  const folder = scratchFolderEach();
  const file = (): string => join(folder(), 'ports.json');
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function occupy(port: number): Promise<void> {
    const server = createServer();
    servers.push(server);
    await listenOnLoopback(server, port);
  }

  it('change if another process listens there', async () => {
    const first = await chooseServerPorts(file(), undefined);
    await occupy(first.secure);
    const second = await chooseServerPorts(file(), undefined);
    expect(second.secure).to.not.equal(first.secure);
    expect(second.insecure).to.equal(first.insecure);
  });

  it('are rejected with an alternative if the requested one is privileged', async () => {
    const { message } = await rejection(requireFree(80, async () => 'forbidden'));
    expect(message).to.equal('port 80 is privileged: use a port above 1023, or omit --port');
  });

  it('are rejected with an alternative if the requested one is in use', async () => {
    const { secure } = await chooseServerPorts(file(), undefined);
    await occupy(secure);
    const { message } = await rejection(chooseServerPorts(file(), secure));
    expect(message).to.equal(`port ${secure} is in use: stop the program that listens on it, or omit --port`);
  });
});
