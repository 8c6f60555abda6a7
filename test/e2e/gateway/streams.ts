// Tests of exec, attach, cp, port-forward and logs through the gateway.
import { expect } from 'chai';
import { type GatewayPlatform, SIDES } from './gateway-platform.ts';

export function describeStreams(subject: () => GatewayPlatform): void {
  describe('streams', () => {
    let gateway: GatewayPlatform;
    let token: string;

    before(async () => {
      gateway = subject();
      token = await gateway.signIn('ada');
    });

    it('runs a command with its exit code, output and error output', async () => {
      const { namespace, name } = gateway.pod;
      const [direct, through] = await Promise.all(
        SIDES.map((side) =>
          gateway.kubectl(
            side,
            token,
            'exec',
            '-n',
            namespace,
            name,
            '--',
            'sh',
            '-c',
            'echo out; echo err >&2; exit 3',
          ),
        ),
      );
      expect(through).to.deep.equal(direct);
      expect(through?.stdout).to.equal('out\n');
      await gateway.settled();
    });
  });
}
