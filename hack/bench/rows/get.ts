// Benchmark: rate of get requests for one node. The baselines are kube-apiserver and a minimal Node server.
import { join } from 'node:path';
import { startLineProtocolProgram } from '../../system/line-protocol-program.ts';
import { withToken } from '../measuring/load-generator.ts';
import { readBody } from '../scene/comparison.ts';
import { CALLER, CORE_NODES, OUR_NODES, type Scene } from '../scene/scene.ts';
import { eachOnOneCore, onOneCore } from './one-core.ts';
import { atLeast, milliseconds, perSecond, type Row } from './row.ts';

/** Number of different nodes in the requests: enough to avoid special cases, few enough for the CPU caches. */
const NAMES = 500;

const BARE_NODE = join(import.meta.dirname, '../bare/node.ts');

export async function getRows(scene: Scene): Promise<readonly Row[]> {
  return [...(await kubeRows(scene)), ...(await bareRows(scene))];
}

/**
 * Rows that compare our server with a bare Node program that sends the same bytes, and a ServiceAccount token with a client
 * certificate.
 */
async function bareRows(scene: Scene): Promise<readonly Row[]> {
  const { cluster, direct, serving, server, signal } = scene;
  const paths = [`${OUR_NODES}/${scene.nodeName(0)}`];
  const program = startLineProtocolProgram(process.execPath, [BARE_NODE, serving.cert, serving.key], signal);
  try {
    program.send((await readBody(direct, paths[0] ?? '')).toString('base64'));
    const bare = { ...direct, server: `https://127.0.0.1:${await program.line()}` };
    const token = withToken(direct, await serviceAccountToken(cluster));
    const sides = {
      bare: { target: bare, pid: program.pid, paths },
      certificate: { target: direct, pid: server.pid, paths },
      token: { target: token, pid: server.pid, paths },
    };
    scene.progress('warming up');
    await onOneCore(scene, sides.bare, 2);
    await onOneCore(scene, sides.token, 5);
    const figures = await eachOnOneCore(scene, sides);
    const { bare: peer, certificate, token: account } = figures;
    return [
      {
        ...atLeast(
          'get one node, compared with a bare Node program',
          peer.rate,
          certificate.rate,
          0.5,
          perSecond,
        ),
        against: 'a bare Node program',
        note: 'the peer sends the same bytes over TLS',
        shortfall:
          'the load generator is idle before each response, and the server spends CPU to wake it: 6 µs at our rate, 2 µs at the rate of the bare program',
      },
      {
        ...atLeast(
          'get one node, ServiceAccount token compared with client certificate',
          certificate.rate,
          account.rate,
          0.8,
          perSecond,
        ),
        against: 'a client certificate',
        note: 'both sides are this server',
      },
    ];
  } finally {
    await program.end();
  }
}

export async function serviceAccountToken(cluster: Scene['cluster']): Promise<string> {
  const path = `/api/v1/namespaces/default/serviceaccounts/${CALLER}/token`;
  const { status, body } = await cluster.send(path, { method: 'POST', body: { spec: {} } });
  if (status !== 201) throw new Error(`token of the ServiceAccount: ${status} ${body}`);
  return (JSON.parse(body) as { readonly status: { readonly token: string } }).status.token;
}

async function kubeRows(scene: Scene): Promise<readonly Row[]> {
  const names = Array.from({ length: Math.min(NAMES, scene.options.nodes) }, (_, index) =>
    scene.nodeName(index),
  );
  const our = names.map((name) => `${OUR_NODES}/${name}`);
  const core = names.map((name) => `${CORE_NODES}/${name}`);
  const sides = {
    peer: { target: scene.kube, pid: scene.kubePid, paths: core },
    ours: { target: scene.direct, pid: scene.server.pid, paths: our },
  };
  scene.progress('warming both sides up');
  await onOneCore(scene, sides.peer, 2);
  await onOneCore(scene, sides.ours, 5);
  const { peer, ours } = await eachOnOneCore(scene, sides);
  return [
    {
      ...atLeast('get one node, direct', peer.rate, ours.rate, 10, perSecond),
      note: `one core for each server; p99 ${milliseconds(peer.p99)}, ours p99 ${milliseconds(ours.p99)}; the load generator uses ${(ours.generator * 100).toFixed(0)} % of its core`,
      shortfall: `a request takes ${microseconds(ours.cpu)} of the core: two fifths for the write to TLS and the socket, a quarter for HTTP in Node, and a sixth for the JavaScript of the server`,
    },
  ];
}

function microseconds(milliseconds: number): string {
  return `${(milliseconds * 1000).toFixed(0)} µs`;
}
