import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { KeyRotator } from '../../../../../server/oauth/keys/key-rotator.ts';
import { KeySecret, ROTATE_ANNOTATION } from '../../../../../server/oauth/keys/key-secret.ts';
import { newKey } from '../../../../../server/oauth/keys/new-key.ts';
import { firstSet } from '../../../../../server/oauth/keys/rotation.ts';
import { MemoryObjects } from '../../../../support/cluster/memory-objects.ts';
import { until } from '../../../../support/until.ts';

const PLACE = { namespace: 'ns', name: 'keys' };
const PATH = '/api/v1/namespaces/ns/secrets/keys';
const POLICY = { rotationInterval: 100_000, publishAhead: 1_000, tokenLifetime: 5_000, macLifetime: 50_000 };
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined };
const { signal } = new AbortController();

async function cluster(): Promise<{ objects: MemoryObjects; secret: KeySecret; kid: string }> {
  const objects = new MemoryObjects();
  const secret = new KeySecret(objects, PLACE);
  const { set } = await secret.create(firstSet(await newKey(), 0), signal);
  return { objects, secret, kid: set.keys[0]?.kid ?? '' };
}

async function annotate(objects: MemoryObjects, value: string): Promise<void> {
  const object = (await objects.json({ path: PATH, signal })) as { metadata: object };
  const metadata = { ...object.metadata, annotations: { [ROTATE_ANNOTATION]: value, other: 'stays' } };
  await objects.json({ method: 'PUT', path: PATH, json: { ...object, metadata }, signal });
}

/** `changed` tells it that the Secret has. */
function listening(client: MemoryObjects): { rotator: KeyRotator; changed: () => void } {
  const listeners = new Set<() => void>();
  const rotator = new KeyRotator({
    client,
    ...PLACE,
    policy: POLICY,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    log: quiet,
    now: () => 10,
  });
  return {
    rotator,
    changed: () => {
      for (const listener of listeners) listener();
    },
  };
}

describe('KeyRotator', () => {
  it('writes nothing while no change is due', async () => {
    const { objects } = await cluster();
    const { rotator } = listening(objects);
    expect(await rotator.rotate(signal)).to.equal(98_990);
    expect(objects.asked.filter((asked) => asked.startsWith('PUT'))).to.deep.equal([]);
  });

  it('does what an operator asks for once, and takes the request away', async () => {
    const { objects, secret, kid } = await cluster();
    const { rotator, changed } = listening(objects);
    const end = new AbortController();
    const running = rotator.run(end.signal);
    await annotate(objects, 'immediate');
    const rotated = new Promise<void>((resolve) => {
      objects.changed = resolve;
    });
    changed();
    await rotated;
    end.abort();
    await running;
    const { set, request, metadata } = await secret.read(signal);
    expect(set.keys).to.have.length(1);
    expect(set.keys[0]?.kid).not.to.equal(kid);
    expect(request).to.equal(undefined);
    expect(metadata['annotations']).to.deep.equal({ other: 'stays' });
  });

  it('leaves nothing behind at the signal that it runs with, however often it looks', async () => {
    const { objects } = await cluster();
    const { rotator, changed } = listening(objects);
    const end = new AbortController();
    const running = rotator.run(end.signal);
    for (let looks = 1; looks <= 10; looks++) {
      await until(() => objects.asked.filter((asked) => asked.startsWith('GET')).length >= looks);
      changed();
    }
    expect(getEventListeners(end.signal, 'abort')).to.have.length.at.most(1);
    end.abort();
    await running;
  });

  it('leaves a change of somebody else in place', async () => {
    const { objects, secret } = await cluster();
    await annotate(objects, 'graceful');
    const { rotator } = listening(objects);
    const stale = await secret.read(signal);
    await rotator.rotate(signal);
    const refused = await secret.replace(stale, stale.set, signal).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).to.have.property('reason', 'Conflict');
    expect((await secret.read(signal)).set.keys).to.have.length(2);
  });
});
