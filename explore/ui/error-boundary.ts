// Keeps the rest of the page working if a view throws. With another `key`, it shows its children again.
import { type ComponentChildren, h } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { Failure } from './notice.ts';

export function ErrorBoundary({ children }: { readonly children?: ComponentChildren }): ComponentChildren {
  const [error, retry] = useErrorBoundary(console.error);
  return error ? [h('h1', {}, 'This view has failed'), h(Failure, { error, retry })] : children;
}
