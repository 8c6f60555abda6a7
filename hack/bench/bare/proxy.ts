// Baseline for the gateway: a minimal Node proxy between TLS clients and kube-apiserver. It has no authentication, no
// routing, no limits, no log, and changes no header.
import { readFile } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';

// Host and port of kube-apiserver, and the files of its CA and of the serving certificate and key.
const [host = '', port = '', ca = '', cert = '', key = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, ca: await readFile(ca) });

const server = createServer(
  { cert: await readFile(cert), key: await readFile(key) },
  (incoming, response) => {
    const { method = 'GET', url = '/', rawHeaders } = incoming;
    const outgoing = request({ host, port, method, path: url, headers: rawHeaders, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders).flushHeaders();
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    // After a complete response, another request may use the socket.
    response.on('close', () => response.writableFinished || outgoing.destroy());
    incoming.pipe(outgoing);
  },
);
server.on('upgrade', ({ method, url, rawHeaders }, client, head) => {
  const outgoing = request({
    host,
    port,
    method,
    path: url,
    headers: rawHeaders,
    agent: false,
    ca: agent.options.ca,
  });
  outgoing.on('upgrade', ({ rawHeaders: names }, upstream, first) => {
    const fields = names.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${names[i + 1]}`] : []));
    client.write(['HTTP/1.1 101 Switching Protocols', ...fields, '', ''].join('\r\n'));
    upstream.unshift(first);
    client.unshift(head);
    upstream.pipe(client).pipe(upstream);
  });
  outgoing.on('error', () => client.destroy());
  outgoing.end();
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
// Exits with the process that started it.
process.stdin.on('close', () => process.exit(0)).resume();
