// Tests of the Java client fabric8 through the gateway.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { javaClients } from '../../support/java.ts';
import { type GatewayPlatform, SIDES } from './gateway-platform.ts';
import { sharedGateway } from './shared-gateway.ts';

describe('the client of Java', () => {
  let gateway: GatewayPlatform;
  let command: readonly [string, ...string[]];

  before(async function () {
    gateway = await sharedGateway();
    command = (await javaClients(gateway.platform.signal)) ?? this.skip();
  });
  after(() => gateway.settled());

  it('fabric8: lists, informer, server-side apply, exec, logs, port-forward and leader election', async () => {
    const { platform, pod } = gateway;
    const [java, ...options] = command;
    const token = await gateway.signIn('ada');
    const [direct, through] = await Promise.all(
      SIDES.map(async (side) => {
        const name = `fabric8-${side}`;
        const { url } = side === 'direct' ? platform.controlPlane : platform.server;
        const file = await platform.writeKubeconfig(`${name}.json`, { token }, url);
        const args = ['Client', file, pod.namespace, pod.name, pod.container, name];
        const { stdout } = await promisify(execFile)(java, [...options, ...args], {
          signal: platform.signal,
        });
        return stdout.split('\n');
      }),
    );
    expect(through).to.deep.equal(direct);
    expect(through).to.include.members([
      'informer: added {a=1}, updated {a=2}, deleted',
      'apply: {b=3}, then NotFound',
      'exec: 0 the input',
      'port-forward: through a port',
      'leader: true',
    ]);
  });
});
