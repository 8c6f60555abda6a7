// Runs the commands of a document from its text.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './shared-cluster.ts';

/** The fenced blocks below a heading, up to the next heading, without indentation. */
export async function blocksOf(document: string, heading: string): Promise<string[]> {
  const text = await readFile(join(ROOT, document), 'utf8');
  const blocks: string[] = [];
  let below = false;
  let open: { readonly indent: number; readonly lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const fence = /^( *)```/.exec(line);
    if (fence === null) {
      if (open !== undefined) open.lines.push(line.slice(open.indent));
      else if (/^#+ /.test(line)) below = line.replace(/^#+ /, '') === heading;
    } else if (open === undefined) {
      open = { indent: fence[1]?.length ?? 0, lines: [] };
    } else {
      if (below) blocks.push(`${open.lines.join('\n')}\n`);
      open = undefined;
    }
  }
  if (blocks.length === 0) throw new Error(`${document} has no block below "${heading}"`);
  return blocks;
}

/** The block that contains a text. */
export async function blockWith(document: string, heading: string, part: string): Promise<string> {
  const block = (await blocksOf(document, heading)).find((each) => each.includes(part));
  if (block === undefined) throw new Error(`${document}, "${heading}" has no block with ${part}`);
  return block;
}

/** Returns a command that the document contains in its text, so that a change of the document changes the test. */
export async function commandIn(document: string, command: string): Promise<string> {
  const text = await readFile(join(ROOT, document), 'utf8');
  if (!text.includes(`\`${command}\``) && !text.includes(`${command}\n`)) {
    throw new Error(`${document} does not contain the command ${command}`);
  }
  return command;
}

/** The commands that build the image and push it. */
export async function imageCommands(): Promise<string> {
  return linesOf(await blockWith('CONTRIBUTING.md', 'Release', 'docker build'), 'docker ');
}

/** The lines of a block that begin with a word. */
export function linesOf(block: string, start: string): string {
  return block
    .split('\n')
    .filter((line) => line.startsWith(start))
    .join('\n');
}
