// Page that posts a response to a client (OAuth 2.0 Form Post Response Mode). Its script only submits the form; without
// scripts, the user does.
import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { html, Markup } from './html.ts';
import { writePage } from './page.ts';

const SCRIPT = 'document.forms[0].submit()';
const SCRIPT_HASH = `sha256-${hash('sha256', SCRIPT, 'base64')}`;

/** `target`: a registered redirect URI. */
export function writeFormPost(
  response: ServerResponse,
  target: string,
  parameters: Readonly<Record<string, string>>,
): void {
  const fields = Object.entries(parameters).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`,
  );
  const page = {
    title: 'Continue to the program',
    scriptHash: SCRIPT_HASH,
    body: html`<h1>You are returning to the program</h1>
<form method="post" action="${target}">
${fields}<button type="submit" class="primary">Continue</button>
</form>
${new Markup(`<script>${SCRIPT}</script>`)}`,
  };
  writePage(response, page, { redirectsToClient: true });
}
