// Renders the parts of a form with which a browser uses or creates a passkey, and its script (passkeys.js). Without scripts, and in
// browsers without passkeys, these parts are hidden.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { html, Markup } from './html.ts';

/** Options of the browser. */
export type PasskeyOptions = PublicKeyCredentialCreationOptionsJSON | PublicKeyCredentialRequestOptionsJSON;

/** Attributes of the form. */
export function passkeyAttributes(options: PasskeyOptions): Markup {
  const kind = 'user' in options ? 'create' : 'get';
  return html` data-passkey="${kind}" data-options="${JSON.stringify(options)}"`;
}

/** The field of the result, and the button, for a place between the other fields of the form. `isPrimary`: the form has no other way. */
export function passkeyButton(text: string, isPrimary: boolean): Markup {
  return html`<input type="hidden" name="passkey">
<p class="notice" data-tone="bad" role="alert" data-message hidden></p>
<button type="button"${isPrimary ? html` class="primary"` : undefined} data-start hidden>${text}</button>
`;
}

interface PasskeyScript {
  /** For the end of the page. */
  readonly markup: Markup;
  readonly hash: string;
}

let script: PasskeyScript | undefined;

/** Reads the file once. */
export function passkeyScript(): PasskeyScript {
  return (script ??= readScript());
}

function readScript(): PasskeyScript {
  const text = readFileSync(new URL('passkeys.js', import.meta.url), 'utf8');
  return {
    markup: new Markup(`<script>${text}</script>`),
    hash: `sha256-${hash('sha256', text, 'base64')}`,
  };
}
