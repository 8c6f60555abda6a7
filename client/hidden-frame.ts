// The hidden frame in which a browser that is signed in at the server gets a new code without the user.
import { SignInError } from './authorization.ts';

/** A server that does not lead to the redirect URI in this time, in ms, needs the user. */
const TIMEOUT = 15_000;

interface Message {
  readonly type: 'authorization response';
  readonly url: string;
}

/** The parameters with which the server leads the frame to the redirect URI. */
export async function responseInFrame(url: string, redirectURI: string): Promise<URLSearchParams> {
  const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  const frame = document.createElement('iframe');
  frame.hidden = true;
  const received = ({ source, origin, data }: MessageEvent<unknown>): void => {
    if (source !== frame.contentWindow || origin !== new URL(redirectURI).origin || !isMessage(data)) return;
    resolve(new URL(data.url).searchParams);
  };
  const expired = (): void => reject(new SignInError('interaction_required', 'the server needs the user'));
  const timer = setTimeout(expired, TIMEOUT);
  addEventListener('message', received);
  frame.src = url;
  document.body.append(frame);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    removeEventListener('message', received);
    frame.remove();
  }
}

/** In the frame. Only a page of the same origin gets the response. */
export function sendToParent(url: string): Promise<never> {
  const message: Message = { type: 'authorization response', url };
  parent.postMessage(message, location.origin);
  return new Promise(() => {});
}

function isMessage(data: unknown): data is Message {
  return (
    typeof data === 'object' &&
    data !== null &&
    Reflect.get(data, 'type') === ('authorization response' satisfies Message['type']) &&
    typeof Reflect.get(data, 'url') === 'string'
  );
}
