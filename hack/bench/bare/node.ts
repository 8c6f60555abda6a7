// Baseline for get requests: a minimal Node server that returns one object over TLS. The server has no authentication
// and no routing.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

// Files of the serving certificate and key.
const [cert = '', key = ''] = process.argv.slice(2);
const lines = createInterface(process.stdin);
// Exits with the process that started it.
lines.once('close', () => process.exit(0));
// The first input line is the object in base64.
lines.once('line', (line) => void serve(Buffer.from(line, 'base64')));

async function serve(body: Buffer): Promise<void> {
  const headers = {
    'Audit-Id': '00000000-0000-4000-8000-000000000000',
    'Cache-Control': 'no-cache, private',
    'Content-Type': 'application/json',
    Vary: 'Accept, Accept-Encoding, Origin',
    'Content-Length': body.length,
  };
  const server = createServer(
    { cert: await readFile(cert), key: await readFile(key) },
    (_request, response) => {
      response.writeHead(200, headers).end(body);
    },
  );
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  });
}
