// The plain-HTTP listener for callers inside the cluster. It serves a few paths only; whether a request came this way
// is told to the chain by its receiver, which must pass `secure: false` there.
import { createServer } from 'node:http';
import { newPathNotFound } from '../../apis/meta/v1/errors.ts';
import { Listener, type ListenerOptions, serverOptions } from './listener.ts';
import { isServedInPlain } from './plain-paths.ts';
import { refuse, refuseRaw } from './refusal.ts';

export function newInsecureListener(options: ListenerOptions): Listener {
  const { request, upgrade } = options.receiver;
  return new Listener('insecure', createServer(serverOptions(options.limits)), {
    ...options,
    receiver: {
      request: (message, response) => {
        if (isServedInPlain(message.url ?? '')) request(message, response);
        else refuse(response, newPathNotFound());
      },
      upgrade: (message, socket, head) => {
        if (isServedInPlain(message.url ?? '')) upgrade(message, socket, head);
        else refuseRaw(socket, newPathNotFound());
      },
    },
  });
}
