// Checks that the node lists of ks-apiserver and kube-apiserver are equal. The check runs before the benchmarks.
import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { clientOf, type Target } from '../measuring/load-generator.ts';
import { CORE_NODES, OUR_NODES, type Scene } from './scene.ts';

interface NodeList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** Throws an error with the first difference. */
export async function sameNodes(scene: Scene): Promise<void> {
  const { kube, direct } = scene;
  const peer = await readList(kube, CORE_NODES);
  if (peer.items.length < scene.options.nodes)
    throw new Error(`kube-apiserver has ${peer.items.length} nodes`);
  const sides: readonly (readonly [string, Target, string])[] = [
    ['directly', direct, 'identity'],
    ['directly, gzip', direct, 'gzip'],
    ['through the aggregator', kube, 'identity'],
    ['through the aggregator, gzip', kube, 'gzip'],
  ];
  for (const [how, target, encoding] of sides) {
    const ours = await readList(target, OUR_NODES, encoding);
    compare(how, peer, ours);
  }
}

function compare(how: string, peer: NodeList, ours: NodeList): void {
  if (ours.items.length !== peer.items.length) {
    throw new Error(`${how}: ${ours.items.length} nodes, kube-apiserver has ${peer.items.length}`);
  }
  for (const [index, expected] of peer.items.entries()) {
    if (!isDeepStrictEqual(ours.items[index], expected)) {
      const { name } = expected['metadata'] as { readonly name: string };
      throw new Error(`${how}: ${name} differs`);
    }
  }
}

/** The current resourceVersion of a list, for the start of a watch. */
export async function currentVersion(target: Target, path: string): Promise<string> {
  return (await readList(target, `${path}?limit=1`)).metadata.resourceVersion;
}

async function readList(target: Target, path: string, encoding = 'identity'): Promise<NodeList> {
  return JSON.parse((await readBody(target, path, encoding)).toString()) as NodeList;
}

/** Returns the decoded body of a response. Throws unless the status is 200. */
export async function readBody(target: Target, path: string, encoding = 'identity'): Promise<Buffer> {
  using client = await clientOf(target);
  const response = await client.open(path, { headers: { ...target.headers, 'accept-encoding': encoding } });
  const body = await buffer(response);
  if (response.statusCode !== 200)
    throw new Error(`${path}: ${response.statusCode} ${body.toString().slice(0, 300)}`);
  return response.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
}
