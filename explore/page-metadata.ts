// What the server has written to the page about its configuration (server/explore/explore-page.ts).

/** The option `platform.name`. */
export function platformName(): string {
  return contentOf('platform') ?? 'platform';
}

/** Whether users can sign in at the server. */
export function hasSignIn(): boolean {
  return contentOf('sign-in') !== 'none';
}

function contentOf(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content;
}
