// Readiness of an identity provider with a CA of its own.
import { get } from 'node:https';

/** Whether the address responds with 200. `ca`: PEM. */
export function responds(url: string, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { ca }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });
}
