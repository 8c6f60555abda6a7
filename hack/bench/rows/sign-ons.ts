// Benchmark: latency of a sign-on by cookie beside the same sign-in with a password, and of a refresh beside a password grant and a bare write of a session.
// One request at a time; each turn does all of them.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { record, recordIn } from '../../../apis/reading/unknown-value.ts';
import type { Client } from '../../control-plane/client.ts';
import { BrowserClient, program } from '../measuring/browser-client.ts';
import { median, sum } from '../measuring/statistics.ts';
import { CLIENT, TokenClient } from '../measuring/token-client.ts';
import { addUsers, PASSWORD, untilSynced, userOf } from '../scene/crowd.ts';
import type { Scene } from '../scene/scene.ts';
import { atMost, milliseconds, type Row } from './row.ts';

const TURNS = 100;
const PASSWORD_SIGN_IN = 'a sign-in with a password';
/** Not counted. */
const WARM_UP = 20;

const STEPS = ['form', 'exchange', 'cookie', 'exchange by cookie', 'password', 'refresh', 'write'] as const;
type Step = (typeof STEPS)[number];
type Turn = Readonly<Record<Step, number>>;

export async function signOnRows(scene: Scene): Promise<readonly Row[]> {
  await addUsers(scene);
  const { ca } = scene.direct;
  const secretFile = join(dirname(ca), 'client-secret');
  await writeFile(secretFile, CLIENT.client_secret);
  const issuer = `${scene.server.url}/oauth`;
  const { url } = await scene.another({
    configuration: { oauth: { issuer, clients: [program(secretFile)] } },
  });
  const tokens = await TokenClient.connect(url, ca, 1);
  const browser = BrowserClient.connect(url, await readFile(ca, 'utf8'));
  await untilSynced(tokens, scene.signal);
  const turns: Turn[] = [];
  try {
    for (let turn = 0; turn < WARM_UP + TURNS; turn++) {
      scene.signal.throwIfAborted();
      turns.push(await timed(browser, tokens, scene.cluster, userOf(turn)));
    }
  } finally {
    browser.close();
    tokens.close();
  }
  const typical = (...steps: Step[]): number =>
    median(turns.slice(WARM_UP).map((turn) => sum(steps.map((step) => turn[step]))));
  return [
    {
      ...atMost('sign-on by cookie: until the code', typical('form'), typical('cookie'), 0.1, milliseconds),
      against: PASSWORD_SIGN_IN,
      note: `median of ${TURNS} turns; peer: the form with a password, until the code. A password grant takes ${milliseconds(typical('password'))}`,
    },
    {
      ...atMost(
        'sign-on by cookie: until the tokens',
        typical('form', 'exchange'),
        typical('cookie', 'exchange by cookie'),
        0.75,
        milliseconds,
      ),
      against: PASSWORD_SIGN_IN,
      note: `peer: the form with a password, until the tokens. The exchange of the code takes ${milliseconds(typical('exchange by cookie'))}`,
    },
    {
      ...atMost('refresh', typical('password'), typical('refresh'), 0.3, milliseconds),
      against: PASSWORD_SIGN_IN,
      note: `peer: a password grant. The write of the session alone takes ${milliseconds(typical('write'))}`,
      shortfall:
        'most of it is the write of the session, through kube-apiserver into etcd, that the note has',
    },
  ];
}

function sessionPath(refreshToken: string): string {
  const id = refreshToken.split('_')[1];
  return `/apis/iam.platform.io/v1beta1/sessions/${id}`;
}

async function timed(
  browser: BrowserClient,
  tokens: TokenClient,
  cluster: Client,
  user: string,
): Promise<Turn> {
  const times: Partial<Record<Step, number>> = {};
  const time = async <T>(step: Step, work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await work();
    times[step] = performance.now() - began;
    return result;
  };
  await browser.openPage();
  const code = await time('form', () => browser.submit(user, PASSWORD));
  await time('exchange', () => browser.exchange(code));
  const next = await time('cookie', () => browser.authorize());
  await time('exchange by cookie', () => browser.exchange(next));
  const { refresh_token: token } = await time('password', () => tokens.signIn(user, PASSWORD));
  await time('refresh', () => tokens.refresh(token));
  const path = sessionPath(token);
  const session = record(await cluster.get(path));
  const body = { ...session, metadata: { ...recordIn(session, 'metadata'), annotations: { bench: user } } };
  await time('write', () => cluster.expect(path, { method: 'PUT', body }, [200]));
  return times as Turn;
}
