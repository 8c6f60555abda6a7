// A button that copies a text, and says whether the browser has allowed it.
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface CopyButtonProps {
  readonly label: string;
  readonly title?: string;
  readonly text: string;
}

export function CopyButton({ label, title, text }: CopyButtonProps): ComponentChildren {
  const [result, setResult] = useState<string>();
  useEffect(() => setResult(undefined), [text]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setResult('Copied'),
      () => setResult('The browser does not allow it'),
    );
  };
  return h('button', { type: 'button', title, 'aria-live': 'polite', onClick: copy }, result ?? label);
}
