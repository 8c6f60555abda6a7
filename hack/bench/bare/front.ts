// Baseline for log queries: a minimal Node proxy between a TLS client and a log store. The proxy parses each response
// and encodes it again.
import { readFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

// URL of the log store, and the files of the serving certificate and key.
const [store = '', cert = '', key = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

function wholeOf(message: IncomingMessage, then: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  message.on('end', () => then(Buffer.concat(chunks)));
}

/** Parses and encodes one JSON document, or one per line. */
function reencoded(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : JSON.stringify(JSON.parse(line))))
    .join('\n');
}

function handOn(incoming: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const { method = 'GET', headers, url = '/' } = incoming;
  const sent = request(
    `${store}${url}`,
    {
      agent,
      method,
      headers: {
        'content-type': headers['content-type'] ?? 'application/json',
        'content-length': body.length,
        'accept-encoding': 'identity',
      },
    },
    (answer) => {
      wholeOf(answer, (bytes) => {
        const { statusCode = 502 } = answer;
        const text = bytes.toString('utf8');
        const own = statusCode === 200 ? reencoded(text) : text;
        response.writeHead(statusCode, { 'content-length': Buffer.byteLength(own) }).end(own);
      });
    },
  );
  sent.on('error', (error) => response.writeHead(502).end(String(error)));
  sent.end(body);
}

const server = createServer(
  { cert: await readFile(cert), key: await readFile(key) },
  (incoming, response) => {
    wholeOf(incoming, (body) => handOn(incoming, response, body));
  },
);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
// Exits with the process that started it.
process.stdin.on('end', () => process.exit(0)).resume();
