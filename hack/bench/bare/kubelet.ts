// Simulated kubelet for the exec benchmark. It accepts every exec, and writes EXEC_BYTES of fixed content to the upgraded
// connection. The content is not SPDY, because kube-apiserver copies the bytes without parsing them.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { execBlocks } from '../measuring/exec-blocks.ts';

// Files of the serving certificate and key.
const [cert = '', key = ''] = process.argv.slice(2);
// Exits with the process that started it.
process.stdin.once('end', () => process.exit(0)).resume();

const server = createServer({ cert: await readFile(cert), key: await readFile(key) });
server.on('upgrade', (_request, socket) => {
  const blocks = execBlocks();
  const write = (): void => {
    for (const block of blocks) if (!socket.write(block)) return;
    socket.end();
  };
  socket.on('error', () => socket.destroy());
  socket.on('drain', write);
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
  write();
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
