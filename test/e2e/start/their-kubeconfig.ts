/** Returns a kubeconfig, in JSON, that the user has made and `npm start` must not change. */
export function theirKubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'theirs',
    clusters: [{ name: 'theirs', cluster: { server } }],
    contexts: [{ name: 'theirs', context: { cluster: 'theirs', user: 'me' } }],
    users: [{ name: 'me', user: { token: 'secret' } }],
  });
}
