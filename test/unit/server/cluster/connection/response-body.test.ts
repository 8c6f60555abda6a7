// Tests of the reader of complete responses of kube-apiserver.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { readBody } from '../../../../../server/cluster/connection/response-body.ts';

/** Returns a response that emits one chunk every `everyMs` ms. */
function inParts(parts: readonly string[], everyMs: number): IncomingMessage {
  const response = new IncomingMessage(new Socket());
  response._read = () => undefined;
  const left = [...parts];
  const timer = setInterval(() => {
    const part = left.shift();
    response.push(part ?? null);
    if (part === undefined) clearInterval(timer);
  }, everyMs);
  response.on('close', () => clearInterval(timer));
  return response;
}

describe('readBody', () => {
  it('does not time out while data arrives', async () => {
    // Long enough for a busy machine.
    const idleMs = 1_500;
    const body = await readBody(inParts(['{', '"a"', ':', '1', ' ', '}'], idleMs / 5), 100, idleMs);
    expect(String(body)).to.equal('{"a":1 }');
  });
});
