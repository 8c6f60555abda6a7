// Tests of RevisionProof, which proves that a cache is current, with a fake kube-apiserver and a fake cache.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { RevisionProof } from '../../../../server/cache/revision-proof.ts';
import { orAborted } from '../../../../server/concurrency/or-aborted.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;

describe('RevisionProof', () => {
  let version: string;
  let reads: PromiseWithResolvers<unknown>[];
  let proof: RevisionProof;
  const current = (resourceVersion: string) => ({ metadata: { resourceVersion } });

  beforeEach(() => {
    version = '10';
    reads = [];
    const json = (): Promise<unknown> => {
      const read = Promise.withResolvers<unknown>();
      reads.push(read);
      return read.promise;
    };
    proof = new RevisionProof({ json }, '/api/v1/pods', {
      get currentResourceVersion() {
        return version;
      },
      // The cache does not reach the version by itself.
      waitUntil: (_, signal) => orAborted(new Promise<void>(() => undefined), signal),
    });
  });

  it('shares a read between the calls that precede it, but not with a later call', async () => {
    const first = [proof.prove(1_000, never), proof.prove(1_000, never)];
    await until(() => reads.length === 1);
    const later = [proof.prove(1_000, never), proof.prove(1_000, never)];
    reads[0]?.resolve(current('10'));
    expect(await Promise.all(first)).to.deep.equal([true, true]);
    await until(() => reads.length === 2);
    // A revision that the first read could not contain.
    version = '11';
    reads[1]?.resolve(current('11'));
    expect(await Promise.all(later)).to.deep.equal([true, true]);
    expect(reads).to.have.length(2);
  });

  it('fails if the cache does not reach the revision in time', async () => {
    const proving = proof.prove(5, never);
    await until(() => reads.length === 1);
    reads[0]?.resolve(current('11'));
    expect(await proving).to.equal(false);
  });

  it('fails if the revision is lower than that of the cache, because etcd was restored', async () => {
    const proving = proof.prove(1_000, never);
    await until(() => reads.length === 1);
    reads[0]?.resolve(current('9'));
    expect(await proving).to.equal(false);
  });

  it('throws if kube-apiserver does not respond, and reads again at the next call', async () => {
    const proving = rejection(proof.prove(1_000, never));
    await until(() => reads.length === 1);
    reads[0]?.reject(newServiceUnavailable('down', 1));
    expect(await proving).to.include({ code: 503 });
    const next = proof.prove(1_000, never);
    await until(() => reads.length === 2);
    reads[1]?.resolve(current('10'));
    expect(await next).to.equal(true);
  });

  it('ends a call whose caller disconnects, but not the shared read', async () => {
    const gone = new AbortController();
    const [aborted, other] = [rejection(proof.prove(1_000, gone.signal)), proof.prove(1_000, never)];
    await until(() => reads.length === 1);
    gone.abort(new Error('disconnected'));
    expect((await aborted).message).to.equal('disconnected');
    reads[0]?.resolve(current('10'));
    expect(await other).to.equal(true);
  });
});
