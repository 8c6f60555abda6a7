// The hidden frame in which a browser that is signed in at the server gets a new code without the user.

/** Time in ms in which the page of the redirect URI must send the response. */
const TIMEOUT = 15_000;

interface Message {
  readonly type: 'authorization response';
  readonly url: string;
}

/**
 * The parameters with which the server leads the frame to the redirect URI. Undefined if it does not, for example because the
 * request failed.
 */
export async function responseInFrame(
  url: string,
  redirectURI: string,
): Promise<URLSearchParams | undefined> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams | undefined>();
  const frame = document.createElement('iframe');
  frame.hidden = true;
  const received = ({ source, origin, data }: MessageEvent<unknown>): void => {
    if (source !== frame.contentWindow || origin !== new URL(redirectURI).origin || !isMessage(data)) return;
    resolve(new URL(data.url).searchParams);
  };
  const timer = setTimeout(() => resolve(undefined), TIMEOUT);
  addEventListener('message', received);
  frame.addEventListener('load', () => {
    if (!hasLeft(frame, url)) resolve(undefined);
  });
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

/** Whether the frame shows another page of this origin than the response to the request. An error page of a browser has no origin. */
function hasLeft({ contentWindow }: HTMLIFrameElement, url: string): boolean {
  try {
    return contentWindow?.location.href !== url;
  } catch {
    return false;
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
