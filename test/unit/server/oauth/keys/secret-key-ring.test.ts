// Tests of the key ring that replicas load from a Secret.
import { expect } from 'chai';
import { messageOf } from '../../../../../apis/reading/thrown-value.ts';
import type { ClusterClient } from '../../../../../server/cluster/connection/client.ts';
import { fillSecret } from '../../../../../server/cluster/secrets/installed-secret.ts';
import { SharedSecret } from '../../../../../server/cluster/secrets/shared-secret.ts';
import { firstSet, type KeySet, writeKeySet } from '../../../../../server/oauth/keys/key-set.ts';
import { SecretKeyRing } from '../../../../../server/oauth/keys/secret-key-ring.ts';
import { MemoryObjects } from '../../../../support/cluster/memory-objects.ts';
import {
  bookmark,
  type Call,
  event,
  refuse,
  ScriptedCluster,
  send,
} from '../../../../support/cluster/scripted-cluster.ts';
import { newMaterial } from '../../../../support/oauth/memory-key-ring.ts';
import { log as silent } from '../../../../support/oauth/signed-in.ts';
import { running } from '../../../../support/running.ts';
import { until } from '../../../../support/until.ts';

const PLACE = { namespace: 'ns', name: 'keys' };
const { signal } = new AbortController();

function dataOf(set: KeySet): Record<string, string> {
  return { 'keys.json': Buffer.from(writeKeySet(set)).toString('base64') };
}

describe('SecretKeyRing', () => {
  let cluster: MemoryObjects;
  let time: number;
  let ring: SecretKeyRing;

  beforeEach(async () => {
    cluster = new MemoryObjects();
    time = 0;
    const data = dataOf(firstSet(await newMaterial(), 0));
    await fillSecret(cluster, PLACE, undefined, { data }, signal);
    cluster.requests.length = 0;
    ring = new SecretKeyRing({
      client: cluster,
      secret: { keep: () => undefined },
      ...PLACE,
      log: silent,
      monotonic: () => time,
    });
  });

  it('has no keys before the Secret is read', () => {
    expect(ring.ready).to.equal(false);
    for (const use of [() => ring.signing(), () => ring.jwks(), () => ring.mac('a', 'b')]) {
      expect(use).to.throw().with.property('code', 503);
    }
    expect(ring.verification('any', 'ES256')).to.equal(undefined);
    expect(ring.checkMac('a', 'b', 'c')).to.equal(false);
  });

  it('re-reads the Secret once in ten seconds for unknown keys', async () => {
    await Promise.all([ring.reread(), ring.reread(), ring.reread()]);
    expect(ring.ready).to.equal(true);
    time = 9_999;
    await ring.reread();
    const reads = () => cluster.requests.filter((request) => request.startsWith('GET'));
    expect(reads()).to.have.length(1);
    time = 10_000;
    await ring.reread();
    expect(reads()).to.have.length(2);
  });

  it('keeps its keys when the Secret becomes invalid, and notifies subscribers of changes only', async () => {
    let changes = 0;
    ring.subscribe(() => changes++);
    await ring.reread();
    const { kid } = ring.signing();
    time = 60_000;
    await ring.reread();
    const [path = ''] = [...cluster.objects.keys()];
    const object = cluster.objects.get(path);
    await cluster.json({ method: 'PUT', path, json: { ...object, data: { 'keys.json': 'AAAA' } }, signal });
    time = 120_000;
    await ring.reread();
    expect([ring.signing().kid, changes]).to.deep.equal([kid, 1]);
  });
});

describe('SecretKeyRing, while its Secret changes', () => {
  const warnings: string[] = [];
  const causes: string[] = [];
  const warn = ({ err }: { err?: unknown }, message?: string) => {
    warnings.push(message ?? '');
    causes.push(messageOf(err));
  };
  const log = { debug: () => undefined, info: () => undefined, warn };
  beforeEach(() => {
    warnings.length = 0;
    causes.length = 0;
  });

  function secretOf(kept: KeySet, version: number): string {
    const metadata = { ...PLACE, uid: 'u', resourceVersion: String(version) };
    return JSON.stringify({ metadata, data: dataOf(kept) });
  }

  /** A ring, which follows its Secret until it is disposed of. */
  function follow(client: ClusterClient) {
    const secret = new SharedSecret({ client, ...PLACE, log });
    const ring = new SecretKeyRing({ client, secret, ...PLACE, log });
    const { [Symbol.asyncDispose]: dispose } = running((end) => secret.run(end));
    return { ring, [Symbol.asyncDispose]: dispose };
  }

  it('does not return to keys that the watch has reported as replaced', async () => {
    const [old, fresh] = [firstSet(await newMaterial(), 0), firstSet(await newMaterial(), 0)];
    const requested = Promise.withResolvers<Call>();
    const followed = Promise.withResolvers<Call>();
    await using cluster = await ScriptedCluster.start((call) => {
      if (call.kind === 'stream') followed.resolve(call);
      else if (call.url.pathname.endsWith('/keys')) requested.resolve(call);
    });
    await using following = follow(cluster.connect());
    const { ring } = following;
    const rereading = ring.reread();
    const { response: late } = await requested.promise;
    const { response: watch } = await followed.promise;
    send(watch, event('ADDED', secretOf(fresh, 12)), bookmark(12, true));
    await until(() => ring.ready);
    late.writeHead(200, { 'content-type': 'application/json' }).end(secretOf(old, 9));
    await rereading;
    expect(ring.signing().kid).to.equal(fresh.keys[0]?.kid);
    expect(ring.verification(old.keys[0]?.kid ?? '', 'ES256')).to.equal(undefined);
  });

  it('retries a forbidden creation, and warns once with the cure', async () => {
    let tries = 0;
    await using cluster = await ScriptedCluster.start(({ kind, request, response }) => {
      if (kind === 'stream') send(response, bookmark(12, true));
      else if (request.method === 'POST') {
        tries++;
        refuse(response, 403, 'Forbidden');
      } else refuse(response, 404, 'NotFound');
    });
    await using _following = follow(cluster.connect());
    await until(() => tries >= 3);
    expect(warnings).to.deep.equal(['cannot create the signing keys']);
    expect(causes).to.deep.equal([
      'the Secret does not exist: apply manifests/access/secrets.yaml, or run kubectl --namespace=ns create secret generic keys',
    ]);
  });

  it('keeps its keys when the watch delivers an invalid key set, and warns', async () => {
    const kept = firstSet(await newMaterial(), 0);
    const first = event('ADDED', secretOf(kept, 12));
    const broken = { metadata: { ...PLACE, resourceVersion: '13' }, data: { 'keys.json': 'AAAA' } };
    await using cluster = await ScriptedCluster.start(({ kind, response }) => {
      if (kind === 'stream')
        send(response, first, bookmark(12, true), event('MODIFIED', JSON.stringify(broken)));
    });
    await using following = follow(cluster.connect());
    const { ring } = following;
    await until(() => warnings.length > 0 && ring.ready);
    expect(warnings).to.deep.equal(['the Secret of the signing keys is invalid']);
    expect(ring.signing().kid).to.equal(kept.keys[0]?.kid);
  });
});
