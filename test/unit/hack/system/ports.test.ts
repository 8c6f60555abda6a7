// Tests of the lookup of free ports.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { choosePorts, freePort, freePorts } from '../../../../hack/system/ports.ts';

async function occupied(): Promise<Disposable & { port: number }> {
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port,
    [Symbol.dispose]: () => {
      server.close();
    },
  };
}

describe('the ports of a control plane', () => {
  it('are different and below the ephemeral range', async () => {
    const ports = Object.values(await choosePorts({}));
    expect(new Set(ports).size).to.equal(5);
    expect(Math.max(...ports, ...(await freePorts(3)))).to.be.below(32_768);
  });

  it('are returned once, even before they are in use', async () => {
    const ports = await Promise.all(Array.from({ length: 200 }, () => freePort()));
    expect(new Set(ports).size).to.equal(200);
  });

  it('change if another process uses the saved one', async () => {
    using other = await occupied();
    const ports = await choosePorts({ apiserver: other.port });
    expect(ports.apiserver).not.to.equal(other.port);
  });
});
