// Tests of faults of kube-apiserver, and of the network to it.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { fault } from '../../support/faults.ts';
import { until } from '../../support/until.ts';
import { type FaultPlatform, NODES, type Statuses, type Watch, WORKING } from './fault-platform.ts';

/** The liveness and readiness probes of the manifests. */
const PROBES = ['/livez', '/readyz?exclude=informer-sync&exclude=front-proxy&exclude=oauth'];

export function describeBadNetwork(subject: () => FaultPlatform): void {
  fault('latency of 200 ms and packet loss to kube-apiserver', async (recovers) => {
    const platform = subject();
    const { network, remote } = platform;
    const watch = await remote.watch();
    network.impair({ roundTripMs: 200, lossOneIn: 20, retransmissionMs: 400 });
    network.cut();
    expect(await remote.statuses()).to.deep.equal(WORKING);
    const during = await platform.change();
    await until(() => watch.text.includes(during));
    network.impair(undefined);
    network.cut();
    const afterwards = await platform.change();
    await recovers(async () => watch.text.includes(afterwards) && (await remote.works()));
    expect(watch.ended).to.equal(false);
  });
}

/** `others`: declares tests of the other replicas, which run during the outage. */
export function describeOutage(subject: () => FaultPlatform, others: () => void): void {
  describe('during an outage of kube-apiserver for one replica', () => {
    let platform: FaultPlatform;
    let watch: Watch;
    let began = 0;

    before(async () => {
      platform = subject();
      const { network, remote } = platform;
      watch = await remote.watch();
      expect(await remote.statuses()).to.deep.equal(WORKING);
      began = performance.now();
      network.redirect(1);
      network.cut();
      const statuses: Statuses = { known: 200, unknown: 503, forwarded: 503, signIn: 503 };
      expect(await remote.statuses()).to.deep.equal(statuses);
    });

    others();

    fault('kube-apiserver is down for 30 s', async (recovers) => {
      const { network, remote } = platform;
      await until(() => performance.now() - began >= 30_000);
      const statuses: Statuses = { known: 503, unknown: 503, forwarded: 503, signIn: 503 };
      expect(await remote.statuses()).to.deep.equal(statuses);
      const { body } = await remote.client.send(NODES, { token: platform.token });
      expect(body).to.include('"retryAfterSeconds":1');
      for (const path of PROBES) expect(await remote.status(path), path).to.equal(200);
      network.redirect(platform.platform.controlPlane.ports.apiserver);
      const afterwards = await platform.change();
      await recovers(async () => watch.text.includes(afterwards) && (await remote.works()));
      expect(watch.ended).to.equal(false);
    });
  });
}

export function describeResponses(subject: () => FaultPlatform): void {
  fault('kube-apiserver takes 5 s for each response', async (recovers) => {
    const { answers, faulty } = subject();
    expect(await faulty.statuses()).to.deep.equal(WORKING);
    answers.break({ delayMs: 5_000 });
    const slow = [faulty.unknown(), faulty.forwarded(), faulty.signIn()];
    const first = await Promise.race([faulty.known(), ...slow.map((pending) => pending.then(() => 'slow'))]);
    expect(first).to.equal(200);
    expect(await Promise.all(slow)).to.deep.equal([200, 200, 200]);
    answers.break(undefined);
    await recovers(() => faulty.works());
  });

  async function expectResponse(
    status: number,
    recovers: (condition: () => Promise<boolean>) => Promise<void>,
  ): Promise<void> {
    const platform = subject();
    const { answers, faulty } = platform;
    const watch = await faulty.watch();
    expect(await faulty.statuses()).to.deep.equal(WORKING);
    const failures = async (): Promise<number> =>
      (await readFile(faulty.server.logFile, 'utf8')).split(`"code":${status}`).length;
    const before = await failures();
    answers.break({ status });
    answers.cut();
    // The watches of the server fail too.
    await until(async () => (await failures()) > before);
    const statuses: Statuses = { known: 200, unknown: 503, forwarded: status, signIn: 503 };
    expect(await faulty.statuses()).to.deep.equal(statuses);
    answers.break(undefined);
    const afterwards = await platform.change();
    await recovers(async () => watch.text.includes(afterwards) && (await faulty.works()));
    expect(watch.ended).to.equal(false);
  }

  fault('kube-apiserver responds with 429', (recovers) => expectResponse(429, recovers));

  fault('kube-apiserver responds with 500', (recovers) => expectResponse(500, recovers));
}
