// Tests of kubectl: each command runs directly and through the gateway, and must have the same output and exit code.
import { expect } from 'chai';
import type { Output, Platform } from '../platform.ts';
import type { GatewayPlatform, Side } from './gateway-platform.ts';
import { ACCOUNT_LANE, LANES, type Lane } from './kubectl-commands.ts';
import { MANIFESTS } from './kubectl-manifests.ts';
import { type Command, comparable, Session } from './kubectl-session.ts';
import { sharedGateway } from './shared-gateway.ts';

const ACCOUNT = 'kubectl-user';

describe('kubectl', () => {
  const outputs = new Map<Command, Record<Side, Output | undefined>>();
  const lanes = [...LANES, ACCOUNT_LANE];

  before(async () => {
    const gateway = await sharedGateway();
    const ours = await gateway.signIn('ada');
    const account = await createAccount(gateway);
    await Promise.all(
      lanes.map(async (lane) => {
        const token = lane === ACCOUNT_LANE ? account : ours;
        const start = (side: Side): Promise<Session> =>
          Session.start(gateway, side, token, lane.name, MANIFESTS);
        const [direct, through] = await Promise.all([start('direct'), start('gateway')]);
        if (lane === ACCOUNT_LANE) await permit(gateway.platform, [direct, through]);
        const [expected, found] = await Promise.all([direct, through].map((session) => run(session, lane)));
        lane.commands.forEach((command, index) =>
          outputs.set(command, { direct: expected?.[index], gateway: found?.[index] }),
        );
      }),
    );
  });

  for (const { name, commands } of lanes) {
    describe(name, () => {
      for (const command of commands) {
        it(command.args, () => {
          const { direct, gateway } = outputs.get(command) ?? {};
          expect(gateway).to.deep.equal(direct);
          expect(direct?.code, direct?.stderr).to.equal(command.code ?? 0);
        });
      }
    });
  }
});

/** Runs the commands one after the other. */
async function run(session: Session, { commands }: Lane): Promise<Output[]> {
  const outputs: Output[] = [];
  for (const command of commands) outputs.push(comparable(await session.run(command), command.unordered));
  return outputs;
}

/** Returns the token of a ServiceAccount. */
async function createAccount(gateway: GatewayPlatform): Promise<string> {
  await gateway.platform.succeeding('create serviceaccount', ACCOUNT);
  return gateway.serviceAccountToken('default', ACCOUNT);
}

/** Permits the ServiceAccount to edit objects of the sessions' namespaces, and to view those of `shop`. */
async function permit(platform: Platform, sessions: readonly Session[]): Promise<void> {
  const subject = `--serviceaccount=default:${ACCOUNT}`;
  const bind = async (namespace: string, role: string): Promise<void> => {
    await platform.bind(role, subject, namespace);
    const as = `--as=system:serviceaccount:default:${ACCOUNT}`;
    await platform.permitted('get pods --subresource=log -n', namespace, as);
  };
  await Promise.all([bind('shop', 'view'), ...sessions.map(({ namespace }) => bind(namespace, 'edit'))]);
}
