// Generates the Markdown table of faults. Each fault has a test, which `fault` in test/support/faults.ts declares.
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { table } from './markdown-table.ts';

interface Fault {
  /** Behaviour that clients observe during the fault, in Markdown. */
  readonly clientsSee: string;
  /** Maximum time from the end of the fault to the recovery, in s. 0: there is nothing to recover from. */
  readonly recoverySeconds: number;
}

export const FAULTS = {
  'kube-apiserver is down for 30 s': {
    clientsSee:
      'Cached reads of known callers work; other requests get 503 with `Retry-After`. Watches stay open, without events. Probes pass',
    recoverySeconds: 15,
  },
  'kube-apiserver takes 5 s for each response': {
    clientsSee:
      'Cached reads of known callers take no longer. A new token takes 10 s; the gateway and sign-ins 5 s or more',
    recoverySeconds: 10,
  },
  'kube-apiserver responds with 429': {
    clientsSee:
      'Cached reads of known callers work. New tokens and sign-ins get 503. The gateway forwards the response. Watches stay open',
    recoverySeconds: 15,
  },
  'kube-apiserver responds with 500': {
    clientsSee:
      'Cached reads of known callers work. New tokens and sign-ins get 503. The gateway forwards the response. Watches stay open',
    recoverySeconds: 15,
  },
  'latency of 200 ms and packet loss to kube-apiserver': {
    clientsSee: 'Requests that need kube-apiserver take longer; none fails',
    recoverySeconds: 15,
  },
  'a watch of kube-apiserver stalls': {
    clientsSee:
      'Lists and watches are stale. The server replaces a watch after 90 s without data, those of sessions, users and passwords after 15 s; the recovery time counts from then on',
    recoverySeconds: 10,
  },
  'etcd is restored to an older snapshot': {
    clientsSee:
      'The same as while kube-apiserver is down. Then watches end, so that clients relist the older objects',
    recoverySeconds: 30,
  },
  'the clock of one replica is 30 s ahead': {
    clientsSee: 'Nothing. An access token can expire 30 s early or late',
    recoverySeconds: 0,
  },
  'the front-proxy CA is rotated under load': {
    clientsSee: 'Nothing',
    recoverySeconds: 0,
  },
  'the serving certificate is rotated under load': {
    clientsSee: 'Nothing',
    recoverySeconds: 0,
  },
  'the ServiceAccount token of the server is rotated under load': {
    clientsSee: 'Nothing',
    recoverySeconds: 0,
  },
  '10,000 idle connections': {
    clientsSee:
      'Beyond `listeners.limits.connections`, [connections of other networks displace](limits.md#connections) those of the network with the most',
    recoverySeconds: 5,
  },
  'clients send their requests slowly (Slowloris)': {
    clientsSee: 'The slow clients get 408 or 429. Other clients notice nothing',
    recoverySeconds: 5,
  },
  'a flood of invalid tokens': {
    clientsSee: 'The flood gets 401 or 429. Known callers, and new tokens of other networks, notice nothing',
    recoverySeconds: 5,
  },
  'the log store is down': {
    clientsSee:
      'Log queries get 503 or 504, or a response that is marked as partial. Other requests work, and `/readyz` passes',
    recoverySeconds: 5,
  },
  'the log store truncates its responses': {
    clientsSee: 'The same. Live tails resume without losing lines',
    recoverySeconds: 5,
  },
  'the disk under the log is full': {
    clientsSee: 'Nothing. The server drops log lines, and logs their number when it can write again',
    recoverySeconds: 5,
  },
} as const satisfies Readonly<Record<string, Fault>>;

/** `root`: the root of the repository. Throws if no test has the name of a fault. */
export async function faultTable(root: string): Promise<string> {
  const files = await Array.fromAsync(glob('test/{conformance,e2e,integration}/**/*.ts', { cwd: root }));
  const tests = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  for (const name of Object.keys(FAULTS)) {
    if (!tests.some((text) => text.includes(`'${name}'`)))
      throw new Error(`no test declares the fault "${name}": call fault('${name}', …) in a test`);
  }
  // Faults with the same consequences share a row.
  const alike = Map.groupBy(Object.entries(FAULTS), ([, { clientsSee, recoverySeconds }]) =>
    [clientsSee, recoverySeconds].join(),
  );
  const rows = [...alike.values()].map((faults) => {
    const [[, { clientsSee, recoverySeconds }] = ['', { clientsSee: '', recoverySeconds: 0 }]] = faults;
    const recovery = recoverySeconds === 0 ? '–' : `${recoverySeconds} s`;
    return [faults.map(([name]) => name).join('; '), clientsSee, recovery];
  });
  return table(['fault', 'clients see', 'recovery within'], rows);
}
