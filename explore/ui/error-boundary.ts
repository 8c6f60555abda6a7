// Keeps the rest of the page working if a view throws. With a new `key`, it shows its children again.
import { Component, type ComponentChildren, h } from 'preact';
import { Failure } from './notice.ts';

interface State {
  readonly error: Error | undefined;
}

export class ErrorBoundary extends Component<{ readonly children?: ComponentChildren }, State> {
  override state: State = { error: undefined };

  static override getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(
    { children }: { readonly children?: ComponentChildren },
    { error }: State,
  ): ComponentChildren {
    if (!error) return children;
    console.error(error);
    return [
      h('h1', {}, 'This view has failed'),
      h(Failure, { error, retry: () => this.setState({ error: undefined }) }),
    ];
  }
}
