// Baseline for sign-ins: a minimal Node server that verifies a password, stores a session and signs a token. The
// server has no request checks, watches or logs.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { hash, verify } from '@node-rs/argon2';
import { PASSWORD } from '../scene/crowd.ts';

// URL and CA file of kube-apiserver; files of the serving certificate and key; files of a client certificate and key
// with permission to create sessions.
const [serverURL = '', ca = '', servingCert = '', servingKey = '', cert = '', key = ''] =
  process.argv.slice(2);
const path = '/apis/iam.platform.io/v1beta1/sessions';
const stored = await hash(PASSWORD);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { hostname, port } = new URL(serverURL);
const agent = new Agent({
  keepAlive: true,
  scheduling: 'lifo',
  ca: await readFile(ca, 'utf8'),
  cert: await readFile(cert, 'utf8'),
  key: await readFile(key, 'utf8'),
});
agent.getName = () => 'kube-apiserver';

let last: Promise<unknown> = Promise.resolve();
/** Verifies one hash at a time, as the measured server does. */
function verified(password: string): Promise<boolean> {
  const next = last.then(() => verify(stored, password));
  last = next;
  return next;
}

function textOf(message: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  message.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  message.on('error', reject);
  return promise;
}

/** A session of realistic size; the server ignores it, because it has no valid MAC. */
function session(): object {
  const time = new Date().toISOString();
  const times = { createdTime: time, lastUsedTime: time, notAfter: time, idleNotAfter: time };
  const hashes = { refreshHash: 'a'.repeat(64), familyHash: 'b'.repeat(64) };
  const who = { user: 'user-of-the-bench', userUID: '00000000-0000-0000-0000-000000000000' };
  const client = { clientID: 'platform', scopes: [], source: '127.0.0.1', userAgent: '' };
  const letters = Array.from(randomBytes(20), (byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte & 31]);
  return {
    apiVersion: 'iam.platform.io/v1beta1',
    kind: 'Session',
    metadata: { name: `s-${letters.join('')}`, labels: { 'platform.io/bench': 'bare' } },
    spec: {
      ...who,
      ...client,
      ...times,
      ...hashes,
      generation: 0,
      mac: `${'c'.repeat(43)}:${'d'.repeat(64)}`,
    },
  };
}

function written(): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const body = JSON.stringify(session());
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const sent = request({ host: hostname, port, path, method: 'POST', agent, headers }, (answer) => {
    textOf(answer).then((text) => {
      if (answer.statusCode === 201) resolve(JSON.parse(text));
      else reject(new Error(`a session could not be written: ${answer.statusCode} ${text}`));
    }, reject);
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

async function signIn(incoming: IncomingMessage): Promise<string> {
  const form = new URLSearchParams(await textOf(incoming));
  await verified(form.get('password') ?? '');
  await written();
  const claims = 'x'.repeat(600);
  const signature = sign('sha256', Buffer.from(claims), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return JSON.stringify({ access_token: `${claims}.${signature.toString('base64url')}` });
}

const server = createServer(
  { cert: await readFile(servingCert), key: await readFile(servingKey) },
  (incoming, response) => {
    signIn(incoming).then(
      (answer) => {
        const headers = { 'content-type': 'application/json', 'content-length': answer.length };
        response.writeHead(200, headers).end(answer);
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  },
);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
// Exits with the process that started it.
process.stdin.on('end', () => process.exit(0)).resume();
