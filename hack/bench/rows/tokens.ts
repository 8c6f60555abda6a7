// Benchmark: rate of get requests with an access token of ks-apiserver. The baseline is kube-apiserver with the same
// token.
import { until } from '../../system/until.ts';
import { withToken } from '../measuring/load-generator.ts';
import { TokenClient } from '../measuring/token-client.ts';
import { addUsers, PASSWORD, untilSynced } from '../scene/crowd.ts';
import { CORE_NODES, OUR_NODES, type Scene } from '../scene/scene.ts';
import { eachOnOneCore, type Figures, onOneCore } from './one-core.ts';
import { atLeast, milliseconds, perSecond, type Row } from './row.ts';

/** User name of the bench's caller, which has the RBAC bindings. */
const USER = 'bench';
const GOAL = 15_000;

export async function tokenRows(scene: Scene): Promise<readonly Row[]> {
  const { kube, direct, server, signal } = scene;
  const token = await accessToken(scene);
  const paths = [`${OUR_NODES}/${scene.nodeName(0)}`];
  const sides = {
    peer: {
      target: withToken(kube, token),
      pid: scene.kubePid,
      paths: [`${CORE_NODES}/${scene.nodeName(0)}`],
    },
    ours: { target: withToken(direct, token), pid: server.pid, paths },
  };
  scene.progress('waiting until kube-apiserver accepts the token');
  const isTrusted = (): Promise<boolean> => onOneCore(scene, sides.peer, 1).then(() => true);
  await until(isTrusted, { signal, timeoutMs: 60_000, pollMs: 500 });
  await onOneCore(scene, sides.ours, 5);
  const { peer, ours } = await eachOnOneCore(scene, sides);
  const facts = ({ cpu, p99 }: Figures): string =>
    `${(cpu * 1000).toFixed(0)} µs of CPU per request, p99 ${milliseconds(p99)}`;
  return [
    {
      ...atLeast('get one node with an access token', peer.rate, ours.rate, 1, perSecond),
      goal: `≥ ${perSecond(GOAL)}`,
      met: ours.rate >= GOAL,
      note: `one core for each server; ${facts(peer)}; ours ${facts(ours)}`,
      shortfall: 'the goal is a rate, and processors differ by a factor of two to three: compare the ratio',
    },
  ];
}

export async function accessToken(scene: Scene): Promise<string> {
  await addUsers(scene, [USER]);
  const client = await TokenClient.connect(scene.server.url, scene.direct.ca, 1);
  try {
    await untilSynced(client, scene.signal, USER);
    return (await client.signIn(USER, PASSWORD)).access_token;
  } finally {
    client.close();
  }
}
